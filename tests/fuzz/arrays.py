"""Random programs about arrays of every kind, as source text with the arguments of several calls.

Drawn as those of `tests.fuzz.generate` are, each statement run by NumPy first. What is drawn here
is what compilers take too little care of: complex, integer and boolean arrays; numbers such as 1j,
-0.0, infinity and NumPy's small ones; views of views that are written; parts of an array copied
over others; arguments in Fortran order, with gaps and backwards, of no dimension or no element;
loops that are kept, with constants made in them, names that change places, and lists.

>>> source, calls = program(seed=2)
>>> source.startswith("def program(x, y):"), len(calls) > 0
(True, True)
"""

from __future__ import annotations

import itertools
import random
import warnings
from typing import Any

import numpy as np

from tests.fuzz.generate import ELEMENTWISE, VIEWS, WRITES, Writer, function_of
from tests.fuzz.structures import locked

KINDS = (np.ndarray, np.generic)  # of results
LIMIT = 1e3  # no finite value is larger
LARGEST = 400  # elements of one array
STATEMENTS = 9
CALLS = 3

NUMBERS = [
    "1", "-1", "0", "True", "1.0", "-1.0", "0.0", "-0.0", "0.5", "-2", "3", "np.float64(-1)",
    "np.float32(0.5)", "np.int8(3)", "np.uint8(2)", "np.int64(-1)", "np.float32(-1)",
]  # fmt: skip
COMPLEX_NUMBERS = ["1j", "-1j", "(0.6 + 0.8j)", "(1 + 0j)", "np.complex64(1j)", "-2j"]
EXTREME = ["np.inf", "-np.inf", "np.nan", "1e300", "1e-300"]
REAL = [
    "{n} * {a}", "{a} * {n}", "{n} - {a}", "{a} + {n}", "{a} / {m}", "{n} * ({a} * {b})",
    "{a} ** 2", "{a} ** -1", "{a} ** 0", "{a} ** 3", "np.full({a}.shape, {n})",
    "np.maximum({a}, {n})", "np.where({a} > 0.2, {a}, {n})", "-({n} * {a})", "{n} * ({n} * {a})",
    "{a} * np.full({a}.shape[-1:], {n})", "np.sum({a} * {n}, axis=-1)", "{n} * ({a} @ {b})",
    "{a} - {n} * ({a} @ {b})", "np.sum({n} * {a}, axis=0)", "{a}[..., None] * {b}", "{a} + {a}",
    "np.minimum({a}, {b}) * {n}", "np.zeros_like({a}) + {n}", "np.ones_like({a}) * {b}",
    "np.prod({a}, axis=-1)", "np.array([{n}, 0.25, -0.0])", "np.sqrt({a} * {a} + 1)",
    "{a}.astype(np.float32)", "np.stack([{a}, {a}[::-1]])", "np.concatenate([{a}, {a}])",
]  # fmt: skip
COMPLEX = [
    "{c} * {a}", "{a} * {c}", "np.exp({c} * {a} * 0.1)", "{c} * ({a} * {b})", "{a}.real",
    "{a}.imag", "np.conj({a})", "np.abs({a} + 2)", "({c} * {a}).real", "{a} @ ({b} * {c})",
    "{c} * ({c} * {a})", "np.where({a}.real > 0.1, {a}, {c})", "{a} - {c}",
    "np.sum({c} * {a}).real",
]  # fmt: skip
WHOLE = [
    "{a} > 0.1", "({a} > 0.1) * {b}", "np.arange({a}.shape[-1])", "np.arange({a}.shape[-1]) * {a}",
    "({a} > 0).astype(np.int8) - np.int8(1)", "np.round({a} * 3).astype(np.int64)",
    "~({a} > 0.1)", "({a} > 0.1) & ({b} < 0.5)", "({a} > 0) + ({b} > 0)",
    "np.sum({a} > 0.1, axis=0)",
    "np.where({a} > 0.1, {b}, 2)", "({a} > 0.1).astype(np.uint8) * np.uint8(200)",
    "np.cumsum({a} > 0, axis=-1)", "np.argsort({a}, axis=-1)", "np.sort({a} > 0.1, axis=-1)",
    "np.sort(np.round({a} * 3).astype(np.int8), axis=0) * {b}", "np.sort({a}, axis=0)[::-1]",
    "{a}[np.argsort({b}[..., 0])]", "np.take_along_axis({a}, np.argsort({a}, axis=-1), axis=-1)",
]  # fmt: skip
MORE_VIEWS = [
    "{a}.T[::-1]", "{a}[::-1, ::2]", "{a}.T[1:]", "{a}[::-1].T", "{a}[..., ::-1]", "{a}.T[..., 0]",
    "{a}[-1:0:-1]", "{a}[1:].T[::-1]", "{a}[...]", "{a}[0, ...]", "{a}[:0]", "{a}[..., 0, None]",
]  # fmt: skip
MORE_WRITES = [
    "{a}[...] = {e}", "{a}.T[...] = {b}", "{a}[::-1] = {a}", "{a}[1:] = {a}[:-1]",
    "{a}[:-1] = {a}[1:]", "{a}[0] = {a}[..., 0]", "{a}[..., 0] = {a}[-1]", "{a}.T[0] = {a}[1]",
    "{a}.T[0] += {a}[0] ** 2", "{a}[{k}] = {b}[..., {k}]", "{a}[:] = {a}[::-1].copy()",
    "{a}[::2] = {a}[1::2][::-1]", "{a} *= {a}[0]", "{a} -= {a}[..., :1]", "{a}[1:] += {a}[0]",
    "{a}[{a} > 0.1] = {n}", "{a}[{a} > 0.1] *= 0.5", "np.add.at({a}, [0, 0], 0.25)",
    "np.copyto({a}, {b})", "np.copyto({a}, {b}, where={a} > 0.1)",
    "np.copyto({a}.T, {n}, where={a}.T < 0)", "np.copyto({a}[::-1], {a}, where={b} > 0)",
    "{a}.sort()", "{a}.sort(axis=0)", "{a}[...] = np.sort({b}, axis=-1)",
    "np.add({a}, {b}, out={a})", "{a}[...] = {n}", "{a} += {n}",
    "{a}[0], {a}[-1] = {a}[-1], {a}[0]", "{a}[[-1, 0]] = {a}[[0, -1]]", "{a}.fill({n})",
]  # fmt: skip
CONSTANTS = [
    "np.ones({a}.shape)",
    "np.full({a}.shape, 0.25)",
    "np.zeros({a}.shape)",
    "np.ones({a}.shape[-1:])",
    "np.arange({a}.shape[-1]) * 0.1",
    "np.eye({a}.shape[-1])[0]",
    "np.full({a}.shape[-1:], {n})",
]
LOOPS = [
    "{v} = {a} * 0.5\nfor i in range(17):\n    {v} = np.sin({v} * {k} + {a})",
    "{v} = {a} * 0.5\nfor i in range(18):\n    u = {k}\n    {v} = 0.8 * {v} + u * {a}",
    "{l} = []\nfor i in range(17):\n    {l}.append({k})\n{v} = np.stack({l})",
    "{l} = []\n{v} = {a} * 0.5\nfor i in range(17):\n    {v} = np.tanh({v} + {k})\n"
    "    {l}.append({v})\n{v} = np.stack({l})[::-4]",
    "p, q, r = {a} * 1.0, {a} * 0.5, np.cos({a})\nfor i in range({t}):\n    {p}\n"
    "{v} = p + 2 * q - 0.5 * r",
    "{v} = {a} * 1.0\nfor i in range(17):\n    {w}\n    {v} = {v} * 0.9",
    "{v} = {a} * 1.0\nfor i in range(17):\n    u = {k}\n    u = u * 0.5 if i > 20 else u\n    {w}",
    "{v} = {a} * 1.0\nfor i in range(17):\n    if np.sum({v}) > 0.3:\n"
    "        u = np.ones({a}.shape)\n    else:\n        u = np.full({a}.shape, 0.25)\n"
    "    {v} = {v} * 0.9 + u * 0.1",
    "{v} = np.zeros((17, 3))\nfor i in range(17):\n    {v}[i] = {v}[i - 1] * 0.5 + np.sum({a})",
]
RINGS = ["p", "q", "r", "p", "q", "r", "p * 0.9", "q + r * 0.1", "r[::-1]", "np.sin(q)"]
SHAPES = [(2, 3), (3, 3), (3, 3), (1, 4), (4, 1), (4, 2)]
ODD_SHAPES = [(0, 3), (2, 0), (1, 1), (5, 3)]


class ArrayWriter(Writer):
    """A program being written."""

    def __init__(self, choices: random.Random, arguments: dict[str, Any]) -> None:
        self.choices = choices
        self.is_complex = choices.random() < 0.35
        self.is_extreme = choices.random() < 0.1
        super().__init__(choices, arguments)

    def write_statement(self) -> None:
        kinds = {"new": 4, "old": 2, "whole": 1, "view": 4, "write": 5, "kept": 3, "complex": 3}
        if not self.is_complex:
            del kinds["complex"]
        (kind,) = self.choices.choices(list(kinds), list(kinds.values()))
        name = f"v{len(self.lines)}"
        expressions = {"new": REAL, "old": ELEMENTWISE, "whole": WHOLE, "complex": COMPLEX}
        if kind == "write":
            self.try_to_add(self.filled(self.choose((WRITES, MORE_WRITES))))
        elif kind == "kept":
            self.try_to_add(self.loop(name), name)
        else:
            templates = expressions.get(kind) or self.choose((VIEWS, MORE_VIEWS))
            self.try_to_add(f"{name} = {self.filled(templates)}", name)

    def filled(self, templates: list[str], a: str = "") -> str:
        a, b, c = a or self.choose(self.names), self.choose(self.names), self.choose(self.names)
        number = self.number()
        made = [f"{c}", f"{c} * 0.5", "0.25", f"np.sin({c})", number, f"{a}[::-1]"]
        return self.choose(templates).format(
            a=a, b=b, k=self.choose(range(-2, 3)), i=self.choose(range(3)), e=self.choose(made),
            s=self.choose(self.numbers), n=number, m=self.choose([number, "2", "-4.0"]),
            c=self.choose(COMPLEX_NUMBERS),
        )  # fmt: skip

    def number(self) -> str:
        return str(
            self.choose(EXTREME if self.is_extreme and self.choices.random() < 0.5 else NUMBERS)
        )

    def loop(self, name: str) -> str:
        a = self.choose(self.names)
        ring = [self.choose(RINGS) for _ in range(3)]
        return str(
            self.choose(LOOPS).format(
                v=name, a=a, l=f"l{name}", t=self.choose((17, 18, 19)),
                k=self.filled(CONSTANTS, a), p=f"p, q, r = {', '.join(ring)}",
                w=self.filled(self.choose((WRITES, MORE_WRITES)), name),
            )
        )  # fmt: skip

    def fits(self, made: Any) -> bool:
        return isinstance(made, KINDS) and made.size <= LARGEST

    def is_bounded(self) -> bool:
        values = [np.abs(self.values[name]) for name in self.names]
        if self.is_extreme:
            return True
        return all(bool(np.all(value < LIMIT)) for value in values)


def arguments(choices: random.Random, shape: tuple[int, int]) -> dict[str, Any]:
    """A matrix and a vector, that may lie in memory in any way."""
    rng = np.random.default_rng(choices.getrandbits(32))
    x = _laid_out(rng.uniform(-1, 1.2, shape).round(3), choices.randrange(8))
    y = rng.uniform(-1, 1, shape[1]).round(3)
    kind = choices.randrange(12)
    if kind == 0:
        y = np.asarray(0.3 - rng.random())
    elif kind == 1:
        y = (y * 4).astype(np.int64)
    elif kind == 2:
        y = y > 0
    elif kind == 3:
        x, y = x.astype(np.float32, order="K"), y.astype(np.float32)
    elif kind == 4:
        y = np.repeat(y, 2)[::2]
    elif kind == 5:
        y = y[::-1]
    return {"x": x, "y": y}


def _laid_out(x: Any, way: int) -> Any:
    if way == 0:
        return np.asfortranarray(x)
    if way == 1:
        return np.repeat(x, 2, axis=1)[:, ::2]
    if way == 2:
        return x[::-1, ::-1]
    if way == 3:
        return np.repeat(x, 2, axis=0)[::2].T.copy().T
    return x


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program, and the arguments of some calls, of other shapes perhaps."""
    choices = random.Random(seed)
    is_odd = choices.random() < 0.15
    first = arguments(choices, choices.choice(ODD_SHAPES if is_odd else SHAPES))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        writer = ArrayWriter(choices, first)
        writer.try_to_add("v = x * 1.0", "v")
        for _ in itertools.repeat(None, 6 * STATEMENTS):
            if len(writer.lines) > STATEMENTS:
                break
            writer.write_statement()
        source = writer.source()
        calls = [first]
        for _ in range(CALLS - 1):
            other = arguments(choices, choices.choice([first["x"].shape, *SHAPES]))
            if runs(source, tuple(other.values())):
                calls.append(other)
    return source, tuple(tuple(call.values()) for call in calls)


def runs(source: str, args: tuple[Any, ...]) -> bool:
    """True if plain Python runs the program and returns arrays and numbers of bounded values."""
    try:
        results = function_of(source)(*locked(args))
        flat = [np.abs(part).ravel() for part in results]
    except Exception:
        return False
    if type(results) is not tuple or not all(isinstance(part, KINDS) for part in results):
        return False
    return all(bool(np.all((part < LIMIT) | ~np.isfinite(part))) for part in flat)
