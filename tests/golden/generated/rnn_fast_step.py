import numpy as np
from scipy.linalg.blas import sgemm, sgemv


def workspace():
    """`rnn_step` with its buffers: 686,000 bytes, made once."""
    v1 = np.empty((400, 196), np.float32)
    v3 = np.empty((400, 64), np.float32)
    v23 = np.empty((400, 64), np.float32)
    shifted = v17 = np.empty((10, 100), np.float32).T
    v12 = np.empty(100, np.int16)
    hot = np.empty((10, 100), np.bool_).T
    v14 = total = np.empty((100, 1), np.float32)
    exps = np.empty((10, 100), np.float32).T
    v15 = np.empty((100, 1), np.float32)
    v16 = np.empty((10, 100), np.float32).T
    d_h_4 = d_h_3 = d_h_2 = d_h_1 = np.empty((100, 64), np.float32)
    v18 = np.empty((100, 64), np.float32)
    v24 = np.empty((400, 64), np.float32)
    v4, v5, v6, h_4, h_1 = v3[0:100], v3[100:200], v3[200:300], v3[300:400], v23[100:200]
    h_2, h_3, v19, v20, v21 = v23[200:300], v23[300:400], v24[300:400], v24[200:300], v24[100:200]
    v22 = v24[0:100]
    h = np.zeros((100, 64), np.float32)
    v13 = np.arange(10, dtype=np.int16)
    ones = np.ones(100, np.float32)
    ones_1 = np.ones(400, np.float32)
    v1_T, v3_T, h_T, v4_T, h_1_T, v5_T, h_2_T = v1.T, v3.T, h.T, v4.T, h_1.T, v5.T, h_2.T
    v6_T, h_3_T, h_4_T, v12_part, d_h_4_T = v6.T, h_3.T, h_4.T, v12[:, None], d_h_4.T
    v19_T, d_h_3_T, v20_T, d_h_2_T, v21_T = v19.T, d_h_3.T, v20.T, d_h_2.T, v21.T
    d_h_1_T, v23_part, v24_T, v23_T = d_h_1.T, v23[0:100], v24.T, v23.T

    def rnn_step(params, x, y, *, lr=0.015):
        """One training step on `rnn`, in place; returns the loss."""
        Wx, Wh, bh, Wo, bo = params["Wx"], params["Wh"], params["bh"], params["Wo"], params["bo"]
        # --- forward ----------------------------------------------------------
        # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
        x_t = x[:, 0:196]
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.concatenate((x_t, x[:, 196:392], x[:, 392:588], x[:, 588:]), out=v1)
        np.copyto(v3, bh)
        sgemm(1.0, Wx.T, v1_T, 1.0, v3_T, 0, 0, 1)  # v3 += v1 @ Wx
        sgemm(1.0, Wh.T, h_T, 1.0, v4_T, 0, 0, 1)  # v4 += h @ Wh
        np.tanh(v4, out=h_1)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        sgemm(1.0, Wh.T, h_1_T, 1.0, v5_T, 0, 0, 1)  # v5 += h_1 @ Wh
        np.tanh(v5, out=h_2)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        sgemm(1.0, Wh.T, h_2_T, 1.0, v6_T, 0, 0, 1)  # v6 += h_2 @ Wh
        np.tanh(v6, out=h_3)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        sgemm(1.0, Wh.T, h_3_T, 1.0, h_4_T, 0, 0, 1)  # h_4 += h_3 @ Wh
        np.tanh(h_4, out=h_4)
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        np.copyto(shifted, bo)
        sgemm(1.0, h_4_T, Wo.T, 1.0, shifted, 1, 1, 1)  # shifted += h_4 @ Wo
        if np.minimum.reduce(y, axis=None) < 0 or np.maximum.reduce(y, axis=None) >= 10:
            raise IndexError("softmax_cross_entropy: a label is not one of the classes")
        np.copyto(v12, y, casting="unsafe")
        np.equal(v12_part, v13, out=hot)
        np.maximum.reduce(shifted, axis=1, keepdims=True, out=v14)
        np.subtract(shifted, v14, out=shifted)
        np.exp(shifted, out=exps)
        np.add.reduce(exps, axis=1, keepdims=True, out=total)
        np.log(total, out=v15)
        np.copyto(v16, 0)
        np.copyto(v16, shifted, where=hot)
        loss = (np.add.reduce(v15, axis=None) - np.add.reduce(v16, axis=None)) / 100
        # --- adjoint ----------------------------------------------------------
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        np.divide(exps, total, out=exps)
        np.copyto(v17, hot, casting="unsafe")
        np.subtract(exps, v17, out=exps)
        np.multiply(exps, np.float32(0.01), out=exps)
        sgemm(1.0, Wo.T, exps, 0.0, d_h_4_T, 1, 1, 1)  # d_h_4 = exps @ Wo.T
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        np.multiply(h_4, h_4, out=v18)
        np.subtract(1, v18, out=v18)
        np.multiply(d_h_4, v18, out=v19)
        sgemm(1.0, Wh.T, v19_T, 0.0, d_h_3_T, 1, 0, 1)  # d_h_3 = v19 @ Wh.T
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        np.multiply(h_3, h_3, out=v18)
        np.subtract(1, v18, out=v18)
        np.multiply(d_h_3, v18, out=v20)
        sgemm(1.0, Wh.T, v20_T, 0.0, d_h_2_T, 1, 0, 1)  # d_h_2 = v20 @ Wh.T
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        np.multiply(h_2, h_2, out=v18)
        np.subtract(1, v18, out=v18)
        np.multiply(d_h_2, v18, out=v21)
        sgemm(1.0, Wh.T, v21_T, 0.0, d_h_1_T, 1, 0, 1)  # d_h_1 = v21 @ Wh.T
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.multiply(h_1, h_1, out=v18)
        np.subtract(1, v18, out=v18)
        np.multiply(d_h_1, v18, out=v22)
        np.copyto(v23_part, h)
        # --- update: SGD, lr = 0.015 ------------------------------------------
        sgemm(-lr, v24_T, v1_T, 1.0, Wx.T, 0, 1, 1)  # Wx -= lr * v1.T @ v24
        sgemm(-lr, v24_T, v23_T, 1.0, Wh.T, 0, 1, 1)  # Wh -= lr * v23.T @ v24
        sgemv(-lr, v24_T, ones_1, 1.0, bh, 0, 1, 0, 1, 0, 1)  # bh -= lr * ones_1 @ v24
        sgemm(-lr, exps, h_4_T, 1.0, Wo.T, 1, 1, 1)  # Wo -= lr * h_4.T @ exps
        sgemv(-lr, exps, ones, 1.0, bo, 0, 1, 0, 1, 1, 1)  # bo -= lr * ones @ exps
        return loss

    return rnn_step
