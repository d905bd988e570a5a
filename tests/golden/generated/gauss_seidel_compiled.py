import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True)
def kernel_1(u, f, v1_1):
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
    for i in range(30):
        for i_1 in range(30):
            v1_1[i, i_1] = u_1[i, i_1] * u_1[i, i_1]
    # --- adjoint --------------------------------------------------------------
    # loops.py:34  return np.sum(u * u)
    d_u_1 = np.empty((30, 30), np.float64)
    for i in range(30):
        for i_1 in range(30):
            d_u_1[i, i_1] = 2 * u_1[i, i_1]
    # loops.py:30  for _ in range(20):
    d_f = np.zeros((30, 30), np.float64)
    for _ in range(19, -1, -1):
        # loops.py:31  for i in range(1, u.shape[0] - 1):
        for i in range(27, -1, -1):
            # loops.py:32  for j in range(1, u.shape[1] - 1):
            for j in range(27, -1, -1):
                # loops.py:33  u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j +…
                v2 = d_u_1[i + 1, j + 1]
                d_u_1[i + 1, j + 1] = 0.0
                v3 = v2 * 0.25
                d_f[i + 1, j + 1] -= v3
                d_u_1[i + 1, j + 2] += v3
                d_u_1[i + 1, j] += v3
                d_u_1[i + 2, j + 1] += v3
                d_u_1[i, j + 1] += v3
    return d_u_1, d_f


def workspace():
    """`gauss_seidel_value_and_grad` with its buffers: 7,200 bytes, made once."""
    v1 = np.empty((30, 30), np.float64)

    def gauss_seidel_value_and_grad(u, f):
        """The value of `gauss_seidel` and its gradient with respect to `u` and `f`."""
        # loops.py:30  for _ in range(20):
        d_u, d_f = kernel_1(u, f, v1)
        # loops.py:34  return np.sum(u * u)
        value = np.add.reduce(v1, axis=None)
        return value, (d_u, d_f)

    return gauss_seidel_value_and_grad
