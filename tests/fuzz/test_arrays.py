"""What is drawn of programs about arrays of every kind, and how they are judged."""

from __future__ import annotations

import re

import numpy as np
import pytest

from stcompile.transforms.primal import Primal
from tests.fuzz.arrays import program
from tests.fuzz.judge_arrays import judge_source
from tests.fuzz.structures import copied

SMOOTH = "def program(x, y):\n    v = x * 1.0\n    v[0] = y\n    return (v, v.T * 2)\n"
CALLS = ((np.ones((2, 3)), np.arange(3.0)),)


OCCUR = {
    "complex": r"\dj\b",
    "a signed zero": r"[^\d.]-0\.0",
    "infinity": r"np\.inf",
    "nan": r"np\.nan",
    "a small integer": r"np\.u?int8\(",
    "a boolean array": r"= ~?\(?\w+ > 0",
    "a view backwards": r"\[::-1\]\.T|\.T\[::-1\]",
    "a write through a transpose": r"(?m)^ +\w+\.T\[.*\] [+*-]?= ",
    "an overlapping copy": r"(?m)^ +(\w+)\[.*\] = \1\[",
    "a constant in a loop": r"(?m)^ +u = np\.",
    "a list of constants": r"\.append\(np\.(ones|full|zeros|arange|eye)",
    "a rotation": r"p, q, r = q, [rp], ",
}


def test_all_of_it_occurs():
    drawn = [program(seed) for seed in range(400)]
    sources = [source for source, _ in drawn]
    for what, pattern in OCCUR.items():
        assert any(re.search(pattern, source) for source in sources), what
    calls = [args for _, all_args in drawn for args in all_args]
    matrices, vectors = [args[0] for args in calls], [args[1] for args in calls]
    assert any(x.flags.f_contiguous and not x.flags.c_contiguous for x in matrices)
    assert any(not x.flags.f_contiguous and not x.flags.c_contiguous for x in matrices)
    assert any(stride < 0 for x in matrices for stride in x.strides)
    assert any(x.size == 0 for x in matrices)
    assert any(y.ndim == 0 for y in vectors)
    assert {"b", "i", "f"} <= {y.dtype.kind for y in vectors}
    assert any(len({args[0].shape for args in all_args}) > 1 for _, all_args in drawn)


def test_a_copy_lies_in_memory_as_the_array_does():
    for _, calls in map(program, range(60)):
        for array in (array for args in calls for array in args):
            again = copied(array)
            assert (again.shape, again.strides, again.dtype) == (
                array.shape,
                array.strides,
                array.dtype,
            )
            np.testing.assert_array_equal(again, array)
            assert not np.shares_memory(again, array)


def test_a_program_that_is_right():
    verdict = judge_source(SMOOTH, CALLS)
    assert (verdict.kind, verdict.differences, verdict.kinks) == ("right", 1, 0)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_wrong_value_is_noticed(monkeypatch, level):
    call = Primal.__call__

    def wrong(self, *args):
        first, second = call(self, *args)
        return (first * (1.0001 if self.options.level == level else 1.0), second)

    monkeypatch.setattr(Primal, "__call__", wrong)
    verdict = judge_source(SMOOTH, CALLS)
    assert verdict.kind == "wrong"
    assert ("fast" in verdict.about) == (level == "fast")
