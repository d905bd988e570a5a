import numpy as np


def recursion_value_and_grad(x, decay):
    """The value of `recursion` and its gradient with respect to `x` and `decay`."""
    # --- forward --------------------------------------------------------------
    # models.py:107  y = np.zeros_like(x)
    y = np.zeros(40, np.float64)
    # models.py:109  for t in range(1, len(x)):
    v1 = np.empty(39, np.float64)
    v2 = np.empty(39, np.float64)
    v3 = np.empty(39, np.float64)
    for t in range(39):
        # models.py:110  y[t] = decay * y[t - 1] + x[t]
        v4 = y[t]
        v3[t] = v4
        y[t + 1] = decay * v4 + x[t + 1]
        # models.py:111  peaks.append(np.maximum(y[t], 0.0))
        v2[t] = y[t + 1]
        v1[t] = np.maximum(y[t + 1], 0.0)
    # models.py:112  return np.sum(y * y) + np.mean(np.array(peaks))
    value = np.sum(y * y) + np.mean(v1)
    # --- adjoint --------------------------------------------------------------
    # models.py:112  return np.sum(y * y) + np.mean(np.array(peaks))
    d_y = 2 * y
    # models.py:109  for t in range(1, len(x)):
    d_x = np.zeros(40, np.float64)
    d_decay = 0.0
    for t in reversed(range(39)):
        v5 = v3[t]
        # models.py:111  peaks.append(np.maximum(y[t], 0.0))
        d_y[t + 1] += 1 / 39 * (v2[t] > 0.0)
        # models.py:110  y[t] = decay * y[t - 1] + x[t]
        v6 = d_y[t + 1]
        d_y[t + 1] = 0.0
        d_x[t + 1] += v6
        d_decay_1 = d_decay + v6 * v5
        d_y[t] += v6 * decay
        d_decay = float(d_decay_1)
    return value, (d_x, d_decay)
