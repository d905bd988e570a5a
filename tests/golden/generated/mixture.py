import numpy as np


def mixture_value_and_grad(params, x):
    """The value of `mixture` and its gradient with respect to `params`."""
    logits = params["logits"]
    mean = params["mean"]
    log_std = params["log_std"]
    # --- forward --------------------------------------------------------------
    # scipy_models.py:23  log_weights = special.log_softmax(params["logits"])
    largest = np.floor(np.max(logits, keepdims=True))
    shifted = logits - np.where(np.isfinite(largest), largest, 0.0)
    v1 = np.exp(shifted)
    v2 = np.sum(v1, keepdims=True)
    log_weights = shifted - np.log(v2)
    # scipy_models.py:24  densities = stats.norm.logpdf(x[:, None], params["mean"], np.exp(params["…
    values = x[:, None]
    v3 = np.exp(log_std)
    v4 = v3 > 0
    scale = np.where(v4, v3, np.nan)
    centred = values - mean
    z = centred / scale
    v5 = -0.5 * z
    value = v5 * z - 0.9189385332046727 - np.log(scale)
    # scipy_models.py:25  return -np.sum(special.logsumexp(log_weights + densities, axis=1))
    values_1 = log_weights + value
    largest_1 = np.floor(np.max(values_1, axis=1, keepdims=True))
    shift = np.where(np.isfinite(largest_1), largest_1, 0.0)
    terms = np.exp(values_1 - shift)
    total = np.sum(terms, axis=1, keepdims=True)
    v6 = total == 0
    v7 = np.where(v6, 1.0, total)
    result = np.where(v6, -np.inf, np.log(v7) + shift)
    value_1 = -np.sum(result.squeeze(1))
    # --- adjoint --------------------------------------------------------------
    # scipy_models.py:25  return -np.sum(special.logsumexp(log_weights + densities, axis=1))
    d_values_1 = np.where(v6, 0.0, -(terms / v7))
    d_log_weights = np.sum(d_values_1, axis=0)
    # scipy_models.py:24  densities = stats.norm.logpdf(x[:, None], params["mean"], np.exp(params["…
    v8 = -np.sum(d_values_1, axis=0)
    d_scale = np.where(v8 == 0, 0.0, v8 / scale)
    d_z = np.where(d_values_1 == 0, 0.0, d_values_1 * v5)
    d_z += np.where(d_values_1 == 0, 0.0, d_values_1 * z) * -0.5
    d_centred = np.where(d_z == 0, 0.0, d_z / scale)
    d_scale += np.sum(np.where(d_z == 0, 0.0, d_z * -(z / scale)), axis=0)
    d_mean = -np.sum(d_centred, axis=0)
    d_log_std = np.where(v4, d_scale * v3, 0.0)
    # scipy_models.py:23  log_weights = special.log_softmax(params["logits"])
    v9 = -np.sum(d_log_weights, keepdims=True)
    d_log_weights += np.where(v9 == 0, 0.0, v9 / v2) * v1
    return value_1, {"logits": d_log_weights, "mean": d_mean, "log_std": d_log_std}
