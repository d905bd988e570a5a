"""The models in the subset of Python that tangent differentiates.

It knows no attributes such as ``x.shape``, so sizes and the first hidden state are arguments, and
labels are one-hot. Its generated code repeats annotations without their imports: there are none.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import tangent  # noqa: F401 - what it generates names it


def rnn(Wx, Wh, bh, Wo, bo, x, onehot, h, size, steps):
    for t in range(steps):
        h = np.tanh(np.dot(x[:, size * t : size * (t + 1)], Wx) + np.dot(h, Wh) + bh)
    scores = np.dot(h, Wo) + bo
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    logsums = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    loss = -np.mean(np.sum((shifted - logsums) * onehot, axis=1))
    return loss


def autoencoder(W1, b1, W2, b2, W3, x):
    h = 1.0 / (1.0 + np.exp(-(np.dot(W1, x) + b1)))
    code = 1.0 / (1.0 + np.exp(-(np.dot(W2, h) + b2)))
    difference = x - 1.0 / (1.0 + np.exp(-np.dot(W3, code)))
    loss = np.sum(difference * difference)
    return loss


def worked_example(x1, x2):
    y = np.log(x1) + x1 * x2 - np.sin(x2)
    return y


def gaussian_mixture(alphas, means, factors, x, positions, n, d, k, gamma, m, constant):
    logs = factors[:, :d]
    lower = factors[:, d:]
    diagonal = np.exp(logs)
    packed = np.concatenate((diagonal, lower), axis=1)
    roots = np.reshape(np.dot(packed, positions), (k, d, d))
    centred = x - np.reshape(means, (k, 1, d))
    scaled = np.matmul(centred, np.transpose(roots, (0, 2, 1)))
    weights = alphas + np.sum(logs, axis=1)
    terms = np.reshape(weights, (k, 1)) - 0.5 * np.sum(scaled * scaled, axis=2)
    largest = np.max(terms, axis=0, keepdims=True)
    logsums = np.log(np.sum(np.exp(terms - largest), axis=0))
    likelihood = np.sum(largest) + np.sum(logsums)
    top = np.max(alphas)
    normaliser = top + np.log(np.sum(np.exp(alphas - top)))
    squares = np.sum(diagonal * diagonal) + np.sum(lower * lower)
    prior = 0.5 * gamma * gamma * squares - m * np.sum(logs)
    y = constant + likelihood - n * normaliser + prior
    return y
