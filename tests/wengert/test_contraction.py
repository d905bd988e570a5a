"""Contractions by their axes: read, named, and written for other operands."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Equation, Variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.contraction import Contraction, contracting, summed_size
from stcompile.wengert.types import type_of

SIZES = dict(zip("abcdef", (2, 3, 4, 5, 1, 2), strict=True))


@st.composite
def products(draw: st.DrawFn) -> tuple[str, str, str]:
    """The names of the axes of two operands and of their product."""
    names = draw(st.permutations(sorted(SIZES)))
    split = sorted(draw(st.tuples(*[st.integers(0, 6)] * 3)))
    batch, summed, left, right = (names[a:b] for a, b in zip((0, *split), (*split, 6), strict=True))
    x = draw(st.permutations([*batch, *summed, *left]))
    y = draw(st.permutations([*batch, *summed, *right]))
    result = draw(st.permutations([*batch, *left, *right]))
    return "".join(x), "".join(y), "".join(result)


def operand(names: str) -> np.ndarray:
    shape = [SIZES[name] for name in names]
    return np.random.default_rng(len(names)).integers(-4, 5, shape).astype(float)


def equation_of(contraction: Contraction, *operands: np.ndarray) -> Equation:
    inputs = tuple(Variable(f"x{i}", type_of(x)) for i, x in enumerate(operands))
    params = contraction.params
    (type,) = infer("contract", tuple(v.type for v in inputs), params)
    return Equation((Variable("z", type),), "contract", inputs, params)


@given(products())
def test_it_is_written_by_the_names_of_axes(names: tuple[str, str, str]) -> None:
    x, y, result = names
    if not x or not y:
        return
    a, b = operand(x), operand(y)
    contraction = Contraction.of_names(x, y, result)
    value = apply("contract", (a, b), contraction.params)
    np.testing.assert_array_equal(value, np.einsum(f"{x},{y}->{result}", a, b))
    equation = equation_of(contraction, a, b)
    assert Contraction.of(equation) == contraction
    own = contraction.names
    assert Contraction.of_names(*own).is_like(contraction.renamed(*own[:2]))
    assert contraction.renamed(*own[:2]) == contraction
    assert summed_size(equation) == np.prod([SIZES[n] for n in {*x} & {*y} - {*result}])


@given(products(), st.data())
def test_it_reads_what_an_operand_is_the_transpose_of(
    names: tuple[str, str, str], data: st.DataObject
) -> None:
    x, y, result = names
    if not x or not y:
        return
    operands = [operand(x), operand(y)]
    contraction = Contraction.of_names(x, y, result)
    value = apply("contract", tuple(operands), contraction.params)
    side = data.draw(st.sampled_from((0, 1)))
    axes = data.draw(st.permutations(range(operands[side].ndim)))
    source = np.empty([operands[side].shape[axes.index(i)] for i in range(len(axes))])
    source.transpose(axes)[...] = operands[side]
    operands[side] = source
    turned = contraction.turned(side, axes)
    np.testing.assert_array_equal(apply("contract", tuple(operands), turned.params), value)


def test_axes_are_paired_summed_or_free() -> None:
    contraction = Contraction((4, 3), batch=((1, 0),), contracted=((3, 1),))
    assert [contraction.batched(side) for side in (0, 1)] == [(1,), (0,)]
    assert [contraction.summed(side) for side in (0, 1)] == [(3,), (1,)]
    assert [contraction.free(side) for side in (0, 1)] == [(0, 2), (2,)]
    assert not contraction.is_plain


def test_a_product_is_transposed() -> None:
    x, y = operand("ab"), operand("bc")
    rows = Contraction((2, 2), contracted=((1, 0),), spelling="matmul")
    assert rows.is_like(Contraction((2, 2), contracted=((1, 0),)))
    assert rows.params == freeze(contracting((1, 0), spelling="matmul"))
    value = apply("contract", (x, y), rows.transposed().params)
    np.testing.assert_array_equal(value, (x @ y).T)
    assert rows.transposed().transposed() == Contraction((2, 2), contracted=((1, 0),))
