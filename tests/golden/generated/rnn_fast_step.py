import numpy as np
from scipy.linalg.blas import sgemm, sgemv


def workspace():
    """`rnn_step` with its buffers: 711,600 bytes, made once."""
    v1 = np.empty((400, 196), np.float32)
    v2 = np.empty((400, 64), np.float32)
    v19 = np.empty((400, 64), np.float32)
    shifted = v11 = np.empty((10, 100), np.float32).T
    v6 = np.empty(100, np.int16)
    hot = np.empty((10, 100), np.bool_).T
    v8 = total = np.empty((100, 1), np.float32)
    exps = np.empty((10, 100), np.float32).T
    v9 = np.empty((100, 1), np.float32)
    v10 = np.empty((10, 100), np.float32).T
    memory = np.empty(6400, np.float32)
    d_h_4 = memory.reshape(100, 64)
    v14 = memory[0:4096].reshape(64, 64)
    v12 = d_h_3 = d_h_2 = d_h_1 = np.empty((100, 64), np.float32)
    v20 = np.empty((400, 64), np.float32)
    v15 = np.empty((100, 64), np.float32)
    v3, v4, v5, h_4, h_1 = v2[0:100], v2[100:200], v2[200:300], v2[300:400], v19[100:200]
    h_2, h_3, v13, v16, v17 = v19[200:300], v19[300:400], v20[300:400], v20[200:300], v20[100:200]
    v18 = v20[0:100]
    h = np.zeros((100, 64), np.float32)
    v7 = np.arange(10, dtype=np.int16)
    ones = np.ones(100, np.float32)
    ones_1 = np.ones(400, np.float32)
    v1_T, v2_T, h_T, v3_T, h_1_T, v4_T, h_2_T = v1.T, v2.T, h.T, v3.T, h_1.T, v4.T, h_2.T
    v5_T, h_3_T, h_4_T, v6_part, d_h_4_T, v14_T = v5.T, h_3.T, h_4.T, v6[:, None], d_h_4.T, v14.T
    v13_T, d_h_3_T, v16_T, d_h_2_T, v17_T = v13.T, d_h_3.T, v16.T, d_h_2.T, v17.T
    d_h_1_T, v19_part, v20_T, v19_T = d_h_1.T, v19[0:100], v20.T, v19.T

    def rnn_step(params, x, y, *, lr=0.015):
        """One training step on `rnn`, in place; returns the loss."""
        Wx, Wh, bh, Wo, bo = params["Wx"], params["Wh"], params["bh"], params["Wo"], params["bo"]
        # --- forward ----------------------------------------------------------
        # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
        x_t = x[:, 0:196]
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.concatenate((x_t, x[:, 196:392], x[:, 392:588], x[:, 588:]), out=v1)
        np.copyto(v2, bh)
        sgemm(1.0, Wx.T, v1_T, 1.0, v2_T, 0, 0, 1)  # v2 += v1 @ Wx
        sgemm(1.0, Wh.T, h_T, 1.0, v3_T, 0, 0, 1)  # v3 += h @ Wh
        np.tanh(v3, out=h_1)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        sgemm(1.0, Wh.T, h_1_T, 1.0, v4_T, 0, 0, 1)  # v4 += h_1 @ Wh
        np.tanh(v4, out=h_2)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        sgemm(1.0, Wh.T, h_2_T, 1.0, v5_T, 0, 0, 1)  # v5 += h_2 @ Wh
        np.tanh(v5, out=h_3)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        sgemm(1.0, Wh.T, h_3_T, 1.0, h_4_T, 0, 0, 1)  # h_4 += h_3 @ Wh
        np.tanh(h_4, out=h_4)
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        np.copyto(shifted, bo)
        sgemm(1.0, h_4_T, Wo.T, 1.0, shifted, 1, 1, 1)  # shifted += h_4 @ Wo
        if np.minimum.reduce(y, axis=None) < 0 or np.maximum.reduce(y, axis=None) >= 10:
            raise IndexError("softmax_cross_entropy: a label is not one of the classes")
        np.copyto(v6, y, casting="unsafe")
        np.equal(v6_part, v7, out=hot)
        np.maximum.reduce(shifted, axis=1, keepdims=True, out=v8)
        np.subtract(shifted, v8, out=shifted)
        np.exp(shifted, out=exps)
        np.add.reduce(exps, axis=1, keepdims=True, out=total)
        np.log(total, out=v9)
        np.copyto(v10, 0)
        np.copyto(v10, shifted, where=hot)
        loss = (np.add.reduce(v9, axis=None) - np.add.reduce(v10, axis=None)) / 100
        # --- adjoint ----------------------------------------------------------
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        np.divide(exps, total, out=exps)
        np.copyto(v11, hot, casting="unsafe")
        np.subtract(exps, v11, out=exps)
        np.multiply(exps, 0.01, out=exps)
        sgemm(1.0, Wo.T, exps, 0.0, d_h_4_T, 1, 1, 1)  # d_h_4 = exps @ Wo.T
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        np.multiply(h_4, h_4, out=v12)
        np.subtract(1, v12, out=v12)
        np.multiply(d_h_4, v12, out=v13)
        np.copyto(v14, Wh.T)
        sgemm(1.0, v14_T, v13_T, 0.0, d_h_3_T, 0, 0, 1)  # d_h_3 = v13 @ v14
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        np.multiply(h_3, h_3, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_3, v15, out=v16)
        sgemm(1.0, v14_T, v16_T, 0.0, d_h_2_T, 0, 0, 1)  # d_h_2 = v16 @ v14
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        np.multiply(h_2, h_2, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_2, v15, out=v17)
        sgemm(1.0, v14_T, v17_T, 0.0, d_h_1_T, 0, 0, 1)  # d_h_1 = v17 @ v14
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.multiply(h_1, h_1, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_1, v15, out=v18)
        np.copyto(v19_part, h)
        # --- update: SGD, lr = 0.015 ------------------------------------------
        sgemm(-lr, v20_T, v1_T, 1.0, Wx.T, 0, 1, 1)  # Wx -= lr * v1.T @ v20
        sgemm(-lr, v20_T, v19_T, 1.0, Wh.T, 0, 1, 1)  # Wh -= lr * v19.T @ v20
        sgemv(-lr, v20_T, ones_1, 1.0, bh, 0, 1, 0, 1, 0, 1)  # bh -= lr * ones_1 @ v20
        sgemm(-lr, exps, h_4_T, 1.0, Wo.T, 1, 1, 1)  # Wo -= lr * h_4.T @ exps
        sgemv(-lr, exps, ones, 1.0, bo, 0, 1, 0, 1, 1, 1)  # bo -= lr * ones @ exps
        return loss

    return rnn_step
