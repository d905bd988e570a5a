"""Functions that pages are made of."""

from __future__ import annotations

import numpy as np

import stcompile as st

W, X = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 1, 12).reshape(4, 3)


@st.differentiable
def loss(w, x):
    h = np.tanh(x @ w)
    return np.mean(h * h)


def gated(x, s):
    for k in range(20):
        if x > s:
            x = x * x
        else:
            x = np.sin(x)
    return x
