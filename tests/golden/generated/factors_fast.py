import numpy as np


def workspace():
    """`factors_value_and_grad` with its buffers: 92,680 bytes, made once."""
    lower = np.empty((5, 3, 3), np.float64)
    v1 = np.empty((5, 3), np.float64)
    v2 = np.empty((200, 5, 3), np.float64)
    scaled = d_scaled = np.empty((5, 3, 200), np.float64).transpose(2, 0, 1)
    memory = np.empty(3000, np.float64)
    v3 = memory.reshape(5, 3, 200).transpose(2, 0, 1)
    top = v8 = memory[0:200].reshape(200, 1)
    scores = v7 = np.empty((200, 5), np.float64)
    d_scores = np.empty((200, 5), np.float64)
    memory_1 = np.empty(200, np.float64)
    v4 = memory_1
    d_lower = memory_1[0:45].reshape(5, 3, 3)
    memory_2 = np.empty(200, np.float64)
    v5 = memory_2
    d_top = memory_2.reshape(200, 1)
    v6 = np.empty((200, 5), np.bool_)
    rows = np.array([0, 1, 1, 2, 2, 2], np.int64)
    columns = np.array([0, 0, 1, 0, 1, 2], np.int64)
    ones = np.ones(200, np.float64)
    v2_T = v2.transpose(1, 2, 0)
    scaled_T = scaled.transpose(1, 2, 0)
    top_part, v4_part = top[:, 0], v4[:, None]
    v4_2d = v4.reshape(200, 1)
    d_scores_part = d_scores[..., None]
    d_scaled_T = d_scaled.transpose(1, 2, 0)
    v2_T_1 = v2.transpose(1, 0, 2)
    lower_T = lower.mT

    def factors_value_and_grad(alphas, means, entries, x):
        """The value of `factors` and its gradient with respect to `alphas` and `means` and `entries`."""
        # --- forward ----------------------------------------------------------
        # models.py:57  lower = np.zeros((k, d, d))
        lower.fill(0)
        # models.py:59  lower[:, rows, columns] = entries
        lower[:, rows, columns] = entries
        # models.py:60  scaled = np.einsum("kij,nkj->nki", lower, x[:, None] - means)
        np.copyto(v1, means)
        np.subtract(x[:, None], v1, out=v2)
        np.matmul(lower, v2_T, out=scaled_T)
        # models.py:61  scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
        np.square(scaled, out=v3)
        np.add.reduce(v3, axis=2, out=scores)
        np.multiply(0.5, scores, out=scores)
        np.subtract(alphas, scores, out=scores)
        # models.py:62  top = np.max(scores, axis=1, keepdims=True)
        np.maximum.reduce(scores, axis=1, keepdims=True, out=top)
        # models.py:63  return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
        np.subtract(scores, top, out=d_scores)
        np.exp(d_scores, out=d_scores)
        np.add.reduce(d_scores, axis=1, out=v4)
        np.log(v4, out=v5)
        np.add(top_part, v5, out=v5)
        value = -(np.add.reduce(v5, axis=None) / 200)
        # --- adjoint ----------------------------------------------------------
        # models.py:63  return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
        np.divide(-0.005, v4, out=v4)
        np.multiply(v4_part, d_scores, out=d_scores)
        np.add.reduce(d_scores, axis=1, out=v4)
        np.negative(v4_2d, out=d_top)
        d_top[:, 0] -= 0.005
        # models.py:62  top = np.max(scores, axis=1, keepdims=True)
        np.equal(scores, top, out=v6)
        np.copyto(v7, v6, casting="unsafe")
        np.add.reduce(v7, axis=1, keepdims=True, out=v8)
        np.divide(d_top, v8, out=d_top)
        np.multiply(v7, d_top, out=v7)
        np.add(d_scores, v7, out=d_scores)
        # models.py:61  scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
        d_alphas = ones @ d_scores
        np.multiply(2, scaled, out=scaled)
        np.multiply(-0.5, d_scores, out=d_scores)
        np.multiply(d_scores_part, scaled, out=d_scaled)
        # models.py:60  scaled = np.einsum("kij,nkj->nki", lower, x[:, None] - means)
        np.matmul(d_scaled_T, v2_T_1, out=d_lower)
        np.matmul(lower_T, d_scaled_T, out=v2_T)
        np.add.reduce(v2, axis=0, out=v1)
        d_means = -v1
        # models.py:59  lower[:, rows, columns] = entries
        d_entries = d_lower[:, rows, columns]
        return value, (d_alphas, d_means, d_entries)

    return factors_value_and_grad
