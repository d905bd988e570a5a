import numpy as np
from scipy.linalg.blas import sgemm


def workspace():
    """`rnn_step` with its buffers: 686,200 bytes, made once."""
    v1 = np.empty((400, 196), np.float32)
    v2 = np.empty((400, 64), np.float32)
    v20 = np.empty((400, 64), np.float32)
    shifted = v14 = np.empty((10, 100), np.float32).T
    v10 = np.empty(100, np.int32)
    hot = np.empty((10, 100), np.bool_).T
    memory = np.empty(100, np.float32)
    v11 = total = memory.reshape(100, 1)
    d_bo = memory[0:10]
    exps = np.empty((10, 100), np.float32).T
    memory_1 = np.empty(100, np.float32)
    v12 = memory_1.reshape(100, 1)
    v22 = memory_1[0:64]
    v13 = np.empty((10, 100), np.float32).T
    d_h_4 = d_h_3 = d_h_2 = d_h_1 = np.empty((100, 64), np.float32)
    v15 = np.empty((100, 64), np.float32)
    v21 = np.empty((400, 64), np.float32)
    v3, v4, v5, h_4, h_1 = v2[0:100], v2[100:200], v2[200:300], v2[300:400], v20[100:200]
    h_2, h_3, v16, v17, v18 = v20[200:300], v20[300:400], v21[300:400], v21[200:300], v21[100:200]
    v19 = v21[0:100]
    h = np.zeros((100, 64), np.float32)
    classes = np.arange(10, dtype=np.int32)
    h_T, v3_T, h_1_T, v4_T, h_2_T, v5_T, h_3_T = h.T, v3.T, h_1.T, v4.T, h_2.T, v5.T, h_3.T
    h_4_T, v10_part, v20_part, v21_T, v1_T = h_4.T, v10[:, None], v20[0:100], v21.T, v1.T
    v20_T = v20.T

    def rnn_step(params, x, y, *, lr=0.015):
        """One training step on `rnn`, in place; returns the loss."""
        Wx, Wh, bh, Wo, bo = params["Wx"], params["Wh"], params["bh"], params["Wo"], params["bo"]
        # --- forward ----------------------------------------------------------
        # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
        x_t = x[:, 0:196]
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.concatenate((x_t, x[:, 196:392], x[:, 392:588], x[:, 588:]), out=v1)
        np.matmul(v1, Wx, out=v2)
        np.add(v2, bh, out=v2)
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
        np.matmul(h_4, Wo, out=shifted)
        np.add(shifted, bo, out=shifted)
        if np.minimum.reduce(y, axis=None) < 0 or np.maximum.reduce(y, axis=None) >= 10:
            raise IndexError("softmax_cross_entropy: a label is not one of the classes")
        np.copyto(v10, y, casting="unsafe")
        np.equal(v10_part, classes, out=hot)
        np.maximum.reduce(shifted, axis=1, keepdims=True, out=v11)
        np.subtract(shifted, v11, out=shifted)
        np.exp(shifted, out=exps)
        np.add.reduce(exps, axis=1, keepdims=True, out=total)
        np.log(total, out=v12)
        np.copyto(v13, 0)
        np.copyto(v13, shifted, where=hot)
        loss = (np.add.reduce(v12, axis=None) - np.add.reduce(v13, axis=None)) / 100
        # --- adjoint ----------------------------------------------------------
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        np.divide(exps, total, out=exps)
        np.copyto(v14, hot, casting="unsafe")
        np.subtract(exps, v14, out=exps)
        np.multiply(exps, np.float32(0.01), out=exps)
        np.add.reduce(exps, axis=0, out=d_bo)
        np.matmul(exps, Wo.T, out=d_h_4)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        np.multiply(h_4, h_4, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_4, v15, out=v16)
        np.matmul(v16, Wh.T, out=d_h_3)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        np.multiply(h_3, h_3, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_3, v15, out=v17)
        np.matmul(v17, Wh.T, out=d_h_2)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        np.multiply(h_2, h_2, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_2, v15, out=v18)
        np.matmul(v18, Wh.T, out=d_h_1)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.multiply(h_1, h_1, out=v15)
        np.subtract(1, v15, out=v15)
        np.multiply(d_h_1, v15, out=v19)
        np.copyto(v20_part, h)
        np.add.reduce(v21, axis=0, out=v22)
        # --- update: SGD, lr = 0.015 ------------------------------------------
        sgemm(-lr, v21_T, v1_T, 1.0, Wx.T, 0, 1, 1)  # Wx -= lr * v1.T @ v21
        sgemm(-lr, v21_T, v20_T, 1.0, Wh.T, 0, 1, 1)  # Wh -= lr * v20.T @ v21
        np.multiply(lr, v22, out=v22)
        bh -= v22
        sgemm(-lr, exps, h_4_T, 1.0, Wo.T, 1, 1, 1)  # Wo -= lr * h_4.T @ exps
        np.multiply(lr, d_bo, out=d_bo)
        bo -= d_bo
        return loss

    return rnn_step
