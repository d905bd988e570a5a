"""What each line of generated code computes: the items that its statement knows."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from stcompile.base.options import Options
from stcompile.emit.origins import all_items_of, items_of
from stcompile.transforms.gradient import Gradient


def loss(w, x):
    h = np.tanh(x @ w)
    return np.mean(h * h)


def steps(w, x):
    for t in range(20):
        if np.sum(w) > t:
            w = w * x[t]
    return np.sum(w)


def differences(x):
    return np.sum(x[0] * x[1] - x[1])


def fused(w, x):
    return np.sum(np.tanh(x @ w + w @ w - 2.0 * (w.T @ w)))


CASES = [
    (fused, (np.ones((40, 40)), np.ones((40, 40)))),
    (loss, (np.ones((3, 2)), np.ones((4, 3)))),
    (steps, (np.ones(3), np.ones((20, 3)))),
    (differences, (np.ones((2, 3)),)),
]


def computed(function: Any, arguments: Any, level: Any) -> dict[str, list[str]]:
    """By line: the variables that are computed there."""
    made = Gradient(function, 0, True, Options(level, blas=False))
    emitted = made.specialise(made.bind(arguments, {})).emitted
    lines = emitted.source.split("\n")
    return {
        lines[at - 1].strip(): [o.name for i in all_items_of(s) for o in i.source.outputs]
        for at, s in emitted.statements.items()
    }


def test_a_line_knows_what_is_written_in_it() -> None:
    found = computed(*CASES[1], "readable")
    assert found["h = np.tanh(x @ w)"] == ["h", "v1"]
    assert found["v1 = h * h"] == ["v2"]
    assert found["d_w = x.T @ (d_h * (1 - v1))"] == ["d_w", "v4", "v3"]
    assert found["return value, d_w"] == []


def test_at_the_fast_level_too() -> None:
    found = computed(*CASES[1], "fast")
    assert any(line.startswith("np.tanh(") and names == ["h"] for line, names in found.items())


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_every_equation_is_somewhere(function: Any, arguments: Any, level: Any) -> None:
    """All that computes something is found in a line, branches and loops as well."""
    made = Gradient(function, 0, True, Options(level))
    specialised = made.specialise(made.bind(arguments, {}))
    emitted = specialised.emitted
    noted = {item for s in emitted.statements.values() for item in all_items_of(s)}
    assert [item for _, item in emitted.tree.items() if item not in noted] == []


def test_an_inlined_value_notes_the_code_it_is_written_as() -> None:
    made = Gradient(loss, 0, True, Options("readable"))
    emitted = made.specialise(made.bind(CASES[1][1], {})).emitted
    (last,) = (s for s in emitted.statements.values() if ast.unparse(s).startswith("d_w ="))
    assert isinstance(last, ast.Assign)
    assert isinstance(last.value, ast.BinOp)
    (item,) = items_of(last.value.right)
    assert ast.unparse(last.value.right) == "d_h * (1 - v1)"
    assert item.source.output.name == "v4"
