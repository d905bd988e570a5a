import numpy as np
from scipy.linalg.blas import sger


def workspace():
    """`autoencoder_step` with its buffers: 2,040 bytes, made once."""
    v1 = np.empty(30, np.float32)
    v2 = np.empty(30, np.float32)
    h = np.empty(30, np.float32)
    v3 = np.empty(10, np.float32)
    v4 = np.empty(10, np.float32)
    h_1 = np.empty(10, np.float32)
    memory = np.empty(78, np.float32)
    v5 = memory
    d_h_1 = d_b2 = memory[0:10]
    memory_1 = np.empty(78, np.float32)
    v6 = memory_1
    d_h = d_b1 = memory_1[0:30]
    o = np.empty(78, np.float32)
    v7 = np.empty(78, np.float32)
    v8 = np.empty(78, np.float32)

    def autoencoder_step(params, x, *, lr=0.02):
        """One training step on `autoencoder`, in place; returns the loss."""
        W1, W2, Wd, b1, b2 = params["W1"], params["W2"], params["Wd"], params["b1"], params["b2"]
        # --- forward ----------------------------------------------------------
        # models.py:102  h = sigmoid(params["W1"] @ x + params["b1"])
        np.matmul(W1, x, out=v1)
        np.add(v1, b1, out=v1)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v1, out=v1)
        np.exp(v1, out=v1)
        np.add(1, v1, out=v2)
        np.divide(1, v2, out=h)
        # models.py:103  h = sigmoid(params["W2"] @ h + params["b2"])
        np.matmul(W2, h, out=v3)
        np.add(v3, b2, out=v3)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v3, out=v3)
        np.exp(v3, out=v3)
        np.add(1, v3, out=v4)
        np.divide(1, v4, out=h_1)
        # models.py:104  o = sigmoid(params["Wd"] @ h)
        np.matmul(Wd, h_1, out=v5)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v5, out=v5)
        np.exp(v5, out=v5)
        np.add(1, v5, out=v6)
        np.divide(1, v6, out=o)
        # models.py:105  return np.sum((x - o) ** 2)
        np.subtract(x, o, out=v7)
        np.square(v7, out=v8)
        value = np.add.reduce(v8, axis=None)
        # --- adjoint ----------------------------------------------------------
        # models.py:105  return np.sum((x - o) ** 2)
        np.multiply(2, v7, out=v7)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(o, v6, out=o)
        np.multiply(v7, o, out=v7)
        np.multiply(v7, v5, out=v7)
        np.negative(v7, out=v7)
        # models.py:104  o = sigmoid(params["Wd"] @ h)
        np.matmul(Wd.T, v7, out=d_h_1)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(h_1, v4, out=v4)
        np.multiply(d_h_1, v4, out=d_h_1)
        np.multiply(d_h_1, v3, out=d_b2)
        # models.py:103  h = sigmoid(params["W2"] @ h + params["b2"])
        np.matmul(W2.T, d_b2, out=d_h)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(h, v2, out=v2)
        np.multiply(d_h, v2, out=d_h)
        np.multiply(d_h, v1, out=d_b1)
        # --- update: SGD, lr = 0.02 -------------------------------------------
        sger(-lr, x, d_b1, 1, 1, W1.T, 1, 1, 1)  # W1 -= lr * np.outer(d_b1, x)
        sger(-lr, h, d_b2, 1, 1, W2.T, 1, 1, 1)  # W2 -= lr * np.outer(d_b2, h)
        sger(-lr, h_1, v7, 1, 1, Wd.T, 1, 1, 1)  # Wd -= lr * np.outer(v7, h_1)
        np.multiply(lr, d_b1, out=d_b1)
        b1 -= d_b1
        np.multiply(lr, d_b2, out=d_b2)
        b2 -= d_b2
        return value

    return autoencoder_step
