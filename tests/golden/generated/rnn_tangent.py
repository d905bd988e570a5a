import numpy as np


def rnn_tangent(params, params_dot, x, y):
    """`rnn_tangent`, compiled."""
    Wx = params["Wx"]
    Wh = params["Wh"]
    bh = params["bh"]
    Wo = params["Wo"]
    bo = params["bo"]
    Wx_dot = params_dot["Wx"]
    Wh_dot = params_dot["Wh"]
    bh_dot = params_dot["bh"]
    Wo_dot = params_dot["Wo"]
    bo_dot = params_dot["bo"]
    # models.py:31  h = np.zeros((x.shape[0], 64), x.dtype)
    h = np.zeros((100, 64), np.float32)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
    x_t = x[:, 0:196]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
    h_1 = np.tanh(x_t @ Wx + h @ Wh + bh)
    h_dot = (x_t @ Wx_dot + h @ Wh_dot + bh_dot) * (1 - h_1 * h_1)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 1)
    x_t_1 = x[:, 196:392]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
    v1 = x_t_1 @ Wx
    v2 = x_t_1 @ Wx_dot
    v3 = h_1 @ Wh
    v4 = h_1 @ Wh_dot
    v4 += h_dot @ Wh
    h_2 = np.tanh(v1 + v3 + bh)
    h_dot_1 = (v2 + v4 + bh_dot) * (1 - h_2 * h_2)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 2)
    x_t_2 = x[:, 392:588]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
    v5 = x_t_2 @ Wx
    v6 = x_t_2 @ Wx_dot
    v7 = h_2 @ Wh
    v8 = h_2 @ Wh_dot
    v8 += h_dot_1 @ Wh
    h_3 = np.tanh(v5 + v7 + bh)
    h_dot_2 = (v6 + v8 + bh_dot) * (1 - h_3 * h_3)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 3)
    x_t_3 = x[:, 588:]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
    v9 = x_t_3 @ Wx
    v10 = x_t_3 @ Wx_dot
    v11 = h_3 @ Wh
    v12 = h_3 @ Wh_dot
    v12 += h_dot_2 @ Wh
    h_4 = np.tanh(v9 + v11 + bh)
    h_dot_3 = (v10 + v12 + bh_dot) * (1 - h_4 * h_4)
    # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v13 = h_4 @ Wo
    v14 = h_4 @ Wo_dot
    v14 += h_dot_3 @ Wo
    v15 = v13 + bo
    v16 = v14 + bo_dot
    if np.min(y) < 0 or np.max(y) >= 10:
        raise IndexError("softmax_cross_entropy: a label is not one of the classes")
    hot = y.astype(np.int16)[:, None] == np.arange(10, dtype=np.int16)
    shifted = v15 - np.max(v15, axis=1, keepdims=True)
    exps = np.exp(shifted)
    total = np.sum(exps, axis=1, keepdims=True)
    loss = (np.sum(np.log(total)) - np.sum(np.where(hot, shifted, 0))) / 100
    loss_dot = np.sum(v16 * (exps / total - hot)) * 0.01
    return loss, loss_dot
