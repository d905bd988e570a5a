import numpy as np
from scipy import special


def probit_value_and_grad(w, x, sign):
    """The value of `probit` and its gradient with respect to `w`."""
    # --- forward --------------------------------------------------------------
    # scipy_models.py:30  return -np.sum(special.log_ndtr(sign * (x @ w)))
    v1 = sign * (x @ w)
    value = -np.sum(special.log_ndtr(v1))
    # --- adjoint --------------------------------------------------------------
    # scipy_models.py:30  return -np.sum(special.log_ndtr(sign * (x @ w)))
    v2 = v1 < -1
    v3 = np.where(v2, -1.0, v1)
    v4 = -0.7978845608028654 / special.erfcx(np.where(v2, v1, -1.0) / -1.4142135623730951)
    v5 = np.where(v2, v4, np.exp(-0.5 * v3 * v3) / (-2.5066282746310002 * special.ndtr(v3)))
    d_w = x.T @ (v5 * sign)
    return value, d_w
