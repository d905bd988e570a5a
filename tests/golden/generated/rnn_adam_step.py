import math

import numpy as np


def rnn_step(params, x, y, m, v, t, *, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08):
    """One training step on `rnn`, in place; returns the loss."""
    Wx = params["Wx"]
    Wh = params["Wh"]
    bh = params["bh"]
    Wo = params["Wo"]
    bo = params["bo"]
    m_Wx = m["Wx"]
    m_Wh = m["Wh"]
    m_bh = m["bh"]
    m_Wo = m["Wo"]
    m_bo = m["bo"]
    v_Wx = v["Wx"]
    v_Wh = v["Wh"]
    v_bh = v["bh"]
    v_Wo = v["Wo"]
    v_bo = v["bo"]
    # --- forward --------------------------------------------------------------
    # models.py:31  h = np.zeros((x.shape[0], 64), x.dtype)
    h = np.zeros((100, 64), np.float32)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
    x_t = x[:, 0:196]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
    h_1 = np.tanh(x_t @ Wx + h @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 1)
    x_t_1 = x[:, 196:392]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
    h_2 = np.tanh(x_t_1 @ Wx + h_1 @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 2)
    x_t_2 = x[:, 392:588]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
    h_3 = np.tanh(x_t_2 @ Wx + h_2 @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 3)
    x_t_3 = x[:, 588:]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
    h_4 = np.tanh(x_t_3 @ Wx + h_3 @ Wh + bh)
    # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v1 = h_4 @ Wo + bo
    if np.min(y) < 0 or np.max(y) >= 10:
        raise IndexError("softmax_cross_entropy: a label is not one of the classes")
    hot = y.astype(np.int16)[:, None] == np.arange(10, dtype=np.int16)
    shifted = v1 - np.max(v1, axis=1, keepdims=True)
    exps = np.exp(shifted)
    total = np.sum(exps, axis=1, keepdims=True)
    loss = (np.sum(np.log(total)) - np.sum(np.where(hot, shifted, 0))) / 100
    # --- adjoint --------------------------------------------------------------
    # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v2 = (exps / total - hot) * 0.01
    d_bo = np.sum(v2, axis=0)
    d_h_4 = v2 @ Wo.T
    d_Wo = h_4.T @ v2
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
    v3 = d_h_4 * (1 - h_4 * h_4)
    d_bh = np.sum(v3, axis=0)
    d_h_3 = v3 @ Wh.T
    d_Wh = h_3.T @ v3
    d_Wx = x_t_3.T @ v3
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
    v4 = d_h_3 * (1 - h_3 * h_3)
    d_bh += np.sum(v4, axis=0)
    d_h_2 = v4 @ Wh.T
    d_Wh += h_2.T @ v4
    d_Wx += x_t_2.T @ v4
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
    v5 = d_h_2 * (1 - h_2 * h_2)
    d_bh += np.sum(v5, axis=0)
    d_h_1 = v5 @ Wh.T
    d_Wh += h_1.T @ v5
    d_Wx += x_t_1.T @ v5
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
    v6 = d_h_1 * (1 - h_1 * h_1)
    d_bh += np.sum(v6, axis=0)
    d_Wh += h.T @ v6
    d_Wx += x_t.T @ v6
    # --- update: Adam, lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-08 ----
    number = float(t) + 1
    t += 1
    rate = lr / (1 - beta1 ** number)
    root = math.sqrt(1 - beta2 ** number)
    fresh1 = 1 - beta1
    fresh2 = 1 - beta2
    m_Wx *= beta1
    m_Wx += fresh1 * d_Wx
    v_Wx *= beta2
    v_Wx += fresh2 * (d_Wx * d_Wx)
    Wx -= rate * m_Wx / (np.sqrt(v_Wx) / root + eps)
    m_Wh *= beta1
    m_Wh += fresh1 * d_Wh
    v_Wh *= beta2
    v_Wh += fresh2 * (d_Wh * d_Wh)
    Wh -= rate * m_Wh / (np.sqrt(v_Wh) / root + eps)
    m_bh *= beta1
    m_bh += fresh1 * d_bh
    v_bh *= beta2
    v_bh += fresh2 * (d_bh * d_bh)
    bh -= rate * m_bh / (np.sqrt(v_bh) / root + eps)
    m_Wo *= beta1
    m_Wo += fresh1 * d_Wo
    v_Wo *= beta2
    v_Wo += fresh2 * (d_Wo * d_Wo)
    Wo -= rate * m_Wo / (np.sqrt(v_Wo) / root + eps)
    m_bo *= beta1
    m_bo += fresh1 * d_bo
    v_bo *= beta2
    v_bo += fresh2 * (d_bo * d_bo)
    bo -= rate * m_bo / (np.sqrt(v_bo) / root + eps)
    return loss
