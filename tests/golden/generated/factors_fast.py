import numpy as np


def workspace():
    """`factors_value_and_grad` with its buffers: 83,680 bytes, made once."""
    lower = np.empty((5, 3, 3), np.float64)
    v1 = np.empty((5, 3), np.float64)
    v2 = np.empty((200, 5, 3), np.float64)
    scaled = d_scaled = np.empty((5, 3, 200), np.float64).transpose(2, 0, 1)
    memory = np.empty(3000, np.float64)
    v3 = memory.reshape(5, 3, 200).transpose(2, 0, 1)
    top = memory[0:200].reshape(200, 1)
    scores = d_scores = np.empty((200, 5), np.float64)
    memory_1 = np.empty(200, np.float64)
    v4 = memory_1
    d_lower = memory_1[0:45].reshape(5, 3, 3)
    v5 = np.empty(200, np.float64)
    rows = np.array([0, 1, 1, 2, 2, 2], np.int64)
    columns = np.array([0, 0, 1, 0, 1, 2], np.int64)
    ones = np.ones(200, np.float64)
    v2_T = v2.transpose(1, 2, 0)
    scaled_T = scaled.transpose(1, 2, 0)
    top_part, v4_part, d_scores_part = top[:, 0], v4[:, None], d_scores[..., None]
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
        np.subtract(scores, top, out=scores)
        np.exp(scores, out=scores)
        np.add.reduce(scores, axis=1, out=v4)
        np.log(v4, out=v5)
        np.add(top_part, v5, out=v5)
        value = -(np.add.reduce(v5, axis=None) / 200)
        # --- adjoint ----------------------------------------------------------
        # models.py:63  return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
        np.divide(-0.005, v4, out=v4)
        np.multiply(v4_part, scores, out=d_scores)
        # models.py:61  scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
        d_alphas = ones @ d_scores
        np.negative(d_scores, out=d_scores)
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
