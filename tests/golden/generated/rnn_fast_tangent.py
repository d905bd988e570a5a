import numpy as np
from scipy.linalg.blas import sgemm


def workspace():
    """`rnn_tangent` with its buffers: 524,400 bytes, made once."""
    memory = np.empty(78400, np.float32)
    v1 = memory.reshape(400, 196)
    v4 = memory[0:6400].reshape(100, 64)
    v5 = memory[0:1000].reshape(10, 100).T
    memory_1 = np.empty(25600, np.float32)
    v2 = memory_1.reshape(400, 64)
    v8 = memory_1[0:100].reshape(100, 1)
    exps = memory_1[0:1000].reshape(10, 100).T
    memory_2 = np.empty(25600, np.float32)
    v3 = memory_2.reshape(400, 64)
    shifted = v11 = memory_2[0:1000].reshape(10, 100).T
    v6 = np.empty(100, np.int16)
    hot = np.empty((10, 100), np.bool_).T
    total = np.empty((100, 1), np.float32)
    v9 = np.empty((100, 1), np.float32)
    v10 = np.empty((10, 100), np.float32).T
    h_1, h_2, h_3, h_4, h_dot = v2[0:100], v2[100:200], v2[200:300], v2[300:400], v3[0:100]
    h_dot_1, h_dot_2, h_dot_3 = v3[100:200], v3[200:300], v3[300:400]
    h = np.zeros((100, 64), np.float32)
    v7 = np.arange(10, dtype=np.int16)
    v1_T, v2_T, v3_T, h_T, h_1_T, h_dot_T, v4_T = v1.T, v2.T, v3.T, h.T, h_1.T, h_dot.T, v4.T
    h_2_T, h_dot_1_T, h_3_T, h_dot_2_T, h_4_T = h_2.T, h_dot_1.T, h_3.T, h_dot_2.T, h_4.T
    h_dot_3_T, v6_part = h_dot_3.T, v6[:, None]

    def rnn_tangent(params, params_dot, x, y):
        """`rnn_tangent`, compiled."""
        Wx, Wh, bh, Wo, bo = params["Wx"], params["Wh"], params["bh"], params["Wo"], params["bo"]
        Wx_dot, Wh_dot, bh_dot = params_dot["Wx"], params_dot["Wh"], params_dot["bh"]
        Wo_dot, bo_dot = params_dot["Wo"], params_dot["bo"]
        # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
        x_t = x[:, 0:196]
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
        np.concatenate((x_t, x[:, 196:392], x[:, 392:588], x[:, 588:]), out=v1)
        np.copyto(v2, bh)
        sgemm(1.0, Wx.T, v1_T, 1.0, v2_T, 0, 0, 1)  # v2 += v1 @ Wx
        np.copyto(v3, bh_dot)
        sgemm(1.0, Wx_dot.T, v1_T, 1.0, v3_T, 0, 0, 1)  # v3 += v1 @ Wx_dot
        sgemm(1.0, Wh.T, h_T, 1.0, h_1_T, 0, 0, 1)  # h_1 += h @ Wh
        sgemm(1.0, Wh_dot.T, h_T, 1.0, h_dot_T, 0, 0, 1)  # h_dot += h @ Wh_dot
        np.tanh(h_1, out=h_1)
        np.multiply(h_1, h_1, out=v4)
        np.subtract(1, v4, out=v4)
        np.multiply(h_dot, v4, out=h_dot)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
        sgemm(1.0, Wh_dot.T, h_1_T, 0.0, v4_T, 0, 0, 1)  # v4 = h_1 @ Wh_dot
        sgemm(1.0, Wh.T, h_dot_T, 1.0, v4_T, 0, 0, 1)  # v4 += h_dot @ Wh
        sgemm(1.0, Wh.T, h_1_T, 1.0, h_2_T, 0, 0, 1)  # h_2 += h_1 @ Wh
        np.add(h_dot_1, v4, out=h_dot_1)
        np.tanh(h_2, out=h_2)
        np.multiply(h_2, h_2, out=v4)
        np.subtract(1, v4, out=v4)
        np.multiply(h_dot_1, v4, out=h_dot_1)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
        sgemm(1.0, Wh_dot.T, h_2_T, 0.0, v4_T, 0, 0, 1)  # v4 = h_2 @ Wh_dot
        sgemm(1.0, Wh.T, h_dot_1_T, 1.0, v4_T, 0, 0, 1)  # v4 += h_dot_1 @ Wh
        sgemm(1.0, Wh.T, h_2_T, 1.0, h_3_T, 0, 0, 1)  # h_3 += h_2 @ Wh
        np.add(h_dot_2, v4, out=h_dot_2)
        np.tanh(h_3, out=h_3)
        np.multiply(h_3, h_3, out=v4)
        np.subtract(1, v4, out=v4)
        np.multiply(h_dot_2, v4, out=h_dot_2)
        # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
        sgemm(1.0, Wh_dot.T, h_3_T, 0.0, v4_T, 0, 0, 1)  # v4 = h_3 @ Wh_dot
        sgemm(1.0, Wh.T, h_dot_2_T, 1.0, v4_T, 0, 0, 1)  # v4 += h_dot_2 @ Wh
        sgemm(1.0, Wh.T, h_3_T, 1.0, h_4_T, 0, 0, 1)  # h_4 += h_3 @ Wh
        np.add(h_dot_3, v4, out=h_dot_3)
        np.tanh(h_4, out=h_4)
        np.multiply(h_4, h_4, out=v4)
        np.subtract(1, v4, out=v4)
        np.multiply(h_dot_3, v4, out=h_dot_3)
        # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
        sgemm(1.0, h_4_T, Wo_dot.T, 0.0, v5, 1, 1, 1)  # v5 = h_4 @ Wo_dot
        sgemm(1.0, h_dot_3_T, Wo.T, 1.0, v5, 1, 1, 1)  # v5 += h_dot_3 @ Wo
        np.copyto(shifted, bo)
        sgemm(1.0, h_4_T, Wo.T, 1.0, shifted, 1, 1, 1)  # shifted += h_4 @ Wo
        np.add(v5, bo_dot, out=v5)
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
        np.divide(exps, total, out=exps)
        np.copyto(v11, hot, casting="unsafe")
        np.subtract(exps, v11, out=exps)
        np.multiply(v5, exps, out=v5)
        loss_dot = np.add.reduce(v5, axis=None) * 0.01
        return loss, loss_dot

    return rnn_tangent
