"""A loop in a derivative rule binds other symbols than the loops of the program around it."""

from __future__ import annotations

import numpy as np

from stcompile.ad import rules
from stcompile.codegen_templates.marks import adjoint
from stcompile.wengert.ir import Equation, Variable, mentioned
from stcompile.wengert.types import Type


@adjoint
def tanh(out, x, d_out):
    d_x = np.zeros(40)
    for i in range(40):
        d_x[i] = d_out[i] * np.sum(x[:i])
    return d_x


def test_symbols_are_named_after_the_rule(monkeypatch):
    monkeypatch.setattr(rules, "DERIVATIVES", {**rules.DERIVATIVES, "tanh": tanh})
    rules._rule.cache_clear()
    vector = Type.array(np.float64, (40,))
    equation = Equation((Variable("y", vector),), "tanh", (Variable("x", vector),))
    try:
        program = rules.rule_for(equation, (True,)).program
    finally:
        rules._rule.cache_clear()
    (loop,) = (e for e in program.equations if e.primitive == "loop")
    assert {s.name for s in mentioned(loop.params["body"].equations)} == {"tanh.i.1"}
