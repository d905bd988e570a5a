import numpy as np


def recursion_pullback(decay, y, kept, kept_1, d_value):
    """The pullback of `recursion`."""
    # models.py:112  return np.sum(y * y) + np.mean(np.array(peaks))
    v1 = d_value / 39
    d_y = 2 * (d_value * y)
    # models.py:109  for t in range(1, len(x)):
    d_x = np.zeros(40, np.float64)
    d_decay = 0.0
    for t in reversed(range(39)):
        v2 = kept_1[t]
        # models.py:111  peaks.append(np.maximum(y[t], 0.0))
        d_y[t + 1] += v1 * (kept[t] > 0.0)
        # models.py:110  y[t] = decay * y[t - 1] + x[t]
        v3 = d_y[t + 1]
        d_y[t + 1] = 0.0
        d_x[t + 1] += v3
        d_decay_1 = d_decay + v3 * v2
        d_y[t] += v3 * decay
        d_decay = float(d_decay_1)
    return d_x, d_decay
