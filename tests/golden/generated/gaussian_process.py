import numpy as np
from scipy import linalg


def gaussian_process_value_and_grad(log_scale, x, y):
    """The value of `gaussian_process` and its gradient with respect to `log_scale`."""
    # --- forward --------------------------------------------------------------
    # scipy_models.py:14  distance = (x[:, None] - x) / np.exp(log_scale)
    v1 = np.exp(log_scale)
    distance = (x[:, None] - x) / v1
    # scipy_models.py:15  K = np.exp(-0.5 * distance**2) + 0.1 * np.eye(x.shape[0])
    v2 = np.exp(-0.5 * distance ** 2)
    v3 = np.eye(6, dtype=np.float64)
    K = v2 + 0.1 * v3
    # scipy_models.py:16  factor = linalg.cho_factor(K, lower=True)
    c = np.linalg.cholesky(K)
    # scipy_models.py:17  fit = y @ linalg.cho_solve(factor, y)
    half = linalg.solve_triangular(c, y, lower=True)
    v4 = linalg.solve_triangular(c, half, trans=1, lower=True)
    fit = y @ v4
    # scipy_models.py:18  return 0.5 * fit + np.sum(np.log(np.diag(factor[0])))
    value = 0.5 * fit + np.sum(np.log(np.diagonal(c)))
    # --- adjoint --------------------------------------------------------------
    # scipy_models.py:18  return 0.5 * fit + np.sum(np.log(np.diag(factor[0])))
    d_c = np.where(np.eye(6, dtype=np.bool_), (1 / np.diagonal(c))[:, None], 0.0)
    # scipy_models.py:17  fit = y @ linalg.cho_solve(factor, y)
    d_half = linalg.solve_triangular(c, 0.5 * y, lower=True)
    v5 = np.arange(6)
    v6 = v5[:, None] >= v5
    d_c += np.where(v6, -np.outer(v4, d_half), 0)
    d_c += np.where(v6, -np.outer(linalg.solve_triangular(c, d_half, trans=1, lower=True), half), 0)
    # scipy_models.py:16  factor = linalg.cho_factor(K, lower=True)
    v7 = np.where(v6, c.T @ d_c, 0)
    v8 = np.linalg.solve(c.T, np.linalg.solve(c.T, v7 - v7 * (0.5 * v3)).T)
    d_K = np.where(v6, v8.T + v8 - v8.T * v3, 0)
    # scipy_models.py:15  K = np.exp(-0.5 * distance**2) + 0.1 * np.eye(x.shape[0])
    v9 = d_K * v2 * distance
    # scipy_models.py:14  distance = (x[:, None] - x) / np.exp(log_scale)
    d_log_scale = np.sum(v9 * (distance / v1)) * v1
    return value, d_log_scale
