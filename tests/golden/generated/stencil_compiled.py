import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})
def added(total, x):
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@njit(error_model='numpy', nogil=True)
def kernel_1(u):
    """The forward and adjoint loops of loops.py:50 to loops.py:54."""
    # --- forward --------------------------------------------------------------
    # loops.py:50  for _ in range(30):
    for _ in range(30):
        # loops.py:52  new[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1…
        new = np.empty((8, 8), np.float64)
        for i in range(8):
            for i_1 in range(8):
                new[i, i_1] = u[i, i_1]
        for i in range(6):
            for i_1 in range(6):
                v1 = 0.1 * (u[i, i_1 + 1] + u[i + 2, i_1 + 1] + u[i + 1, i_1] + u[i + 1, i_1 + 2])
                new[i + 1, i_1 + 1] += v1
        u = new
    # loops.py:54  return np.sum(u**2)
    value = np.float64(0.0)
    for i in range(8):
        v2 = np.float64(0.0)
        for i_1 in range(8):
            v2 = added(v2, np.square(u[i, i_1]))
        value += v2
    v3 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:54  return np.sum(u**2)
    d_u = np.empty((8, 8), np.float64)
    for i in range(8):
        for i_1 in range(8):
            d_u[i, i_1] = 2 * u[i, i_1]
    # loops.py:50  for _ in range(30):
    d_new = d_u
    for _ in range(30):
        # loops.py:52  new[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1…
        v4 = np.zeros((10, 10), np.float64)
        for i in range(6):
            for i_1 in range(6):
                v4[i + 2, i_1 + 2] = d_new[i + 1, i_1 + 1]
        # loops.py:51  new = u.copy()
        d_u_1 = np.empty((8, 8), np.float64)
        for i in range(8):
            for i_1 in range(8):
                # loops.py:52  new[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] …
                v5 = v4[i + 1, i_1] * 0.1
                v6 = v4[i + 1, i_1 + 2] * 0.1
                v7 = v4[i, i_1 + 1] * 0.1
                v8 = v4[i + 2, i_1 + 1] * 0.1
                # loops.py:51  new = u.copy()
                d_u_1[i, i_1] = v5 + v6 + v7 + v8 + d_new[i, i_1]
        d_new = d_u_1
    return v3, d_new


def stencil_value_and_grad(u):
    """The value of `stencil` and its gradient with respect to `u`."""
    # loops.py:50  for _ in range(30):
    v1, d_u = kernel_1(u)
    # loops.py:54  return np.sum(u**2)
    value = np.float64(v1)
    return value, d_u
