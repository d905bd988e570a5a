"""Random programs of the language, as source text.

Each statement is run by NumPy as it is drawn, so that shapes, views and what may be written to are
known without a model of our own: a statement that NumPy refuses, or that would write into an
argument, is dropped.
"""

from __future__ import annotations

import linecache
import random
import textwrap
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.helpers import HELPERS

ELEMENTWISE = [
    "np.sin({a})", "np.tanh({a})", "{a} + {b}", "{a} * {b}", "{a} - 0.5 * {b}", "-{a}", "0.5 * {a}",
    "{a} / (2.0 + {b} * {b})", "np.cos({a}) ** 2", "np.exp(-{a} * {a})", "{a} * {b}.sum()",
    "{a} + np.mean({b}, axis=0)", "{a} @ {b}.T", "np.where({a} > 10.0, 1.0, {b})", "{a} + {s}",
    "np.stack([{a}, {b}])", "np.concatenate([{a}, {b}], axis=0)", "np.outer({a}, {b})",
    "{a}.copy()", "np.zeros_like({a})", "np.full({a}.shape, 0.5)", "np.cumsum({a}, axis=0)",
    "mix({a}, {b})", "[{a}, {b}][{i} % 2] * 1.0", "{{'k': {a}}}['k'] + 1", "{a}[[0, -1, 0]]",
]  # fmt: skip
VIEWS = [
    "{a}", "{a}[{k}]", "{a}[{k}:]", "{a}[::-1]", "{a}.T", "{a}[..., {k}]", "{a}[:, {k}:{k} + 2]",
    "{a}[::2]", "{a}[None]", "{a}[..., None]", "{a}.swapaxes(0, -1)", "np.squeeze({a})", "{a}[-1]",
    "{a}.reshape(-1)", "{a}[:, ::-2]", "{a}.ravel()", "{a}.reshape({a}.shape[::-1])",
]  # fmt: skip
WRITES = [
    "{a}[{k}] = {e}", "{a}[:] = {e}", "{a}[{k}:] = {e}", "{a}[..., {k}] = {e}", "{a}[::-1] = {e}",
    "{a}[{k}] += {e}", "{a}[::2] *= 0.5", "{a}[..., 0] -= {e}", "{a} += {e}", "{a} *= {e}",
    "{a} -= 0.25 * {e}", "{a}[[0, -1]] += {e}", "{a}.T[{k}] += {e}", "push({a}, {e})", "{a} /= 2",
    "{a}[{k}] = {a}[{k} - 1]", "{a}[1:] += {a}[:-1]", "{a}[-1], {a}[0] = {a}[0], {a}[-1]",
]  # fmt: skip
LIMIT = 40  # elements of one array


class Writer:
    """A program being written: its statements, and the arrays that they made so far."""

    def __init__(self, choices: random.Random, arguments: dict[str, Any]) -> None:
        self.choose = choices.choice
        self.arguments = arguments
        self.lines: list[str] = []
        self.rerun()
        self.names = list(arguments)
        self.numbers = ["0.5", "2", "np.float64(0.5)"]

    def write_statement(self) -> None:
        kind = self.choose(
            ("new", "new", "view", "view", "write", "write", "write", "loop", "scalar")
        )
        name = f"v{len(self.lines)}"
        match kind:
            case "new" | "view":
                templates = ELEMENTWISE if kind == "new" else VIEWS
                self.try_to_add(f"{name} = {self.fill(templates)}", name)
            case "write":
                self.try_to_add(self.fill(WRITES))
            case "scalar":
                self.try_to_add(f"{name} = {self.fill(['np.sum({a}) * 0.1', '{a}.mean()'])}", name)
            case "loop":
                body = self.fill(WRITES, counter="i")
                self.try_to_add(f"for i in range({self.choose(range(4))}):\n    {body}")

    def fill(self, templates: list[str], counter: str = "") -> str:
        """A template with names and small integers in its holes."""
        a, b, c = (self.choose(self.names) for _ in range(3))
        place = str(self.choose(range(-2, 3)))
        scalar = self.choose(self.numbers)
        e = self.choose(("{c}", "{c} * 0.5", "0.25", "np.sin({c})", "{s}")).format(c=c, s=scalar)
        return self.choose(templates).format(a=a, b=b, k=counter or place, i=place, e=e, s=scalar)

    def try_to_add(self, statement: str, name: str = "") -> None:
        """Add a statement if NumPy runs it, and writes to the program's own arrays at most."""
        try:
            with np.errstate(all="raise"):
                exec(statement, self.values)
            made = self.values.get(name, np.float64(0))
            fits, bounded = self.fits(made), self.is_bounded()
        except (ValueError, IndexError, TypeError, ArithmeticError, np.exceptions.AxisError):
            fits = bounded = False
        if not (fits and bounded):
            self.rerun()  # it may have run in part
            return
        self.lines.append(statement)
        if name:
            (self.names if made.ndim else self.numbers).append(name)

    def fits(self, made: Any) -> bool:
        """True for a value that a name may hold."""
        return 0 < made.size <= LIMIT and (made.ndim > 0 or not isinstance(made, np.ndarray))

    def is_bounded(self) -> bool:
        """True if no value grows too large."""
        return all(np.all(np.abs(self.values[name]) < 1e3) for name in self.names)

    def rerun(self) -> None:
        """The state after the statements that were kept."""
        self.values = {**HELPERS, **{k: v.copy() for k, v in self.arguments.items()}}
        for name in self.arguments:
            self.values[name].flags.writeable = False
        for line in self.lines:
            exec(line, self.values)

    def source(self) -> str:
        made = [*self.names[len(self.arguments) :], *self.numbers[3:]]
        results = ", ".join(made)
        body = "\n".join([*self.lines, f"return ({results},)" if results else "return x"])
        return f"def program({', '.join(self.arguments)}):\n{textwrap.indent(body, '    ')}\n"


@st.composite
def sources(draw: Callable[..., Any], arguments: dict[str, Any], longest: int = 10) -> str:
    """The source text of a program with these arguments."""
    choices = draw(st.randoms(use_true_random=True))
    writer = Writer(choices, arguments)
    writer.try_to_add("v = x * 1.0", "v")
    writer.try_to_add("w = x @ x.T + y[0]", "w")
    while len(writer.lines) < choices.randint(3, longest):
        writer.write_statement()
    return writer.source()


def function_of(source: str, names: Mapping[str, Any] = HELPERS) -> Callable[..., Any]:
    """The program, with its source where `linecache` finds it."""
    file = f"<fuzz {zlib.crc32(source.encode())}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    module: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile(source, file, "exec"), module)
    function: Callable[..., Any] = module["program"]
    return function
