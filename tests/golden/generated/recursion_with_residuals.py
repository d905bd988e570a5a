import numpy as np


def recursion_with_residuals(x, decay):
    """The value of `recursion` and the residuals of its adjoint."""
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
    v5 = np.sum(y * y) + np.mean(v1)
    return v5, (decay, y, v2, v3)
