import numpy as np


def autoencoder_step(params, x, *, lr=0.02):
    """One training step on `autoencoder`, in place; returns the loss."""
    W1 = params["W1"]
    W2 = params["W2"]
    Wd = params["Wd"]
    b1 = params["b1"]
    b2 = params["b2"]
    # --- forward --------------------------------------------------------------
    # models.py:120  h = sigmoid(params["W1"] @ x + params["b1"])
    v1 = W1 @ x + b1
    # models.py:116  return 1 / (1 + np.exp(-v))
    h = 1 / (1 + np.exp(-v1))
    # models.py:121  h = sigmoid(params["W2"] @ h + params["b2"])
    v2 = W2 @ h + b2
    # models.py:116  return 1 / (1 + np.exp(-v))
    h_1 = 1 / (1 + np.exp(-v2))
    # models.py:122  o = sigmoid(params["Wd"] @ h)
    v3 = Wd @ h_1
    # models.py:116  return 1 / (1 + np.exp(-v))
    o = 1 / (1 + np.exp(-v3))
    # models.py:123  return np.sum((x - o) ** 2)
    v4 = x - o
    value = np.sum(v4 ** 2)
    # --- adjoint --------------------------------------------------------------
    # models.py:123  return np.sum((x - o) ** 2)
    v5 = -2 * v4
    # models.py:116  return 1 / (1 + np.exp(-v))
    v6 = v5 * (o * (1 - o))
    # models.py:122  o = sigmoid(params["Wd"] @ h)
    d_Wd = np.outer(v6, h_1)
    d_h_1 = Wd.T @ v6
    # models.py:116  return 1 / (1 + np.exp(-v))
    d_b2 = d_h_1 * (h_1 * (1 - h_1))
    # models.py:121  h = sigmoid(params["W2"] @ h + params["b2"])
    d_W2 = np.outer(d_b2, h)
    d_h = W2.T @ d_b2
    # models.py:116  return 1 / (1 + np.exp(-v))
    d_b1 = d_h * (h * (1 - h))
    # models.py:120  h = sigmoid(params["W1"] @ x + params["b1"])
    d_W1 = np.outer(d_b1, x)
    # --- update: SGD, lr = 0.02 -----------------------------------------------
    W1 -= lr * d_W1
    W2 -= lr * d_W2
    Wd -= lr * d_Wd
    b1 -= lr * d_b1
    b2 -= lr * d_b2
    return value
