"""The formulas of softmax and its logarithm, for `stcompile.nn` and `scipy.special`, which differ
only in the ``shift`` that they subtract so that nothing overflows: any number near the largest."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(x: Any, shift: Any, axis: Any) -> Any:
    exps = np.exp(x - shift)
    return exps / np.sum(exps, axis=axis, keepdims=True)


def log_softmax(x: Any, shift: Any, axis: Any) -> Any:
    shifted = x - shift
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
