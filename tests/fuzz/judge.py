"""Whether a program is compiled right: its verdict, with what there is to say about it.

A program is called with several sets of arguments, which take other paths through it, and is
compared with its plain execution bit by bit, with finite differences along a direction, with the
evaluator of the list that it became, and with itself once more for the second order. Where the
plain function has a kink, differences say nothing, and the verdict is not from them. A light
judgement is of one call: its value, bit by bit, and its gradient, by differences and by forward
mode, which is compared at all levels in full.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base import trees
from stcompile.base.options import Options
from stcompile.passes.pipeline import optimise
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.verify import verify
from tests.fuzz.control import LIMIT, arguments, path, program
from tests.fuzz.generate import function_of
from tests.fuzz.identity import Tangents
from tests.fuzz.verdicts import Mismatch, Verdict, close, interpreted, verdict_of
from tests.programs import READABLE, bits

WRT = (0, 1, 2)
WEIGHTS = np.cos(np.arange(4.0))
CALLS = 3  # sets of arguments for one program


def judge(seed: int, second_order: bool = False) -> Verdict:
    """The verdict on the program of a seed."""
    source, args = program(seed)
    return judge_source(source, (args, *other_arguments(source, seed)), second_order)


def other_arguments(source: str, seed: int) -> list[tuple[Any, ...]]:
    """More arguments that plain Python runs the program with."""
    function, found = function_of(source), []
    for k in range(CALLS - 1):
        args = arguments(seed * CALLS + k)
        if plain(function, args) is not None:
            found.append(args)
    return found


def plain(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The plain result; None if there is none, or it is too large to compare."""
    try:
        with np.errstate(all="ignore"):
            result = function(*copy.deepcopy(args))
    except Exception:
        return None
    fits = all(np.all(np.isfinite(part)) and np.all(np.abs(part) < LIMIT) for part in result)
    return result if fits else None


def judge_source(
    source: str,
    calls: tuple[tuple[Any, ...], ...],
    second_order: bool = False,
    light: bool = False,
) -> Verdict:
    """The verdict on a program in text, called with all these arguments."""
    function = function_of(source)

    def examine() -> tuple[int, int]:
        comparison = Comparison(function, second_order)
        return comparison.run_once(calls[0]) if light else comparison.run(calls)

    return verdict_of(function, examine)


class Comparison:
    """One compilation of a program, called with several arguments."""

    def __init__(self, function: Callable[..., Any], second_order: bool) -> None:
        self.function, self.second_order = function, second_order
        self.primal = Primal(function, READABLE)
        self.gradient = Gradient(self.total, WRT, True)
        self.readable = Gradient(self.total, WRT, True, READABLE)
        self.loops = Gradient(self.total, WRT, True, Options("compiled"))
        self.tangents: dict[str, Tangents] = {}
        self.differences = self.kinks = 0

    def run(self, calls: tuple[tuple[Any, ...], ...]) -> tuple[int, int]:
        for args in calls:
            self.values(args)
            gradients = self.gradient(*args)[1]
            self.slopes(self.total, args, gradients, "the gradient")
            self.forward(args, gradients, self.gradient.options.level)
            self.forward(args, self.readable(*args)[1], "readable")
        if self.second_order:
            self.second(calls[0])
        self.kernels(calls[0])
        for args in calls:
            self.evaluators(args)
        return self.differences, self.kinks

    def run_once(self, args: tuple[Any, ...]) -> tuple[int, int]:
        """The light judgement: one compilation, and one call."""
        value, gradients = self.gradient(*copy.deepcopy(args))
        self.beside(value, self.total(*copy.deepcopy(args)))
        self.slopes(self.total, args, gradients, "the gradient")
        self.forward(args, gradients, self.gradient.options.level)
        if self.second_order:
            self.second(args)
        return self.differences, self.kinks

    def forward(self, args: tuple[Any, ...], gradients: Any, level: Any) -> None:
        """Forward mode gives the same slope."""
        if level not in self.tangents:
            self.tangents[level] = Tangents(self.total, WRT, 4, Options(level))
        self.tangents[level].check(args, gradients, level)

    @property
    def total(self) -> Callable[..., Any]:
        """The function as one number."""
        function, weights = self.function, WEIGHTS

        def total(x, y, s, n):
            number, vector = function(x, y, s, n)
            return number + np.sum(vector * weights)

        return total

    def values(self, args: tuple[Any, ...]) -> None:
        """The results are those of plain Python, and the arguments are not changed."""
        given = copy.deepcopy(args)
        expected = self.function(*copy.deepcopy(args))
        self.same(self.primal(*given), expected, "the value")
        total = self.total(*copy.deepcopy(args))
        self.beside(self.gradient(*given)[0], total)
        self.same(given, args, "an argument after the call")

    def kernels(self, args: tuple[Any, ...]) -> None:
        """The compiled level gives the same, up to rounding."""
        value, gradients = self.gradient(*copy.deepcopy(args))
        with interpreted():
            found, d_found = self.loops(*copy.deepcopy(args))
        if not close(found, value, 1e-9):
            raise Mismatch("the value at the compiled level", f"{found}\nnot\n{value}")
        with interpreted():
            self.forward(args, d_found, "compiled")
        for one, other in zip(d_found, gradients, strict=True):
            scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
            if not np.allclose(one, other, rtol=1e-8, atol=1e-9 * scale, equal_nan=True):
                raise Mismatch("the gradient at the compiled level", f"{one}\nnot\n{other}")

    def evaluators(self, args: tuple[Any, ...]) -> None:
        """The evaluator gives the same, before and after the passes."""
        value, gradients = self.readable(*args)
        bound = self.readable.bind(args, {})
        staged = self.readable.stage(bound)
        leaves = [trees.follow(bound.values[at.argument], at.path) for at in staged.leaves]
        leaves += [hidden.read() for hidden in staged.hidden]
        for which, made in (("staged", staged.program), ("optimised", optimise(staged.program))):
            verify(made)
            found = evaluate(made, *copy.deepcopy(leaves))
            self.same(found[0], value, f"the evaluator's value, {which}")
            for one, other in zip(found[1:], gradients, strict=True):
                if not close(one, other, 1e-10):
                    raise Mismatch(f"the evaluator's gradient, {which}", f"{one}\n{other}")

    def slopes(
        self, function: Callable[..., Any], args: tuple[Any, ...], gradients: Any, what: str
    ) -> None:
        """The slope along a direction is that of differences, unless there is a kink."""
        rng = np.random.default_rng(11)
        directions = [rng.uniform(-1, 1, np.shape(args[index])) for index in WRT]
        found = sum(float(np.sum(g * d)) for g, d in zip(gradients, directions, strict=True))

        def moved(h: float) -> tuple[Any, ...]:
            new = [args[i] + h * d for i, d in zip(WRT, directions, strict=True)]
            return (new[0], new[1], float(new[2]), args[3])

        def at(h: float) -> float:
            return float(function(*moved(h)))

        def central(h: float) -> float:
            return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)

        for h in (1e-4, 1e-3, 1e-5):
            try:
                if close(central(h), found, 1e-5):
                    self.differences += 1
                    return
            except (ValueError, LookupError, ArithmeticError):
                break  # on the other side of a kink the plain function raises
        if self.is_smooth(at, moved):
            text = f"{found}, differences {central(1e-5)}\n{args}\n{gradients}"
            raise Mismatch(what, text)
        self.kinks += 1

    def is_smooth(self, at: Callable[[float], float], moved: Callable[[float], Any]) -> bool:
        """True if around here the plain function takes one path, and its slopes agree."""
        try:
            paths = [path(self.function, copy.deepcopy(moved(h)))[1] for h in (-1e-5, 0, 1e-5)]
            if any(one != paths[0] for one in paths):
                return False
            slopes = [(at(h) - at(0.0)) / h for h in (1e-5, -1e-5, 1e-6, -1e-6)]
        except (ValueError, LookupError, ArithmeticError):
            return False
        return all(close(slope, slopes[0], 1e-3) for slope in slopes)

    def second(self, args: tuple[Any, ...]) -> None:
        """The slope of the slope along another direction."""
        first = st.grad(self.total, WRT)

        def slope(x, y, s, n):
            dx, dy, ds = first(x, y, s, n)
            return np.sum(dx * WEIGHTS) + np.sum(dy[1] * WEIGHTS) + dy[0, 0] - ds * 0.5

        value, gradients = st.value_and_grad(slope, WRT)(*args)
        if not close(value, slope(*args), 1e-9):
            raise Mismatch("the gradient inside a function", f"{value}, not {slope(*args)}")
        self.slopes(slope, args, gradients, "the second order")

    def beside(self, value: Any, expected: Any) -> None:
        """The value beside the gradient: rounded otherwise at the fast level."""
        if self.gradient.options == READABLE:
            self.same(value, expected, "the value beside the gradient")
        elif not close(value, expected, 1e-9):
            raise Mismatch("the value beside the gradient", f"{value}\nnot\n{expected}")

    def same(self, found: Any, expected: Any, what: str) -> None:
        """Equal bit by bit; a float may be a NumPy scalar."""
        pairs = (
            zip(found, expected, strict=True)
            if isinstance(expected, tuple)
            else [(found, expected)]
        )
        for one, other in pairs:
            if np.shape(one) != np.shape(other) or not np.array_equal(bits(one), bits(other)):
                raise Mismatch(what, f"{found}\nnot\n{expected}")
