import numpy as np


def worked_example_value_and_grad(x1, x2):
    """The value of `worked_example` and its gradient with respect to `x1` and `x2`."""
    # --- forward --------------------------------------------------------------
    # models.py:14  return np.log(x1) + x1 * x2 - np.sin(x2)
    value = np.log(x1) + x1 * x2 - np.sin(x2)
    # --- adjoint --------------------------------------------------------------
    # models.py:14  return np.log(x1) + x1 * x2 - np.sin(x2)
    d_x2 = x1 - np.cos(x2)
    d_x1 = x2 + 1 / x1
    return value, (d_x1, d_x2)
