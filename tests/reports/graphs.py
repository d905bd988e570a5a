"""What the tests of computation graphs share: functions, and programs in text form."""

from __future__ import annotations

import numpy as np

import stcompile as st
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program


@st.differentiable(wrt=("x1", "x2"))
def worked(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


def loss(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    top = params["W2"][:3] * 2.0
    return st.nn.softmax_cross_entropy(h @ params["W2"] + np.mean(top), y)


def program_of(*lines: str, inputs: str, returned: str) -> Program:
    return parse_program("\n".join([f"program f({inputs}) {{", *lines, f"return {returned}", "}"]))
