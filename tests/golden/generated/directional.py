import numpy as np


def directional_value_and_grad(w, x):
    """The value of `directional` and its gradient with respect to `w`."""
    # models.py:67  return np.mean((x @ w) ** 2)
    v1 = x @ w
    # models.py:67  return np.mean((x @ w) ** 2)
    g = x.T @ (2 / 7 * v1)
    # models.py:73  return np.sum(g * g)
    value = np.sum(g * g)
    # models.py:73  return np.sum(g * g)
    d_g = 4 / 7 * g
    # models.py:67  return np.mean((x @ w) ** 2)
    d_w = x.T @ (x @ d_g)
    return value, d_w
