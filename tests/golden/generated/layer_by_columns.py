import numpy as np


def layer_jacobian(x, W, b):
    """The Jacobian of `layer` by `x`."""
    # models.py:136  return np.tanh(x @ W + b)
    v1 = np.tanh(x @ W + b)
    v2 = 1 - v1 * v1
    units = np.eye(30, dtype=np.float64)
    v3 = np.empty((30, 20), np.float64)
    for i in range(30):
        unit = units[i]
        # models.py:136  return np.tanh(x @ W + b)
        result = unit @ W * v2
        v3[i] = result
    v4 = v3.T
    return v4
