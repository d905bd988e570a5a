import numpy as np


def factors_value_and_grad(alphas, means, entries, x):
    """The value of `factors` and its gradient with respect to `alphas` and `means` and `entries`."""
    # --- forward --------------------------------------------------------------
    # models.py:57  lower = np.zeros((k, d, d))
    lower = np.zeros((5, 3, 3), np.float64)
    # models.py:58  rows, columns = np.tril_indices(d)
    rows = np.array([0, 1, 1, 2, 2, 2], np.int64)
    columns = np.array([0, 0, 1, 0, 1, 2], np.int64)
    # models.py:59  lower[:, rows, columns] = entries
    lower[:, rows, columns] = entries
    # models.py:60  scaled = np.einsum("kij,nkj->nki", lower, x[:, None] - means)
    v1 = x[:, None] - means
    scaled = np.einsum("bij,kbj->kbi", lower, v1)
    # models.py:61  scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
    scores = alphas - 0.5 * np.sum(scaled ** 2, axis=2)
    # models.py:62  top = np.max(scores, axis=1, keepdims=True)
    top = np.max(scores, axis=1, keepdims=True)
    # models.py:63  return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
    v2 = np.exp(scores - top)
    v3 = np.sum(v2, axis=1)
    value = -np.mean(top[:, 0] + np.log(v3))
    # --- adjoint --------------------------------------------------------------
    # models.py:63  return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
    d_scores = (-0.005 / v3)[:, None] * v2
    # models.py:61  scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
    d_alphas = np.sum(d_scores, axis=0)
    d_scaled = -(d_scores[..., None] * scaled)
    # models.py:60  scaled = np.einsum("kij,nkj->nki", lower, x[:, None] - means)
    d_lower = np.einsum("ibj,ibk->bjk", d_scaled, v1)
    d_means = -np.sum(np.einsum("bij,kbi->kbj", lower, d_scaled), axis=0)
    # models.py:59  lower[:, rows, columns] = entries
    d_entries = d_lower[:, rows, columns]
    return value, (d_alphas, d_means, d_entries)
