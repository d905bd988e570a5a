import numpy as np
from scipy.linalg.blas import dgemm, dgemv


def workspace():
    """`layer_jacobian` with its buffers: 3,360 bytes, made once."""
    v1 = np.empty(20, np.float64)
    v2 = np.empty((20, 20), np.float64)
    units = np.eye(20, dtype=np.float64)
    v2_T = v2.T

    def layer_jacobian(x, W, b):
        """The Jacobian of `layer` by `x`."""
        # --- forward ----------------------------------------------------------
        # models.py:136  return np.tanh(x @ W + b)
        np.copyto(v1, b)
        dgemv(1.0, W.T, x, 1.0, v1, 0, 1, 0, 1, 0, 1)  # v1 += x @ W
        np.tanh(v1, out=v1)
        # --- adjoint ----------------------------------------------------------
        # models.py:136  return np.tanh(x @ W + b)
        np.multiply(v1, v1, out=v1)
        np.subtract(1, v1, out=v1)
        np.multiply(units, v1, out=v2)
        d_x = np.empty((20, 30), np.float64)
        dgemm(1.0, W.T, v2_T, 0.0, d_x.T, 1, 0, 1)  # d_x = v2 @ W.T
        return d_x

    return layer_jacobian
