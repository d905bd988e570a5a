import numpy as np
from scipy.linalg.blas import sgemv, sger


def workspace():
    """`autoencoder_step` with its buffers: 1,216 bytes, made once."""
    h = np.empty(30, np.float32)
    h_1 = np.empty(10, np.float32)
    memory = np.empty(78, np.float32)
    o = memory
    d_h_1 = d_b2 = memory[0:10]
    v1 = np.empty(78, np.float32)
    memory_1 = np.empty(78, np.float32)
    v2, v3 = memory_1, memory_1[0:10]
    d_h = d_b1 = memory_1[0:30]
    v4 = np.empty(30, np.float32)

    def autoencoder_step(params, x, *, lr=0.02):
        """One training step on `autoencoder`, in place; returns the loss."""
        W1, W2, Wd, b1, b2 = params["W1"], params["W2"], params["Wd"], params["b1"], params["b2"]
        # --- forward ----------------------------------------------------------
        # models.py:120  h = sigmoid(params["W1"] @ x + params["b1"])
        np.copyto(h, b1)
        sgemv(1.0, W1.T, x, 1.0, h, 0, 1, 0, 1, 1, 1)  # h += W1 @ x
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.negative(h, out=h)
        np.exp(h, out=h)
        np.add(1, h, out=h)
        np.divide(1, h, out=h)
        # models.py:121  h = sigmoid(params["W2"] @ h + params["b2"])
        np.copyto(h_1, b2)
        sgemv(1.0, W2.T, h, 1.0, h_1, 0, 1, 0, 1, 1, 1)  # h_1 += W2 @ h
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.negative(h_1, out=h_1)
        np.exp(h_1, out=h_1)
        np.add(1, h_1, out=h_1)
        np.divide(1, h_1, out=h_1)
        # models.py:122  o = sigmoid(params["Wd"] @ h)
        sgemv(1.0, Wd.T, h_1, 0.0, o, 0, 1, 0, 1, 1, 1)  # o = Wd @ h_1
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.negative(o, out=o)
        np.exp(o, out=o)
        np.add(1, o, out=o)
        np.divide(1, o, out=o)
        # models.py:123  return np.sum((x - o) ** 2)
        np.subtract(x, o, out=v1)
        np.square(v1, out=v2)
        value = np.add.reduce(v2, axis=None)
        # --- adjoint ----------------------------------------------------------
        # models.py:123  return np.sum((x - o) ** 2)
        np.multiply(-2, v1, out=v1)
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.subtract(1, o, out=v2)
        np.multiply(o, v2, out=o)
        np.multiply(v1, o, out=v1)
        # models.py:122  o = sigmoid(params["Wd"] @ h)
        sgemv(1.0, Wd.T, v1, 0.0, d_h_1, 0, 1, 0, 1, 0, 1)  # d_h_1 = Wd.T @ v1
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.subtract(1, h_1, out=v3)
        np.multiply(h_1, v3, out=v3)
        np.multiply(d_h_1, v3, out=d_b2)
        # models.py:121  h = sigmoid(params["W2"] @ h + params["b2"])
        sgemv(1.0, W2.T, d_b2, 0.0, d_h, 0, 1, 0, 1, 0, 1)  # d_h = W2.T @ d_b2
        # models.py:116  return 1 / (1 + np.exp(-v))
        np.subtract(1, h, out=v4)
        np.multiply(h, v4, out=v4)
        np.multiply(d_h, v4, out=d_b1)
        # --- update: SGD, lr = 0.02 -------------------------------------------
        sger(-lr, x, d_b1, 1, 1, W1.T, 1, 1, 1)  # W1 -= lr * np.outer(d_b1, x)
        sger(-lr, h, d_b2, 1, 1, W2.T, 1, 1, 1)  # W2 -= lr * np.outer(d_b2, h)
        sger(-lr, h_1, v1, 1, 1, Wd.T, 1, 1, 1)  # Wd -= lr * np.outer(v1, h_1)
        np.multiply(lr, d_b1, out=d_b1)
        b1 -= d_b1
        np.multiply(lr, d_b2, out=d_b2)
        b2 -= d_b2
        return value

    return autoencoder_step
