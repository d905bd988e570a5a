import numpy as np
from numba import njit


@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})
def added(total, x):
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@njit(error_model='numpy', nogil=True)
def int_sum(x, y):
    """``x + y`` of Python's integers, which have 64 bits in compiled code."""
    if x > 9223372036854775807 - y if y > 0 else x < -9223372036854775807 - (y + 1):
        raise OverflowError("an integer is too large for 64 bits")
    return x + y


@njit(error_model='numpy', nogil=True)
def int_difference(x, y):
    """``x - y`` of Python's integers, which have 64 bits in compiled code."""
    if x < -9223372036854775807 + (y - 1) if y > 0 else x > 9223372036854775807 + y:
        raise OverflowError("an integer is too large for 64 bits")
    return x - y


@njit(error_model='numpy', nogil=True)
def index_within(i, length, axis):
    """The place on an axis that the index ``i`` stands for."""
    place = int(i + length if i < 0 else i)
    if place | (length - 1 - place) < 0:  # either has a sign: one comparison
        raise IndexError("index", i, "is out of bounds for axis", axis, "with size", length)
    return place


@njit(error_model='numpy', nogil=True)
def kernel_1(rows, values, columns, x):
    """The forward and adjoint loops of loops.py:68 to loops.py:72."""
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
            v5 = index_within(k_1, 40, 0)
            y[i] += values[v5] * x[index_within(columns[v5], 9, 0)]
        # loops.py:69  for i in range(len(rows) - 1):
        v1[i] = v4
        v2[i] = v3
    # loops.py:72  return np.sum(y * y)
    value = np.float64(0.0)
    for i in range(20):
        value = added(value, y[i] * y[i])
    v6 = float(value)
    # --- adjoint --------------------------------------------------------------
    # loops.py:72  return np.sum(y * y)
    d_y = np.empty(20, np.float64)
    for i in range(20):
        d_y[i] = 2 * y[i]
    # loops.py:69  for i in range(len(rows) - 1):
    d_values = np.zeros(40, np.float64)
    d_x = np.zeros(9, np.float64)
    for i in range(19, -1, -1):
        v7 = int(v2[i])
        # loops.py:70  for k in range(rows[i], rows[i + 1]):
        for k in range(int(v1[i]) - 1, -1, -1):
            k_2 = int_sum(k, v7)
            # loops.py:71  y[i] += values[k] * x[columns[k]]
            v8 = index_within(k_2, 40, 0)
            v9 = index_within(columns[v8], 9, 0)
            v10 = d_y[i] * x[v9]
            d_x[v9] += d_y[i] * values[v8]
            d_values[v8] += v10
    return v6, d_values, d_x


def sparse_rows_value_and_grad(values, x, columns, rows):
    """The value of `sparse_rows` and its gradient with respect to `values` and `x`."""
    # loops.py:69  for i in range(len(rows) - 1):
    v1, d_values, d_x = kernel_1(rows, values, columns, x)
    # loops.py:72  return np.sum(y * y)
    value = np.float64(v1)
    return value, (d_values, d_x)
