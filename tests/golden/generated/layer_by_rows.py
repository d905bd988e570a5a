import numpy as np


def layer_jacobian(x, W, b):
    """The Jacobian of `layer` by `x`."""
    # --- forward --------------------------------------------------------------
    # models.py:136  return np.tanh(x @ W + b)
    v1 = np.tanh(x @ W + b)
    units = np.eye(20, dtype=np.float64)
    # --- adjoint --------------------------------------------------------------
    # models.py:136  return np.tanh(x @ W + b)
    d_x = units * (1 - v1 * v1) @ W.T
    return d_x
