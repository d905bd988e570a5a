"""Templates that write into a given array give the numbers of those that make a new one."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from stcompile.code.literals import name as named
from stcompile.code.templates import Operand, substitute_into, substitute_scalar
from stcompile.codegen_templates import buffered, numpy
from stcompile.codegen_templates.buffered import SCALARS
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.templates import BUFFERED as EVERY
from stcompile.wengert.templates import TEMPLATES, grouped, inplace_operands, positional
from stcompile.wengert.types import Type, type_of
from tests.programs import BINARY, OF_SCIPY, UNARY
from tests.templates.test_form import HELPERS, body_of
from tests.templates.test_results import contractions, equation_of

BUFFERED = {n: t for n, t in EVERY.items() if not n.startswith(OF_SCIPY)}
RNG = np.random.default_rng(0)
DTYPES = tuple(map(np.dtype, ("?", "i8", "f4", "f8", "c16")))
SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((7,), (7,)),
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((5, 3, 4), (5, 1, 4)),
    ((0, 3), (0, 3)),
)
WIDE = {np.dtype(d): 2**-21 for d in ("f4", "c8")}  # a few ulp
WIDE |= {np.dtype(d): 2**-50 for d in ("f8", "c16")}


@dataclass(frozen=True)
class Case:
    """An equation: a primitive with operands and params."""

    primitive: str
    inputs: tuple[Any, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = [type_of(x) if isinstance(x, np.ndarray) else x for x in self.inputs]
        return f"{self.primitive}-{shown}-{dict(self.params)}".replace(" ", "")

    def expected(self) -> Any:
        """What the template that makes a new array gives."""
        return run(TEMPLATES[self.primitive], self.inputs, self.params)


def run(template: Callable[..., Any], inputs: Sequence[Any], params: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return template(*grouped(template, inputs), **params)


def same(actual: Any, expected: Any) -> None:
    """Equal, for floats but for the last bits: NumPy has several loops for one function."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    wide = WIDE.get(expected.dtype, 0)
    np.testing.assert_allclose(actual, expected, rtol=wide, atol=0)


def filled(like: Any, order: str = "C") -> Any:
    """An array for the result, with something in it."""
    return np.full(like.shape, 77, like.dtype, order=order)


def numbers(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Numbers of both signs, from small to large."""
    found = RNG.normal(size=shape) * 3
    return (found + 1j * RNG.normal(size=shape) if dtype.kind == "c" else found).astype(dtype)


# --- the equations -------------------------------------------------------------------------------


def ufuncs() -> Iterator[Case]:
    for own in (*UNARY, *BINARY, "first_maximum", "complex_sign"):
        ufunc = getattr(np, own.removeprefix("first_").removeprefix("complex_"))
        if own not in BUFFERED:
            continue
        for dtype in DTYPES:
            if own == "complex_sign" and dtype.kind != "c":
                continue
            try:
                ufunc.resolve_dtypes((*[dtype] * ufunc.nin, None))
            except TypeError:
                continue
            for shapes in SHAPES:
                inputs = tuple(numbers(dtype, shape) for shape in shapes[: ufunc.nin])
                if not (own == "power" and dtype.kind == "i"):
                    yield Case(own, inputs)
            if ufunc.nin == 2 and dtype.kind == "f":
                yield Case(own, (numbers(dtype, (3, 4)), 2.5))
                yield Case(own, (2.5, numbers(dtype, (3, 4))))
    for dtype in map(np.dtype, ("f4", "f8")):
        yield Case("ldexp", (numbers(dtype, (3, 4)), np.array([1, -2, 3, 0])))


def powers() -> Iterator[Case]:
    for dtype in map(np.dtype, ("f4", "f8")):
        x = np.abs(numbers(dtype, (3, 4)))
        for y in (2, 2.0, 0.5, -1, -1.0, 3, 0.25):
            yield Case("power", (x, y))
    yield Case("power", (np.arange(5), 2))
    yield Case("power", (np.arange(5), np.arange(5)))
    yield Case("power", (2, numbers(np.dtype("f8"), (3, 4))))


def selections() -> Iterator[Case]:
    for dtype in map(np.dtype, ("i8", "f4", "f8")):
        x, y = numbers(dtype, (3, 4)), numbers(dtype, (3, 4))
        yield Case("where", (x > 0, x, y))
        yield Case("where", (x > 0, x, 0))
        yield Case("where", (x[0] > 0, 0, y))
        yield Case("where", (x > 0, x[0], y[:, :1]))
        yield Case("clip", (x, -1, 1))
        yield Case("clip", (x, y - 1, y))
        yield Case("copy", (x,))
        for other in DTYPES:
            yield Case("cast", (x,), {"dtype": other})
    yield Case("cast", (numbers(np.dtype("?"), (7,)),), {"dtype": np.dtype("f4")})


def reductions() -> Iterator[Case]:
    for dtype in map(np.dtype, ("?", "i4", "i8", "f4", "f8", "c16")):
        x = RNG.integers(-2, 3, (4, 3, 5)).astype(dtype)  # sums of these are exact
        if dtype.kind == "c":
            x = x + 1j * np.roll(x, 1)
        for axis in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
            for keepdims in (False, True):
                params = {"axis": axis, "keepdims": keepdims}
                for own in ("sum", "prod", "max", "min", "any", "all", "mean"):
                    yield Case(own, (x,), params)
                if dtype.kind in "fc":
                    for own in ("var", "std"):
                        yield Case(own, (x,), {**params, "ddof": 1})
        for axis in (0, 1, 2):
            yield Case("cumsum", (x,), {"axis": axis})
            for keepdims in (False, True):
                for own in ("argmax", "argmin"):
                    yield Case(own, (x,), {"axis": axis, "keepdims": keepdims})


def arrangements() -> Iterator[Case]:
    for dtype in map(np.dtype, ("i8", "f4", "f8", "c16")):
        x, y = numbers(dtype, (3, 4)), numbers(dtype, (3, 4))
        for axis in (0, 1):
            yield Case("concatenate", (x, y), {"axis": axis})
        yield Case("concatenate", (x, y[:1], x), {"axis": 0})
        yield Case("pack", (x, y[0], x.dtype.type(2)), {})
        for axis in (0, 1, 2):
            yield Case("stack", (x, y), {"axis": axis})
        for widths in (((1, 2), (0, 3)), ((0, 0), (0, 0))):
            params = {"pad_width": widths, "mode": "constant", "value": 2}
            yield Case("pad", (x,), params)
            yield Case("pad", (x[:0],), params)
        for v in (0, 1, 2.5, np.float32(3)):
            yield Case("full", (v,), {"shape": (3, 2), "dtype": dtype})


def products() -> Iterator[Case]:
    for dtype in map(np.dtype, ("i8", "f4", "f8")):
        x, y = (RNG.integers(-3, 4, (4, 4)).astype(dtype) for _ in range(2))
        for spelling in ("matmul", "dot", ""):
            params = {"batch": (), "contracted": ((1, 0),), "order": (), "spelling": spelling}
            yield Case("contract", (x, y), params)
        for pair in ((0, 0), (1, 1), (0, 1)):
            for order in ((), (1, 0)):
                params = {"batch": (), "contracted": (pair,), "order": order, "spelling": ""}
                yield Case("contract", (x, y), params)
        for axis in (0, 1):
            params = {"batch": (), "contracted": ((axis, 0),), "order": (), "spelling": "parts"}
            yield Case("contract", (x, np.stack([y, y[::-1]], axis=1)), params)
        for order in ((), (1, 0)):
            params = {"batch": (), "contracted": (), "order": order, "spelling": ""}
            yield Case("contract", (x[0], y[0, :3]), params)


def transforms() -> Iterator[Case]:
    for dtype in map(np.dtype, ("f4", "f8", "c8", "c16")):
        x = numbers(dtype, (3, 4))
        for own in ("fft", "ifft", "irfft") if dtype.kind == "c" else ("fft", "rfft"):
            for n, axis, norm in ((4, 1, "backward"), (5, 0, "ortho"), (2, 1, "forward")):
                yield Case(own, (x,), {"n": n, "axis": axis, "norm": norm})


CASES = [
    *(*ufuncs(), *powers(), *selections(), *reductions(), *arrangements(), *products()),
    *transforms(),
]


def test_all_are_tried() -> None:
    assert {case.primitive for case in CASES} == set(BUFFERED)


# --- what they compute ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("primitive", BUFFERED)
def test_numbers(primitive: str, order: str) -> None:
    for case in CASES:
        if case.primitive == primitive:
            expected = np.asarray(case.expected())
            out = filled(expected, order)
            run(BUFFERED[primitive], (out, *case.inputs), case.params)
            same(out, expected)


@pytest.mark.parametrize("primitive", [n for n, t in BUFFERED.items() if t.__dict__["inplace"]])
def test_in_place(primitive: str) -> None:
    """The result may be written over an operand, which may be another operand as well."""
    template = BUFFERED[primitive]
    places, tried = set(), set()
    for case in CASES:
        if case.primitive != primitive:
            continue
        places.update(inplace_operands(primitive, len(case.inputs)))
        expected = np.asarray(case.expected())
        for place in places:
            given_type = type_of(case.inputs[place])
            if given_type != type_of(expected) or given_type.kind != "array":
                continue
            inputs = list(case.inputs)
            inputs[place] = out = inputs[place].copy()
            run(template, (out, *inputs), case.params)
            same(out, expected)
            tried.add(place)
    others = ("isnan", "isinf", "isfinite", "ldexp", "bitwise_count")  # results of another type
    can_be = primitive not in others
    assert tried == places or not can_be


@pytest.mark.parametrize("primitive", [n for n in BINARY if n != "ldexp"])
def test_in_place_of_both_operands(primitive: str) -> None:
    for case in CASES:
        if case.primitive == primitive and isinstance(case.inputs[0], np.ndarray):
            x = case.inputs[0]
            if primitive == "power" and x.dtype.kind == "i":
                x = np.abs(x)
            expected = run(TEMPLATES[primitive], (x, x), {})
            if expected.dtype == x.dtype:
                out = x.copy()
                run(BUFFERED[primitive], (out, out, out), {})
                same(out, expected)


@pytest.mark.parametrize("primitive", SCALARS)
def test_reductions_to_a_number(primitive: str) -> None:
    tried = 0
    for case in CASES:
        whole = tuple(range(np.ndim(case.inputs[0])))
        if case.primitive == primitive and case.params == {"axis": whole, "keepdims": False}:
            found = run(SCALARS[primitive], case.inputs, case.params)
            same(found, case.expected())
            assert type(found) is type(case.expected())
            tried += 1
    assert tried == 6


# --- how they are written ------------------------------------------------------------------------


@pytest.mark.parametrize("primitive", sorted(buffered.WRITTEN.keys() & numpy.WRITTEN))
def test_parameters_are_those_of_the_other_template(primitive: str) -> None:
    template, other = buffered.WRITTEN[primitive], numpy.WRITTEN[primitive]
    assert template.__dict__["mark"] == "into"
    first, *rest = inspect.signature(template).parameters.values()
    assert first.name == "out"
    expected = inspect.signature(other).parameters.values()
    assert [(p.name, p.kind, p.default) for p in rest] == [
        (p.name, p.kind, p.default) for p in expected
    ]
    assert set(template.__dict__["inplace"]) <= set(positional(template)) - {"out"}


def test_scalar_templates_are_one_expression() -> None:
    for primitive in SCALARS:
        template = SCALARS[primitive]
        assert template.__dict__["mark"] == "fresh", primitive
        assert positional(template) == positional(TEMPLATES[primitive]), primitive
        (statement,) = body_of(template)
        assert isinstance(statement, ast.Return), primitive


FACTS = ("ndim", "shape", "dtype", "kind", "itemsize")


def test_bodies_are_static_choices_and_calls() -> None:
    """A call for each write; conditions read params, and of operands only the type."""
    for primitive in BUFFERED:
        pending = body_of(BUFFERED[primitive])
        while pending:
            statement = pending.pop()
            if isinstance(statement, ast.If):
                pending += [*statement.body, *statement.orelse]
                for node in ast.walk(statement.test):
                    if isinstance(node, ast.Call):
                        assert ast.unparse(node.func) in HELPERS, primitive
                    elif isinstance(node, ast.Attribute):
                        assert node.attr in FACTS, primitive
                continue
            assert isinstance(statement, ast.Expr), primitive
            call = statement.value
            assert isinstance(call, ast.Call), primitive
            targets = [call.args[0], *(k.value for k in call.keywords if k.arg == "out")]
            if isinstance(call.func, ast.Attribute):
                targets.append(call.func.value)  # out.fill(v)
            targets += [node.value for node in targets if isinstance(node, ast.Subscript)]
            targets += [node.args[0] for node in targets if isinstance(node, ast.Call)]
            assert "out" in map(ast.unparse, targets), primitive


# --- what the emitter makes of them --------------------------------------------------------------


def operands_of(case: Case) -> tuple[list[Operand], dict[str, Any]]:
    """The operands of a case under names, numbers as constants; and the values of the names."""
    operands, values = [], {}
    for at, x in enumerate(case.inputs):
        is_array = isinstance(x, np.ndarray)
        atom: Atom = Variable(f"x{at}", type_of(x)) if is_array else Constant(x)
        operands.append(Operand(named(f"x{at}"), atom))
        values[f"x{at}"] = x
    return operands, values


def substituted(case: Case, result: Type) -> tuple[ast.stmt, ...]:
    out = Operand(named("out"), Variable("out", result))
    return substitute_into(case.primitive, out, operands_of(case)[0], case.params)


def execute(statements: Sequence[ast.stmt], values: Mapping[str, Any]) -> None:
    module = ast.fix_missing_locations(ast.Module(list(statements), []))
    with np.errstate(all="ignore"):
        exec(compile(module, "<statements>", "exec"), {"np": np, **values})


@pytest.mark.parametrize("primitive", BUFFERED)
def test_the_emitter_substitutes_them(primitive: str) -> None:
    for case in CASES:
        if case.primitive == primitive:
            expected = np.asarray(case.expected())
            statements, out = substituted(case, type_of(expected)), filled(expected)
            assert statements, case
            execute(statements, {**operands_of(case)[1], "out": out})
            same(out, expected)


@pytest.mark.parametrize("primitive", SCALARS)
def test_the_emitter_substitutes_reductions_to_a_number(primitive: str) -> None:
    for dtype, axis in itertools.product((np.float32, np.float64), ((0, 1), (0,), (1,))):
        for keepdims in (False, True):
            x = RNG.normal(size=(4, 3)).astype(dtype)
            case = Case(primitive, (x,), {"axis": axis, "keepdims": keepdims})
            code = substitute_scalar(primitive, operands_of(case)[0], case.params)
            assert code is not None and "reduce" in ast.unparse(code)
            same(eval(ast.unparse(code), {"np": np, "x0": x}), case.expected())


@pytest.mark.parametrize("x", [np.ones((2, 3), "f2"), np.ones((2, 3), int), np.ones((0, 3))])
def test_means_that_numpy_adds_otherwise_are_left(x: Any) -> None:
    case = Case("mean", (x,), {"axis": (0, 1), "keepdims": False})
    assert substitute_scalar("mean", operands_of(case)[0], case.params) is None


@given(contractions())
def test_contractions_are_written_or_left(case: tuple[str, str, Any]) -> None:
    """Every kind of product is either written as a whole, or not at all: then it is allocated."""
    inputs, params, _ = equation_of(case)
    if inputs is None:
        return
    equation = Case("contract", inputs, params)
    expected = np.asarray(equation.expected())
    out = filled(expected)
    run(BUFFERED["contract"], (out, *inputs), params)
    statements = substituted(equation, type_of(expected))
    same(out, expected if statements else filled(expected))
