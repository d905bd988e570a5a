import numpy as np


def square_root_value_and_grad(a):
    """The value of `square_root` and its gradient with respect to `a`."""
    # --- forward --------------------------------------------------------------
    # models.py:87  while abs(x * x - a) > 1e-12:
    x = a
    n_steps = 0
    xs = []
    v1 = []
    while abs(x * x - a) > 1e-12:
        xs.append(x)
        # models.py:88  x = 0.5 * (x + a / x)
        v2 = a / x
        v1.append(v2)
        x = 0.5 * (x + v2)
        # models.py:87  while abs(x * x - a) > 1e-12:
        n_steps += 1
    # --- adjoint --------------------------------------------------------------
    # models.py:87  while abs(x * x - a) > 1e-12:
    d_x = 1.0
    d_a = 0.0
    for i in reversed(range(n_steps)):
        x_1 = xs[i]
        # models.py:88  x = 0.5 * (x + a / x)
        v3 = d_x * 0.5
        d_a += v3 / x_1
        d_x = v3 - v3 * (v1[i] / x_1)
    # models.py:87  while abs(x * x - a) > 1e-12:
    d_a_1 = d_a + d_x
    return x, d_a_1
