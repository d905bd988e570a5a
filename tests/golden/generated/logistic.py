import numpy as np


def logistic_value_and_grad(w, x, y):
    """The value of `logistic` and its gradient with respect to `w`."""
    # --- forward --------------------------------------------------------------
    # models.py:50  p = 1 / (1 + np.exp(-(x @ w)))
    p = 1 / (1 + np.exp(-(x @ w)))
    # models.py:51  return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    v1 = 1 - y
    v2 = 1 - p
    value = -np.mean(y * np.log(p) + v1 * np.log(v2))
    # --- adjoint --------------------------------------------------------------
    # models.py:51  return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    d_p = 1 / 569 * v1 / v2
    d_p += -1 / 569 * y / p
    # models.py:50  p = 1 / (1 + np.exp(-(x @ w)))
    d_w = x.T @ (d_p * (p * v2))
    return value, d_w
