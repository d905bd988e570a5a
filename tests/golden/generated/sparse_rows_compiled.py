import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})
def added(total, x):
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@njit(error_model='numpy', nogil=True)
def int_sum(x, y):
    """``x + y`` of Python's integers, which have 64 bits in compiled code."""
    total = x + y
    if (x < 0) == (y < 0) and (total < 0) != (x < 0):
        raise OverflowError("an integer is too large for 64 bits")
    return total


@njit(error_model='numpy', nogil=True)
def int_difference(x, y):
    """``x - y`` of Python's integers, which have 64 bits in compiled code."""
    total = x - y
    if (x < 0) != (y < 0) and (total < 0) != (x < 0):
        raise OverflowError("an integer is too large for 64 bits")
    return total


@njit(error_model='numpy', nogil=True, boundscheck=True)
def kernel_1(rows, values, columns, x):
    # --- forward --------------------------------------------------------------
    # loops.py:68  y = np.zeros(len(rows) - 1)
    y = np.zeros(20, np.float64)
    # loops.py:69  for i in range(len(rows) - 1):
    v1 = np.empty(20, np.int64)
    v2 = np.empty(20, np.int64)
    for i in range(20):
        # loops.py:70  for k in range(rows[i], rows[i + 1]):
        v3 = int(rows[i])
        v4 = int_difference(int(rows[i + 1]), v3)
        for k in range(v4):
            k_1 = int_sum(k, v3)
            # loops.py:71  y[i] += values[k] * x[columns[k]]
            y[i] += values[k_1] * x[columns[k_1]]
        # loops.py:69  for i in range(len(rows) - 1):
        v1[i] = v4
        v2[i] = v3
    # loops.py:72  return np.sum(y * y)
    value = np.float64(0.0)
    for i in range(20):
        value = added(value, y[i] * y[i])
    v5 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:72  return np.sum(y * y)
    d_y = np.empty(20, np.float64)
    for i in range(20):
        d_y[i] = 2 * y[i]
    # loops.py:69  for i in range(len(rows) - 1):
    d_values = np.zeros(40, np.float64)
    d_x = np.zeros(9, np.float64)
    for i in range(19, -1, -1):
        v6 = int(v2[i])
        # loops.py:70  for k in range(rows[i], rows[i + 1]):
        for k in range(int(v1[i]) - 1, -1, -1):
            k_2 = int_sum(k, v6)
            # loops.py:71  y[i] += values[k] * x[columns[k]]
            v7 = d_y[i] * x[columns[k_2]]
            d_x[columns[k_2]] += d_y[i] * values[k_2]
            d_values[k_2] += v7
    return v5, d_values, d_x


def sparse_rows_value_and_grad(values, x, columns, rows):
    """The value of `sparse_rows` and its gradient with respect to `values` and `x`."""
    # loops.py:69  for i in range(len(rows) - 1):
    v1, d_values, d_x = kernel_1(rows, values, columns, x)
    # loops.py:72  return np.sum(y * y)
    value = np.float64(v1)
    return value, (d_values, d_x)
