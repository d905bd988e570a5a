import array_api_strict as xp


def rnn_value_and_grad(params, x, y):
    """The value of `rnn` and its gradient with respect to `params`."""
    Wx = params["Wx"]
    Wh = params["Wh"]
    bh = params["bh"]
    Wo = params["Wo"]
    bo = params["bo"]
    device = params["Wx"].device
    # --- forward --------------------------------------------------------------
    # models.py:31  h = np.zeros((x.shape[0], 64), x.dtype)
    h = xp.zeros((100, 64), dtype=xp.float32, device=device)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 0)
    x_t = x[:, 0:196]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
    h_1 = xp.tanh(x_t @ Wx + h @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 1)
    x_t_1 = x[:, 196:392]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
    h_2 = xp.tanh(x_t_1 @ Wx + h_1 @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 2)
    x_t_2 = x[:, 392:588]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
    h_3 = xp.tanh(x_t_2 @ Wx + h_2 @ Wh + bh)
    # models.py:33  x_t = x[:, 196 * t : 196 * (t + 1)]    (t = 3)
    x_t_3 = x[:, 588:]
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
    h_4 = xp.tanh(x_t_3 @ Wx + h_3 @ Wh + bh)
    # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v1 = h_4 @ Wo + bo
    if xp.min(y) < 0 or xp.max(y) >= 10:
        raise IndexError("softmax_cross_entropy: a label is not one of the classes")
    hot = (
        xp.reshape(xp.astype(y, xp.int16), (100, 1))
        == xp.arange(0, 10, 1, dtype=xp.int16, device=device)
    )
    shifted = v1 - xp.max(v1, axis=1, keepdims=True)
    exps = xp.exp(shifted)
    total = xp.sum(exps, axis=1, keepdims=True)
    loss = (xp.sum(xp.log(total)) - xp.sum(xp.where(hot, shifted, 0))) / 100
    # --- adjoint --------------------------------------------------------------
    # models.py:35  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v2 = (exps / total - xp.astype(hot, xp.float32)) * 0.01
    d_bo = xp.sum(v2, axis=0)
    d_h_4 = v2 @ Wo.T
    d_Wo = h_4.T @ v2
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 3)
    v3 = d_h_4 * (1 - h_4 * h_4)
    d_bh = xp.sum(v3, axis=0)
    d_h_3 = v3 @ Wh.T
    d_Wh = h_3.T @ v3
    d_Wx = x_t_3.T @ v3
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 2)
    v4 = d_h_3 * (1 - h_3 * h_3)
    d_bh += xp.sum(v4, axis=0)
    d_h_2 = v4 @ Wh.T
    d_Wh += h_2.T @ v4
    d_Wx += x_t_2.T @ v4
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 1)
    v5 = d_h_2 * (1 - h_2 * h_2)
    d_bh += xp.sum(v5, axis=0)
    d_h_1 = v5 @ Wh.T
    d_Wh += h_1.T @ v5
    d_Wx += x_t_1.T @ v5
    # models.py:34  h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])    (t = 0)
    v6 = d_h_1 * (1 - h_1 * h_1)
    d_bh += xp.sum(v6, axis=0)
    d_Wh += h.T @ v6
    d_Wx += x_t.T @ v6
    return loss, {"Wx": d_Wx, "Wh": d_Wh, "bh": d_bh, "Wo": d_Wo, "bo": d_bo}
