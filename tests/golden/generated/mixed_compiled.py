import numpy as np
from numba import njit
from scipy.linalg.blas import dgemm, dgemv


@njit(error_model='numpy', nogil=True)
def sign_of(x):
    """``np.sign(x)``, which is 0.0 for -0.0; Numba's is -0.0."""
    return np.sign(x) if x != 0 else abs(x)


@njit(error_model='numpy', nogil=True)
def kernel_1(h, v1, v2, v3):
    """The forward and adjoint loops of loops.py:59 to loops.py:63; they write to `v3`."""
    # --- forward --------------------------------------------------------------
    # loops.py:61  for t in range(1, 60):
    total = np.float64(0.0)
    for t in range(59):
        # loops.py:62  total = 0.5 * total + h[t, t] * h[t - 1, t] + abs(h[t, 0])
        total = 0.5 * total + h[t + 1, t + 1] * h[t, t + 1] + np.abs(h[t + 1, 0])
    # loops.py:63  return total + np.sum(h @ w)
    value = total + v1
    v4 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:63  return total + np.sum(h @ w)
    d_h = np.empty((60, 60), np.float64)
    for i in range(60):
        for i_1 in range(60):
            d_h[i, i_1] = v2[i_1]
    # loops.py:61  for t in range(1, 60):
    d_total = np.float64(1.0)
    for t in range(58, -1, -1):
        # loops.py:62  total = 0.5 * total + h[t, t] * h[t - 1, t] + abs(h[t, 0])
        d_h[t + 1, 0] += d_total * sign_of(h[t + 1, 0])
        v5 = d_total * h[t, t + 1]
        d_h[t, t + 1] += d_total * h[t + 1, t + 1]
        d_h[t + 1, t + 1] += v5
        d_total *= 0.5
    # loops.py:59  h = np.tanh(x @ w)
    for i in range(60):
        for i_1 in range(60):
            v3[i, i_1] = d_h[i, i_1] * (1 - h[i, i_1] * h[i, i_1])
    return v4


def workspace():
    """`mixed_value_and_grad` with its buffers: 86,400 bytes, made once."""
    h = np.empty((60, 60), np.float64)
    memory = np.empty(3600, np.float64)
    v1 = memory.reshape(60, 60)
    v3 = memory[0:60]
    v4 = np.empty((60, 60), np.float64)
    ones = np.ones(60, np.float64)
    h_T, v1_T, v3_part, v4_T = h.T, v1.T, v3[:, None], v4.T

    def mixed_value_and_grad(w, x):
        """The value of `mixed` and its gradient with respect to `w` and `x`."""
        # loops.py:59  h = np.tanh(x @ w)
        dgemm(1.0, w.T, x.T, 0.0, h_T, 0, 0, 1)  # h = x @ w
        np.tanh(h, out=h)
        # loops.py:63  return total + np.sum(h @ w)
        dgemm(1.0, w.T, h_T, 0.0, v1_T, 0, 0, 1)  # v1 = h @ w
        v2 = np.add.reduce(v1, axis=None)
        # loops.py:63  return total + np.sum(h @ w)
        np.add.reduce(w, axis=1, out=v3)
        # loops.py:61  for t in range(1, 60):
        v5 = kernel_1(h, v2, v3, v4)
        # loops.py:63  return total + np.sum(h @ w)
        value = np.float64(v5)
        # loops.py:63  return total + np.sum(h @ w)
        dgemv(1.0, h_T, ones, 0.0, v3, 0, 1, 0, 1, 0, 1)  # v3 = ones @ h
        v6 = np.broadcast_to(v3_part, (60, 60))
        # loops.py:59  h = np.tanh(x @ w)
        d_x = np.empty((60, 60), np.float64)
        dgemm(1.0, w.T, v4_T, 0.0, d_x.T, 1, 0, 1)  # d_x = v4 @ w.T
        d_w = np.empty((60, 60), np.float64)
        np.copyto(d_w, v6)
        dgemm(1.0, v4_T, x.T, 1.0, d_w.T, 0, 1, 1)  # d_w += x.T @ v4
        return value, (d_w, d_x)

    return mixed_value_and_grad
