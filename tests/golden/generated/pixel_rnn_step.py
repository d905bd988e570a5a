import numpy as np


def pixel_rnn_step(params, x, y, steps, *, lr=0.015):
    """One training step on `pixel_rnn`, in place; returns the loss."""
    Wx = params["Wx"]
    Wh = params["Wh"]
    bh = params["bh"]
    Wo = params["Wo"]
    bo = params["bo"]
    # --- forward --------------------------------------------------------------
    # models.py:78  h = np.zeros((x.shape[0], 16), x.dtype)
    h = np.zeros((20, 16), np.float32)
    # models.py:79  for t in range(steps):
    hs = np.empty((784, 20, 16), np.float32)
    hs_1 = np.empty((784, 20, 16), np.float32)
    for t in range(784):
        hs_1[t] = h
        # models.py:80  h = np.tanh(x[:, t : t + 1] @ params["Wx"] + h @ params["Wh"] + params["bh"…
        h = np.tanh(x[:, t : t + 1] @ Wx + h @ Wh + bh)
        hs[t] = h
    # models.py:81  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v1 = h @ Wo + bo
    if np.min(y) < 0 or np.max(y) >= 10:
        raise IndexError("softmax_cross_entropy: a label is not one of the classes")
    hot = y.astype(np.int16)[:, None] == np.arange(10, dtype=np.int16)
    shifted = v1 - np.max(v1, axis=1, keepdims=True)
    exps = np.exp(shifted)
    total = np.sum(exps, axis=1, keepdims=True)
    loss = (np.sum(np.log(total)) - np.sum(np.where(hot, shifted, 0))) / 20
    # --- adjoint --------------------------------------------------------------
    # models.py:81  return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)
    v2 = (exps / total - hot) * 0.05
    d_bo = np.sum(v2, axis=0)
    d_h = v2 @ Wo.T
    d_Wo = h.T @ v2
    # models.py:79  for t in range(steps):
    d_Wx = np.zeros((1, 16), np.float32)
    d_Wh = np.zeros((16, 16), np.float32)
    d_bh = np.zeros(16, np.float32)
    for t in reversed(range(784)):
        # models.py:80  h = np.tanh(x[:, t : t + 1] @ params["Wx"] + h @ params["Wh"] + params["bh"…
        v3 = d_h * (1 - hs[t] * hs[t])
        d_bh += np.sum(v3, axis=0)
        d_h = v3 @ Wh.T
        d_Wh += hs_1[t].T @ v3
        d_Wx += x[:, t : t + 1].T @ v3
    # --- update: SGD, lr = 0.015 ----------------------------------------------
    Wx -= lr * d_Wx
    Wh -= lr * d_Wh
    bh -= lr * d_bh
    Wo -= lr * d_Wo
    bo -= lr * d_bo
    return loss
