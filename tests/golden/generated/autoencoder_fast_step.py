import numpy as np
from scipy.linalg.blas import sgemv, sger


def workspace():
    """`autoencoder_step` with its buffers: 2,040 bytes, made once."""
    v2 = np.empty(30, np.float32)
    v3 = np.empty(30, np.float32)
    h = np.empty(30, np.float32)
    v5 = np.empty(10, np.float32)
    v6 = np.empty(10, np.float32)
    h_1 = np.empty(10, np.float32)
    memory = np.empty(78, np.float32)
    v7 = memory
    d_h_1 = d_b2 = memory[0:10]
    memory_1 = np.empty(78, np.float32)
    v8 = memory_1
    d_h = d_b1 = memory_1[0:30]
    o = np.empty(78, np.float32)
    v9 = np.empty(78, np.float32)
    v10 = np.empty(78, np.float32)

    def autoencoder_step(params, x, *, lr=0.02):
        """One training step on `autoencoder`, in place; returns the loss."""
        W1, W2, Wd, b1, b2 = params["W1"], params["W2"], params["Wd"], params["b1"], params["b2"]
        # --- forward ----------------------------------------------------------
        # models.py:102  h = sigmoid(params["W1"] @ x + params["b1"])
        np.copyto(v2, b1)
        sgemv(1.0, W1.T, x, 1.0, v2, 0, 1, 0, 1, 1, 1)  # v2 += W1 @ x
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v2, out=v2)
        np.exp(v2, out=v2)
        np.add(1, v2, out=v3)
        np.divide(1, v3, out=h)
        # models.py:103  h = sigmoid(params["W2"] @ h + params["b2"])
        np.copyto(v5, b2)
        sgemv(1.0, W2.T, h, 1.0, v5, 0, 1, 0, 1, 1, 1)  # v5 += W2 @ h
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v5, out=v5)
        np.exp(v5, out=v5)
        np.add(1, v5, out=v6)
        np.divide(1, v6, out=h_1)
        # models.py:104  o = sigmoid(params["Wd"] @ h)
        sgemv(1.0, Wd.T, h_1, 0.0, v7, 0, 1, 0, 1, 1, 1)  # v7 = Wd @ h_1
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.negative(v7, out=v7)
        np.exp(v7, out=v7)
        np.add(1, v7, out=v8)
        np.divide(1, v8, out=o)
        # models.py:105  return np.sum((x - o) ** 2)
        np.subtract(x, o, out=v9)
        np.square(v9, out=v10)
        value = np.add.reduce(v10, axis=None)
        # --- adjoint ----------------------------------------------------------
        # models.py:105  return np.sum((x - o) ** 2)
        np.multiply(2, v9, out=v9)
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(o, v8, out=o)
        np.multiply(v9, o, out=v9)
        np.multiply(v9, v7, out=v9)
        np.negative(v9, out=v9)
        # models.py:104  o = sigmoid(params["Wd"] @ h)
        sgemv(1.0, Wd.T, v9, 0.0, d_h_1, 0, 1, 0, 1, 0, 1)  # d_h_1 = Wd.T @ v9
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(h_1, v6, out=v6)
        np.multiply(d_h_1, v6, out=d_h_1)
        np.multiply(d_h_1, v5, out=d_b2)
        # models.py:103  h = sigmoid(params["W2"] @ h + params["b2"])
        sgemv(1.0, W2.T, d_b2, 0.0, d_h, 0, 1, 0, 1, 0, 1)  # d_h = W2.T @ d_b2
        # models.py:98  return 1 / (1 + np.exp(-v))
        np.divide(h, v3, out=v3)
        np.multiply(d_h, v3, out=d_h)
        np.multiply(d_h, v2, out=d_b1)
        # --- update: SGD, lr = 0.02 -------------------------------------------
        sger(-lr, x, d_b1, 1, 1, W1.T, 1, 1, 1)  # W1 -= lr * np.outer(d_b1, x)
        sger(-lr, h, d_b2, 1, 1, W2.T, 1, 1, 1)  # W2 -= lr * np.outer(d_b2, h)
        sger(-lr, h_1, v9, 1, 1, Wd.T, 1, 1, 1)  # Wd -= lr * np.outer(v9, h_1)
        np.multiply(lr, d_b1, out=d_b1)
        b1 -= d_b1
        np.multiply(lr, d_b2, out=d_b2)
        b2 -= d_b2
        return value

    return autoencoder_step
