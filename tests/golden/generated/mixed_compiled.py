import numpy as np
from numba import njit
from scipy.linalg.blas import dgemm


@njit(error_model='numpy', nogil=True)
def kernel_1(h, v1, d_h, v2):
    # --- forward --------------------------------------------------------------
    # loops.py:61  for t in range(1, 60):
    total = np.float64(0.0)
    for t in range(59):
        # loops.py:62  total = 0.5 * total + h[t, t] * h[t - 1, t] + abs(h[t, 0])
        total = 0.5 * total + h[t + 1, t + 1] * h[t, t + 1] + np.abs(h[t + 1, 0])
    # loops.py:63  return total + np.sum(h @ w)
    value = total + v1
    v3 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:61  for t in range(1, 60):
    d_total = np.float64(1.0)
    d_h = np.copy(d_h)
    for t in range(58, -1, -1):
        # loops.py:62  total = 0.5 * total + h[t, t] * h[t - 1, t] + abs(h[t, 0])
        d_h[t + 1, 0] += d_total * (np.sign(h[t + 1, 0]) + 0.0)
        v4 = d_total * h[t, t + 1]
        d_h[t, t + 1] += d_total * h[t + 1, t + 1]
        d_h[t + 1, t + 1] += v4
        d_total *= 0.5
    # loops.py:59  h = np.tanh(x @ w)
    for i in range(60):
        for i_1 in range(60):
            v2[i, i_1] = d_h[i, i_1] * (1 - h[i, i_1] * h[i, i_1])
    return v3


def workspace():
    """`mixed_value_and_grad` with its buffers: 144,000 bytes, made once."""
    v1 = np.empty((60, 60), np.float64)
    v4 = np.empty((120, 60), np.float64)
    v7 = np.empty((120, 60), np.float64)
    h, v5 = v4[60:120], v7[0:60]
    v3 = np.broadcast_to(1.0, (60, 60))
    v1_T, h_T, v4_part, v5_T, v7_part, v7_T = v1.T, h.T, v4[0:60], v5.T, v7[60:120], v7.T
    v4_T = v4.T

    def mixed_value_and_grad(w, x):
        """The value of `mixed` and its gradient with respect to `w` and `x`."""
        # --- forward ----------------------------------------------------------
        # loops.py:59  h = np.tanh(x @ w)
        dgemm(1.0, w.T, x.T, 0.0, v1_T, 0, 0, 1)  # v1 = x @ w
        np.tanh(v1, out=h)
        # loops.py:63  return total + np.sum(h @ w)
        dgemm(1.0, w.T, h_T, 0.0, v1_T, 0, 0, 1)  # v1 = h @ w
        v2 = np.add.reduce(v1, axis=None)
        # --- adjoint ----------------------------------------------------------
        # loops.py:63  return total + np.sum(h @ w)
        np.matmul(v3, w.T, out=v1)
        # loops.py:59  h = np.tanh(x @ w)
        np.copyto(v4_part, x)
        # --- forward ----------------------------------------------------------
        # loops.py:61  for t in range(1, 60):
        v6 = kernel_1(h, v2, v1, v5)
        # loops.py:63  return total + np.sum(h @ w)
        value = np.float64(v6)
        # --- adjoint ----------------------------------------------------------
        # loops.py:59  h = np.tanh(x @ w)
        d_x = np.empty((60, 60), np.float64)
        dgemm(1.0, w.T, v5_T, 0.0, d_x.T, 1, 0, 1)  # d_x = v5 @ w.T
        np.copyto(v7_part, v3)
        v8 = np.empty((60, 60), np.float64)
        dgemm(1.0, v7_T, v4_T, 0.0, v8.T, 0, 1, 1)  # v8 = v4.T @ v7
        return value, (v8, d_x)

    return mixed_value_and_grad
