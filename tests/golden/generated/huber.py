import numpy as np


def huber_value_and_grad(residuals, delta):
    """The value of `huber` and its gradient with respect to `residuals` and `delta`."""
    # --- forward --------------------------------------------------------------
    # models.py:95  for r in residuals:
    total = np.float64(0.0)
    value = 0
    i = 0
    returned = False
    n_steps = 0
    v1 = []
    rs = []
    v2 = []
    v3 = []
    v4 = []
    is_1 = []
    while i < 30 and not returned:
        is_1.append(i)
        r = residuals[i]
        rs.append(r)
        # models.py:96  if r > 100 * delta:
        v5 = r > 100 * delta
        v1.append(v5)
        if v5:
            # models.py:97  return np.inf * r
            value = np.inf * r
            returned = True
            v6 = 0
            v7 = 0
            v8 = 0
        else:
            # models.py:98  if abs(r) <= delta:
            v6 = np.abs(r) <= delta
            if v6:
                # models.py:99  total = total + 0.5 * r * r
                v7 = 0.5 * r
                total += v7 * r
                v8 = 0
            else:
                # models.py:101  total = total + delta * (abs(r) - 0.5 * delta)
                v8 = np.abs(r) - 0.5 * delta
                total += delta * v8
                v7 = 0
            # models.py:98  if abs(r) <= delta:
            returned = False
            value = 0
        # models.py:96  if r > 100 * delta:
        v2.append(v6)
        v3.append(v7)
        v4.append(v8)
        # models.py:95  for r in residuals:
        i += 1
        n_steps += 1
    if not returned:
        value = total
    # --- adjoint --------------------------------------------------------------
    # models.py:95  for r in residuals:
    if returned:
        v9 = np.float64(1.0)
        d_total = np.float64(0.0)
    else:
        v9 = np.float64(0.0)
        d_total = np.float64(1.0)
    d_residuals = np.zeros(30, np.float64)
    d_delta = 0.0
    for i_1 in reversed(range(n_steps)):
        r_1 = rs[i_1]
        v10 = v2[i_1]
        v11 = v3[i_1]
        v12 = v4[i_1]
        # models.py:96  if r > 100 * delta:
        if v1[i_1]:
            # models.py:97  return np.inf * r
            d_r = v9 * np.inf if v9 else v9
        # models.py:98  if abs(r) <= delta:
        elif v10:
            # models.py:99  total = total + 0.5 * r * r
            d_r = d_total * v11 + d_total * r_1 * 0.5
        else:
            # models.py:101  total = total + delta * (abs(r) - 0.5 * delta)
            v13 = d_total * delta
            d_delta_1 = d_delta + d_total * v12 - v13 * 0.5
            d_r = v13 * np.sign(r_1)
            d_delta = float(d_delta_1)
        # models.py:95  for r in residuals:
        d_residuals[is_1[i_1]] += d_r
        v9 = np.float64(0.0)
    return value, (d_residuals, d_delta)
