import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})
def added(total, x):
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@njit(error_model='numpy', nogil=True)
def kernel_1(u, f):
    """The forward and adjoint loops of loops.py:29 to loops.py:34."""
    # --- forward --------------------------------------------------------------
    # loops.py:29  u = u.copy()
    u_1 = np.copy(u)
    # loops.py:30  for _ in range(20):
    for _ in range(20):
        # loops.py:31  for i in range(1, u.shape[0] - 1):
        for i in range(28):
            # loops.py:32  for j in range(1, u.shape[1] - 1):
            for j in range(28):
                # loops.py:33  u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j +…
                v1 = (
                    u_1[i, j + 1]
                    + u_1[i + 2, j + 1]
                    + u_1[i + 1, j]
                    + u_1[i + 1, j + 2]
                    - f[i + 1, j + 1]
                )
                u_1[i + 1, j + 1] = 0.25 * v1
    # loops.py:34  return np.sum(u * u)
    value = np.float64(0.0)
    for i in range(30):
        v2 = np.float64(0.0)
        for i_1 in range(30):
            v2 = added(v2, u_1[i, i_1] * u_1[i, i_1])
        value += v2
    v3 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:34  return np.sum(u * u)
    d_u_1 = np.empty((30, 30), np.float64)
    for i in range(30):
        for i_1 in range(30):
            d_u_1[i, i_1] = 2 * u_1[i, i_1]
    # loops.py:30  for _ in range(20):
    d_f = np.zeros((30, 30), np.float64)
    for _ in range(20):
        # loops.py:31  for i in range(1, u.shape[0] - 1):
        for i in range(27, -1, -1):
            # loops.py:32  for j in range(1, u.shape[1] - 1):
            for j in range(27, -1, -1):
                # loops.py:33  u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j +…
                v4 = d_u_1[i + 1, j + 1]
                d_u_1[i + 1, j + 1] = 0.0
                v5 = v4 * 0.25
                d_f[i + 1, j + 1] -= v5
                d_u_1[i + 1, j + 2] += v5
                d_u_1[i + 1, j] += v5
                d_u_1[i + 2, j + 1] += v5
                d_u_1[i, j + 1] += v5
    return v3, d_u_1, d_f


def gauss_seidel_value_and_grad(u, f):
    """The value of `gauss_seidel` and its gradient with respect to `u` and `f`."""
    # loops.py:30  for _ in range(20):
    v1, d_u, d_f = kernel_1(u, f)
    # loops.py:34  return np.sum(u * u)
    value = np.float64(v1)
    return value, (d_u, d_f)
