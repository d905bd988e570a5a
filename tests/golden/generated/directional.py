import numpy as np


def directional_value_and_grad(w, x):
    """The value of `directional` and its gradient with respect to `w`."""
    # --- forward --------------------------------------------------------------
    # models.py:49  return np.mean((x @ w) ** 2)
    v1 = x @ w
    # --- adjoint --------------------------------------------------------------
    # models.py:49  return np.mean((x @ w) ** 2)
    d_w = x.T @ (0.14285714285714285 * (2 * v1))
    # --- forward --------------------------------------------------------------
    # models.py:55  return np.sum(g * g)
    value_1 = np.sum(d_w * d_w)
    # --- adjoint --------------------------------------------------------------
    # models.py:55  return np.sum(g * g)
    d_w += d_w
    # models.py:49  return np.mean((x @ w) ** 2)
    d_w_1 = x.T @ (x @ d_w * 0.14285714285714285 * 2)
    return value_1, d_w_1
