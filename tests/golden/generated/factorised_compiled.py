import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})
def added(total, x):
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@njit(error_model='numpy', nogil=True)
def kernel_1(a):
    """The forward and adjoint loops of loops.py:40 to loops.py:45."""
    # --- forward --------------------------------------------------------------
    # loops.py:40  factor = np.zeros((n, n))
    factor = np.zeros((6, 6), np.float64)
    # loops.py:41  for i in range(n):
    v1 = np.empty(6, np.float64)
    v2 = np.empty(6, np.float64)
    v3 = np.empty((6, 5), np.float64)
    v4 = np.empty((6, 5), np.float64)
    for i in range(6):
        # loops.py:42  for j in range(i):
        for j in range(i):
            # loops.py:43  factor[i, j] = (a[i, j] - np.dot(factor[i, :j], factor[j, :j])) / factor…
            v5 = np.float64(0.0)
            for i_1 in range(j):
                v5 = added(v5, factor[i, i_1] * factor[j, i_1])
            v6 = (a[i, j] - v5) / factor[j, j]
            v7 = factor[i, j]
            factor[i, j] = v6
            # loops.py:42  for j in range(i):
            v3[i, j] = v7
            v4[i, j] = v6
        # loops.py:44  factor[i, i] = np.sqrt(a[i, i] - np.dot(factor[i, :i], factor[i, :i]))
        v8 = np.float64(0.0)
        for i_1 in range(i):
            v9 = factor[i, i_1]
            v8 = added(v8, v9 * v9)
        v10 = np.sqrt(a[i, i] - v8)
        v11 = factor[i, i]
        factor[i, i] = v10
        # loops.py:41  for i in range(n):
        v1[i] = v11
        v2[i] = v10
    # loops.py:45  return 2.0 * np.sum(np.log(np.diag(factor)))
    v12 = (
        np.log(factor[0, 0])
        + np.log(factor[1, 1])
        + np.log(factor[2, 2])
        + np.log(factor[3, 3])
        + np.log(factor[4, 4])
    )
    value = 2.0 * (v12 + np.log(factor[5, 5]))
    v13 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:45  return 2.0 * np.sum(np.log(np.diag(factor)))
    v14 = np.empty(6, np.float64)
    for i in range(6):
        v15 = factor[i, i]
        v14[i] = 2.0 / v15
    d_factor = np.empty((6, 6), np.float64)
    for i in range(6):
        for i_1 in range(6):
            d_factor[i, i_1] = v14[i] if i == i_1 else np.float64(0.0)
    # loops.py:41  for i in range(n):
    d_a = np.zeros((6, 6), np.float64)
    for i in range(5, -1, -1):
        # loops.py:44  factor[i, i] = np.sqrt(a[i, i] - np.dot(factor[i, :i], factor[i, :i]))
        factor[i, i] = v1[i]
        v16 = d_factor[i, i]
        d_factor[i, i] = 0.0
        v17 = v16 * (0.5 / v2[i])
        for i_1 in range(i):
            v18 = -(v17 * factor[i, i_1])
            d_factor[i, i_1] += v18 + v18
        d_a[i, i] += v17
        # loops.py:42  for j in range(i):
        for j in range(i - 1, -1, -1):
            # loops.py:43  factor[i, j] = (a[i, j] - np.dot(factor[i, :j], factor[j, :j])) / factor…
            factor[i, j] = v3[i, j]
            v19 = d_factor[i, j]
            d_factor[i, j] = 0.0
            v20 = v19 / factor[j, j]
            d_factor[j, j] -= v19 * (v4[i, j] / factor[j, j])
            for i_1 in range(j):
                d_factor[j, i_1] -= v20 * factor[i, i_1]
            for i_1 in range(j):
                d_factor[i, i_1] -= v20 * factor[j, i_1]
            d_a[i, j] += v20
    return v13, d_a


def factorised_value_and_grad(a):
    """The value of `factorised` and its gradient with respect to `a`."""
    # loops.py:41  for i in range(n):
    v1, d_a = kernel_1(a)
    # loops.py:45  return 2.0 * np.sum(np.log(np.diag(factor)))
    value = np.float64(v1)
    return value, d_a
