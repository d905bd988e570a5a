# ruff: noqa: E501 (a line of these programs is an equation)
"""Storage orders: programs with windows compute the same after they are laid out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.push_slices import push_slices
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.layout.choose_layouts import choose_layouts
from stcompile.passes.phases import push_maxima
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.rules import number_spread

RNG = np.random.default_rng(3)
WINDOWS = (
    "axis=(2, 3), start=(0, 0), count=(5, 4), step=(1, 1), size=(3, 2), dilation=(1, 1), order=()"
)
CONTRACT = "batch=(), contracted=((1, 1), (4, 2), (5, 3)), order=(0, 3, 1, 2), spelling=''"
HEAD = f"""  w: f64[20,3,5,4,3,2] = windows(x; {WINDOWS})
  z: f64[20,4,5,4] = contract(w, k; {CONTRACT})"""
X, K = RNG.normal(size=(20, 3, 7, 5)), RNG.normal(size=(4, 3, 3, 2))
INPUTS = "x: f64[20,3,7,5], k: f64[4,3,3,2]"


def program(body: str, outputs: str, inputs: str = INPUTS) -> Program:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return parse_program(f"program f({inputs}) {{\n{lines}\n  return {outputs}\n}}")


def check(before: Program, after: Program, *args: Any) -> None:
    verify(after)
    for found, wanted in zip(evaluate(after, *args), evaluate(before, *args), strict=True):
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


# What may follow a convolution, each with its result.
AFTER = {
    "elementwise": ("v: f64[20,4,5,4] = tanh(z)", "v"),
    "bias": (
        """c: f64[4,1,1,1] = slice(k; drop=(), length=(4, 1, 1, 1), start=((0,), (0,), (0,), (0,)), step=(1, 1, 1, 1))
        b: f64[4,1,1] = reshape(c; shape=(4, 1, 1))
        v: f64[20,4,5,4] = add(z, b)""",
        "v",
    ),
    "sum": ("v: f64[20,5] = sum(z; axis=(1, 3), keepdims=False)", "v"),
    "keepdims": (
        """m: f64[1,4,1,1] = mean(z; axis=(0, 2, 3), keepdims=True)
        v: f64[20,4,5,4] = subtract(z, m)""",
        "v",
    ),
    "reshape": ("v: f64[20,80] = reshape(z; shape=(20, 80))", "v"),
    "mixing reshape": ("v: f64[80,20] = reshape(z; shape=(80, 20))", "v"),
    "transpose": ("v: f64[20,5,4,4] = transpose(z; axes=(0, 2, 3, 1))", "v"),
    "slice": (
        "v: f64[20,5,2] = slice(z; drop=(1,), length=(20, 1, 5, 2), "
        "start=((0,), (2,), (0,), (3,)), step=(1, 1, 1, -2))",
        "v",
    ),
    "update": (
        """s: f64[20,1,5,4] = slice(z; drop=(), length=(20, 1, 5, 4), start=((0,), (2,), (0,), (0,)), step=(1, 1, 1, 1))
        o: f64[20,4,5,4] = full(0; dtype=f64, shape=(20, 4, 5, 4))
        v: f64[20,4,5,4] = accumulate(o, s; op='slice', drop=(), length=(20, 1, 5, 4), start=((0,), (1,), (0,), (0,)), step=(1, 1, 1, 1))""",
        "v",
    ),
    "concatenate": ("v: f64[20,8,5,4] = concatenate(z, z; axis=1)", "v"),
    "stack": ("v: f64[20,4,2,5,4] = stack(z, z; axis=2)", "v"),
    "pad": (
        "v: f64[20,4,7,4] = pad(z; mode='constant', pad_width=((0, 0), (0, 0), (1, 1), (0, 0)), value=0)",
        "v",
    ),
    "expand": (
        """e: f64[20,4,1,5,4] = expand_dims(z; axis=(2,))
        v: f64[20,4,5,4] = squeeze(e; axis=(2,))""",
        "v, e",
    ),
    "both factors": (
        "v: f64[4,4] = contract(z, z; batch=(), contracted=((0, 0), (2, 2), (3, 3)), order=(), spelling='')",
        "v",
    ),
    "batched": (
        "v: f64[4,20,20] = contract(z, z; batch=((1, 1),), contracted=((2, 2), (3, 3)), order=(), spelling='')",
        "v",
    ),
    "windows again": (
        "v: f64[20,4,4,4,2] = windows(z; axis=(2,), start=(0,), count=(4,), step=(1,), size=(2,), dilation=(1,), order=())",
        "v, z",
    ),
    "no rule": ("v: f64[20,4,5,4] = roll(z; shift=(1,), axis=(1,))", "v"),
    "the windows themselves": ("v: f64[20,3,5,4,3,2] = multiply(w, w)", "v, w"),
}


@pytest.mark.parametrize("what", AFTER)
def test_values_do_not_change(what: str) -> None:
    body, outputs = AFTER[what]
    before = program(f"{HEAD}\n{body}", outputs)
    after = choose_layouts(before)
    assert after is not before
    check(before, after, X, K)


def test_a_convolution_is_one_product_of_matrices() -> None:
    after = choose_layouts(program(HEAD, "z"))
    contracts = [e for e in after.equations if e.primitive == "contract"]
    assert [sorted(a.type.dims for a in e.inputs) for e in contracts] == [[(4, 18), (18, 400)]]
    turned = [e.inputs[0].type.dims for e in after.equations if e.primitive == "transpose"]
    assert turned == [(20, 3, 7, 5), (4, 3, 3, 2), (4, 5, 4, 20)]  # x, the kernel, and the result


def test_a_short_batch_stays_where_it_is() -> None:
    small = HEAD.replace("20,", "2,")
    before = program(small, "z", INPUTS.replace("20,", "2,"))
    after = choose_layouts(before)
    check(before, after, X[:2], K)
    (windows,) = (e for e in after.equations if e.primitive == "windows")
    assert windows.inputs[0].type.dims == (2, 3, 7, 5)


def test_programs_without_windows_stay_as_they_are() -> None:
    before = program("v: f64[20,3,7,5] = tanh(x)", "v")
    assert choose_layouts(before) is before


DENSE = f"""{HEAD}
  p: f64[20,80] = contract(d, y; batch=(), contracted=((1, 1),), order=(), spelling='')
  q: f64[20,4,5,4] = reshape(p; shape=(20, 4, 5, 4))
  v: f64[20,4,5,4] = multiply(q, z)"""
DENSE_ARGS = X, K, RNG.normal(size=(20, 6)), RNG.normal(size=(80, 6))


@pytest.mark.parametrize(
    ("more", "outputs", "dims"),
    [
        ("", "v", (80, 20)),
        ("u: f64[20,80] = tanh(p)", "v, u", (20, 80)),
        ("u: f64[20,4,5,4] = tanh(q)", "v, u", (20, 80)),
        ("", "v, p", (20, 80)),
    ],
)
def test_products_that_are_read_across_are_made_so(
    more: str, outputs: str, dims: tuple[int, ...]
) -> None:
    before = program(f"{DENSE}\n{more}", outputs, f"{INPUTS}, d: f64[20,6], y: f64[80,6]")
    after = choose_layouts(before)
    (made,) = (e for e in after.equations if e.output.name == "p")
    assert made.output.type.dims == dims
    check(before, after, *DENSE_ARGS)


# --- short rows -----------------------------------------------------------------------------------

ROWS = """  e: f64[5,1,4] = expand_dims(m; axis=(1,))
  d: f64[5,900,4] = subtract(x, e)
  z: f64[5,900,4] = contract(d, r; batch=((0, 0),), contracted=((2, 2),), order=(), spelling='')
  s: f64[5,900,4] = multiply(z, z)
  t: f64[5,900] = sum(s; axis=(2,), keepdims=False)"""
ROW_ARGS = RNG.normal(size=(900, 4)), RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4, 4))
ROW_INPUTS = "x: f64[900,4], m: f64[5,4], r: f64[5,4,4]"
AFTER_ROWS = {
    "nothing": ("u: f64[5,900] = exp(t)", "u"),
    "product over the rows": (
        "u: f64[5,4,4] = contract(d, s; batch=((0, 0),), contracted=((1, 1),), order=(), spelling='')",
        "u, t",
    ),
    "sum over the rows": ("u: f64[5,1,4] = sum(s; axis=(1,), keepdims=True)", "u, t"),
    "spread": (
        """c: f64[5,900,1] = expand_dims(t; axis=(2,))
        v: f64[5,900,4] = divide(z, c)
        u: f64[5,900] = max(v; axis=(2,), keepdims=False)""",
        "u",
    ),
    "added up": (
        """v: f64[5,900,4] = accumulate(z, s; op='add')
        u: f64[900,4] = sum(v; axis=(0,), keepdims=False)""",
        "u, t",
    ),
}


@pytest.mark.parametrize("what", AFTER_ROWS)
def test_short_rows_are_summed_across(what: str) -> None:
    body, outputs = AFTER_ROWS[what]
    before = program(f"{ROWS}\n{body}", outputs, ROW_INPUTS)
    after = choose_layouts(before)
    shapes = {e.output.name: e.output.type.dims for e in after.equations}
    assert shapes["d"] == shapes["z"] == shapes["s"] == (5, 4, 900)
    check(before, after, *ROW_ARGS)


@pytest.mark.parametrize(
    ("body", "outputs"),
    [
        ("u: f64[5,900] = exp(t)", "u, z"),  # is returned
        ("u: i64[5,900] = argmax(s; axis=2, keepdims=False)", "u, t"),
        ("u: f64[5,3600] = reshape(s; shape=(5, 3600))", "u, t"),
        ("u: f64[5,900,4] = roll(z; shift=(1,), axis=(1,))", "u, t"),
        ("u: f64[5,100,4] = slice(z; drop=(), length=(5, 100, 4), start=((0,), (0,), (0,)), step=(1, 1, 1))", "u, t"),
    ],
)  # fmt: skip
def test_what_is_read_in_its_own_order_stays(body: str, outputs: str) -> None:
    before = program(f"{ROWS}\n{body}", outputs, ROW_INPUTS)
    assert choose_layouts(before) is before


def test_few_short_rows_and_arguments_stay() -> None:
    few = program(ROWS.replace("900", "800"), "t", ROW_INPUTS.replace("900", "800"))
    assert choose_layouts(few) is few
    given = program(
        """s: f64[9000,4] = multiply(x, y)
        t: f64[9000] = sum(s; axis=(1,), keepdims=False)""",
        "t",
        "x: f64[9000,4], y: f64[4]",
    )
    assert choose_layouts(given) is given


# --- slices of windows and of what is pooled -------------------------------------------------------


def parts(value: str, dims: str) -> str:
    """The four parts of a pool of 2×2 over (20, 4, 5, 4), with their maximum."""
    lines = []
    for n, (i, j) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        start, length = f"((0,), (0,), ({i},), ({j},))", "(20, 4, 2, 2)"
        lines.append(f"p{n}: {dims} = slice({value}; drop=(), length={length}, start={start}, "
                     "step=(1, 1, 2, 2))")  # fmt: skip
    lines += [f"m1: {dims} = first_maximum(p0, p1)", f"m2: {dims} = first_maximum(m1, p2)"]
    return "\n".join([*lines, f"m3: {dims} = first_maximum(m2, p3)"])


def test_what_is_pooled_is_computed_in_parts() -> None:
    before = program(
        f"{HEAD}\nr: f64[20,4,5,4] = maximum(z, 0)\n{parts('r', 'f64[20,4,2,2]')}", "m3"
    )
    pushed = eliminate_dead_code(push_slices(before))
    check(before, pushed, X, K)
    assert [e.output.type.dims for e in pushed.equations if e.primitive == "contract"] == [
        (20, 4, 2, 2)
    ] * 4  # the fifth row is not computed
    assert not [e for e in pushed.equations if e.primitive == "slice"]
    maxima = push_maxima(pushed)
    check(before, maxima, X, K)
    assert len([e for e in maxima.equations if e.primitive == "maximum"]) == 1
    check(before, choose_layouts(maxima), X, K)


def test_margins_that_windows_do_not_read_are_not_computed() -> None:
    body = """y: f64[20,3,7,5] = tanh(x)
        w: f64[20,3,2,4,3,2] = windows(y; axis=(2, 3), start=(1, 0), count=(2, 4), step=(2, 1), size=(3, 2), dilation=(1, 1), order=())"""
    before = program(body, "w")
    after = eliminate_dead_code(push_slices(before))
    check(before, after, X, K)
    (tanh,) = (e for e in after.equations if e.primitive == "tanh")
    assert tanh.output.type.dims == (20, 3, 5, 5)


@pytest.mark.parametrize("drop", ["", "4"])
def test_a_slice_of_windows_is_windows(drop: str) -> None:
    dropped, kept = (f"({drop},)", "f64[20,3,2,2,2]") if drop else ("()", "f64[20,3,2,2,1,2]")
    part = f"v: {kept} = slice(w; drop={dropped}, length=(20, 3, 2, 2, 1, 2), start=((0,), (0,), (1,), (0,), (2,), (0,)), step=(1, 1, 3, 2, 1, 1))"
    before = program(f"w: f64[20,3,5,4,3,2] = windows(x; {WINDOWS})\n{part}", "v")
    after = eliminate_dead_code(push_slices(before))
    check(before, after, X, K)
    assert "slice" not in [e.primitive for e in after.equations]


def test_overlapping_parts_are_computed_once() -> None:
    part = "slice(t; drop=(), length=(20, 3, 6, 5), start=((0,), (0,), ({},), (0,)), step=(1, 1, 1, 1))"
    before = program(
        f"""t: f64[20,3,7,5] = tanh(x)
        a: f64[20,3,6,5] = {part.format(0)}
        b: f64[20,3,6,5] = {part.format(1)}""",
        "a, b",
    )
    after = push_slices(before)
    assert [e.primitive for e in after.equations].count("tanh") == 1


# --- maxima ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "moves"),
    [
        ("tanh({})", True),
        ("add({}, c)", True),
        ("subtract({}, c)", True),
        ("maximum({}, 0)", True),
        ("maximum({}, c)", False),  # c may be differentiated: ties
        ("subtract(c, {})", False),
        ("log({})", False),  # NaN for what loses
        ("negative({})", False),
        ("multiply({}, c)", False),  # of either sign
    ],
)
def test_increasing_functions_alone_move_behind_maxima(function: str, moves: bool) -> None:
    before = program(
        f"""a: f64[6] = {function.format("x")}
        b: f64[6] = {function.format("y")}
        m: f64[6] = first_maximum(a, b)""",
        "m",
        "x: f64[6], y: f64[6], c: f64[6]",
    )
    after = push_maxima(before)
    assert (len(after.equations) == 2) == moves
    x, y, c = RNG.uniform(0.5, 2, (3, 6))
    x[0] = np.nan
    check(before, after, x, y, c)


def test_maxima_of_different_functions_stay() -> None:
    before = program(
        """a: f64[6] = tanh(x)
        b: f64[6] = exp(y)
        m: f64[6] = first_maximum(a, b)""",
        "m",
        "x: f64[6], y: f64[6]",
    )
    assert push_maxima(before) is before


def test_what_is_read_elsewhere_stays() -> None:
    before = program(
        """a: f64[6] = tanh(x)
        b: f64[6] = tanh(y)
        m: f64[6] = first_maximum(a, b)""",
        "m, a",
        "x: f64[6], y: f64[6]",
    )
    assert push_maxima(before) is before


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_become_arrays_once_where_they_are_long() -> None:
    before = program(
        """a: f64[3000] = maximum(x, 0)
        b: f64[3000] = maximum(a, 0)
        c: f64[3000] = minimum(a, 1)
        d: f64[5] = maximum(y, 0)""",
        "b, c, d",
        "x: f64[3000], y: f64[5]",
    )
    after = share_equations(number_spread(before))
    assert [e.primitive for e in after.equations].count("full") == 2
    check(before, after, RNG.normal(size=3000), RNG.normal(size=5))


def test_of_the_functions_of_a_pool_none_is_repeated() -> None:
    """Emitted at the fast level: four products, one relu, no allocation of its own."""

    def pooled(k, x):
        w = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        a = np.maximum(np.tensordot(w, k, axes=((1, 4, 5), (1, 2, 3))), 0)
        return np.sum(np.maximum(a[:, ::2, ::2], a[:, 1::2, ::2]) ** 2)

    x, k = RNG.normal(size=(32, 2, 10, 10)), RNG.normal(size=(3, 2, 3, 3))
    fast, readable = (st.value_and_grad(pooled, level=level) for level in ("fast", "readable"))
    (v, d), (w, e) = fast(k, x), readable(k, x)
    assert v == pytest.approx(w, rel=1e-12)
    np.testing.assert_allclose(d, e, rtol=1e-10)


@pytest.mark.parametrize("level", ["fast", "compiled"])
def test_windows_times_themselves(level: Any) -> None:
    """The two factors are one value, which is laid out once."""

    def correlations(x):
        w = np.lib.stride_tricks.sliding_window_view(x, 3, axis=1)
        return np.sum(np.tensordot(w, w, axes=([0, 1], [0, 1])) ** 2)

    x = RNG.normal(size=(40, 6))
    found = st.grad(correlations, level=level)(x)
    np.testing.assert_allclose(found, st.grad(correlations, level="readable")(x), rtol=1e-11)
