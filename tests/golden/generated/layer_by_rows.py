import numpy as np


def layer_jacobian(x, W, b):
    """The Jacobian of `layer` by `x`."""
    # models.py:136  return np.tanh(x @ W + b)
    v1 = np.tanh(x @ W + b)
    units = np.eye(20, dtype=np.float64)
    v2 = np.empty((20, 30), np.float64)
    for i in range(20):
        unit = units[i]
        # models.py:136  return np.tanh(x @ W + b)
        result = unit * (1 - v1 * v1) @ W.T
        v2[i] = result
    return v2
