import numpy as np
from scipy.linalg.blas import dgemm, dgemv


def workspace():
    """`layer_jacobian` with its buffers: 3,360 bytes, made once."""
    v2 = np.empty(20, np.float64)
    v3 = np.empty((20, 20), np.float64)
    units = np.eye(20, dtype=np.float64)
    v3_T = v3.T

    def layer_jacobian(x, W, b):
        """The Jacobian of `layer` by `x`."""
        # --- forward ----------------------------------------------------------
        # models.py:136  return np.tanh(x @ W + b)
        np.copyto(v2, b)
        dgemv(1.0, W.T, x, 1.0, v2, 0, 1, 0, 1, 0, 1)  # v2 += x @ W
        np.tanh(v2, out=v2)
        # --- adjoint ----------------------------------------------------------
        # models.py:136  return np.tanh(x @ W + b)
        np.multiply(v2, v2, out=v2)
        np.subtract(1, v2, out=v2)
        np.multiply(units, v2, out=v3)
        v4 = np.empty((20, 30), np.float64)
        dgemm(1.0, W.T, v3_T, 0.0, v4.T, 1, 0, 1)  # v4 = v3 @ W.T
        return v4

    return layer_jacobian
