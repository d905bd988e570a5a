import numpy as np


def wave_value_and_grad(u, dt):
    """The value of `wave` and its gradient with respect to `u`."""
    # --- forward --------------------------------------------------------------
    # models.py:40  total = np.zeros_like(u)
    total = np.zeros(8, np.float64)
    # models.py:43  inner += dt * (u[2:] - 2 * u[1:-1] + u[:-2])    (_ = 0)
    v1 = dt * (u[2:] - 2 * u[1:7] + u[0:6])
    total[1:7] += v1
    # models.py:44  total[0] = u[-1]    (_ = 0)
    total[0] = u[7]
    # models.py:43  inner += dt * (u[2:] - 2 * u[1:-1] + u[:-2])    (_ = 1)
    total[1:7] += v1
    # models.py:44  total[0] = u[-1]    (_ = 1)
    total[0] = u[7]
    # models.py:45  return np.sum(total**2)
    value = np.sum(total ** 2)
    # --- adjoint --------------------------------------------------------------
    # models.py:45  return np.sum(total**2)
    d_total = 2 * total
    # models.py:44  total[0] = u[-1]    (_ = 1)
    v2 = d_total[0]
    d_total[0] = 0.0
    # models.py:43  inner += dt * (u[2:] - 2 * u[1:-1] + u[:-2])    (_ = 1)
    v3 = np.copy(d_total[1:7])
    # models.py:44  total[0] = u[-1]    (_ = 0)
    v4 = d_total[0]
    d_total[0] = 0.0
    d_u = np.zeros(8, np.float64)
    d_u[7] += v2 + v4
    # models.py:43  inner += dt * (u[2:] - 2 * u[1:-1] + u[:-2])    (_ = 0)
    v3 += d_total[1:7]
    v5 = v3 * dt
    d_u[0:6] += v5
    d_u[1:7] -= v5 * 2
    d_u[2:] += v5
    return value, d_u
