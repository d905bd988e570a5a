"""Whether a function of arrays is compiled right.

In every call, some of them with arrays of other shapes and in other layouts: the readable level
gives NumPy's results to the bit, the evaluator of the list those of the readable level; the fast
level the same up to rounding, and so do both gradients, which agree with differences where the
plain function is smooth. No argument and no earlier result is changed, and two threads that call at
once get what one gets alone.

A light judgement is of one compilation at the fast level, and of the calls that it is for: all
results beside those of NumPy, and the gradient beside differences along a direction and beside
forward mode, which is compared at both levels in full.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.options import Options
from stcompile.passes.pipeline import optimise
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.wengert.evaluate import evaluate
from tests.fuzz.differences import STEPS, agrees, central
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.identity import Tangents
from tests.fuzz.structures import directions, flat, is_finite, is_real, locked, moved, same
from tests.fuzz.verdicts import Mismatch, Verdict, close, verdict_of
from tests.programs import READABLE, weigh

Calls = tuple[tuple[Any, ...], ...]
FAST = Options("fast")
NARROW = ("float32", "float16", "complex64", "int8")  # and what NumPy divides in float16


def judge_source(
    source: str,
    calls: Calls,
    second_order: bool = False,
    light: bool = False,
    names: Mapping[str, Any] = HELPERS,
) -> Verdict:
    """The verdict on a program in text, called with all these arguments."""
    return judge_function(function_of(source, names), calls, light, source, second_order)


def judge_function(
    function: Callable[..., Any],
    calls: Calls,
    light: bool,
    text: str = "",
    second_order: bool = False,
) -> Verdict:
    """The verdict on a function. Its text tells whether it computes in less than float64."""

    def examine() -> tuple[int, int]:
        comparison = Comparison(function, text, calls)
        if second_order:
            comparison.second()
        return comparison.run_once() if light else comparison.run()

    return verdict_of(function, examine)


class Comparison:
    def __init__(self, function: Callable[..., Any], text: str, calls: Calls) -> None:
        self.function = function
        self.is_narrow = computes_in_less(text)
        self.differences = self.kinks = 0
        self.tangents: dict[str, Tangents] = {}
        self.wrt = tuple(at for at, arg in enumerate(calls[0]) if all(map(is_real, flat(arg))))
        self.calls = tuple(
            args for args in calls if all(is_real(leaf) for leaf in flat(self.active(args)))
        )
        self.levels = {level: Primal(function, level) for level in (READABLE, FAST)}
        self.gradients = {
            level: Gradient(self.total, self.wrt, True, level) for level in (READABLE, FAST)
        }

    def active(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that a gradient is asked for."""
        return tuple(args[at] for at in self.wrt)

    def run(self) -> tuple[int, int]:
        kept = []
        for args in self.calls:
            results = self.values(args)
            kept.append((results, locked(results)))
            self.slopes(args)
        for results, before in kept:
            if not same(results, before):
                raise Mismatch("an earlier result has changed", f"{results}\nnot\n{before}")
        self.evaluators(self.calls[0])
        self.in_threads()
        return self.differences, self.kinks

    def run_once(self, options: Options = FAST) -> tuple[int, int]:
        gradient = Gradient(self.with_results, self.wrt, True, options, has_aux=True)
        for args in alike(self.calls):
            given = locked(args)
            expected = self.total(*locked(args)), self.function(*locked(args))
            results, gradients = gradient(*given)
            self.near(results, expected, args, options.level)
            self.untouched(given, args)
            if is_finite((*results, gradients)):
                self.against_differences(self.total, args, gradients)
                self.forward(options.level).check(
                    args, gradients, options.level, self.is_rough(args)
                )
        return self.differences, self.kinks

    def forward(self, level: Any) -> Tangents:
        """The tangents at a level, for `Tangents.check`."""
        if level not in self.tangents:
            count = len(self.calls[0])
            self.tangents[level] = Tangents(self.total, self.wrt, count, Options(level))
        return self.tangents[level]

    def is_rough(self, args: tuple[Any, ...]) -> bool:
        """True if some of the numbers have fewer than 64 bits."""
        return self.tolerance(args) > 1e-6

    def total(self, *args: Any) -> Any:
        """All results as one real number."""
        return as_number(self.function(*args))

    def with_results(self, *args: Any) -> Any:
        results = self.function(*args)
        return as_number(results), results

    def tolerance(self, args: tuple[Any, ...]) -> float:
        return 3e-3 if self.is_narrow or is_narrow(args) else 1e-9

    def values(self, args: tuple[Any, ...]) -> Any:
        """Compare the results; returns those of the fast level."""
        given = locked(args)
        expected = self.function(*locked(args))
        readable = self.levels[READABLE](*given)
        if not same(readable, expected):
            raise Mismatch("the value", f"{readable}\nnot\n{expected}\n{args}")
        fast = self.levels[FAST](*given)
        self.near(fast, expected, args)
        self.untouched(given, args)
        return fast

    def near(self, found: Any, expected: Any, args: tuple[Any, ...], level: str = "fast") -> None:
        """As far as rounding goes."""
        text = f"{found}\nnot\n{expected}\n{args}"
        finite = is_finite(expected)
        if len(flat(found)) != len(flat(expected)):
            raise Mismatch("the structure of the result", text)
        for one, other in zip(flat(found), flat(expected), strict=True):
            dtypes = [np.asarray(part).dtype for part in (one, other)]
            alike = np.shape(one) == np.shape(other) and dtypes[0] == dtypes[1]
            if not alike or (finite and not close(one, other, self.tolerance(args))):
                raise Mismatch(f"the value at the {level} level", text)

    def untouched(self, given: tuple[Any, ...], args: tuple[Any, ...]) -> None:
        if not same(given, args):
            raise Mismatch("an argument after the call", f"{given}\n{args}")

    def slopes(self, args: tuple[Any, ...]) -> None:
        expected = self.total(*locked(args))
        (value, slow), (quick_value, quick) = (
            self.gradients[level](*locked(args)) for level in (READABLE, FAST)
        )
        if not same(value, expected):
            raise Mismatch("the value beside the gradient", f"{value}\n{expected}\n{args}")
        if not is_finite((value, slow)):
            return
        tolerance = max(self.tolerance(args), 1e-8)
        if not close(quick_value, expected, tolerance):
            raise Mismatch(
                "the value beside the fast gradient", f"{quick_value}\n{expected}\n{args}"
            )
        scale = max([1.0, *(float(np.max(np.abs(g), initial=0.0)) for g in flat(slow))])
        for one, other in zip(flat(quick), flat(slow), strict=True):
            if not np.allclose(one, other, rtol=tolerance, atol=tolerance * scale):
                raise Mismatch("the gradients of the levels", f"{quick}\n{slow}\n{args}")
        self.against_differences(self.total, args, slow)
        for level, gradients in (("readable", slow), ("fast", quick)):
            self.forward(level).check(args, gradients, level, self.is_rough(args))

    def second(self) -> None:
        """The gradient of a function of the gradient."""
        first = Gradient(self.total, self.wrt, False, FAST)

        def slope(*args: Any) -> Any:
            return sum(np.sum(np.sin(part)) for part in flat(first(*args)))

        gradient = Gradient(slope, self.wrt, True, FAST)
        for args in alike(self.calls):
            if self.tolerance(args) > 1e-6:
                continue
            value, gradients = gradient(*locked(args))
            expected = slope(*locked(args))
            if is_finite((value, gradients, expected)):
                if not close(value, expected, 1e-8):
                    raise Mismatch("the gradient inside", f"{value}\nnot\n{expected}\n{args}")
                self.against_differences(slope, args, gradients, "the second order")

    def against_differences(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        gradients: Any,
        what: str = "the gradient",
    ) -> None:
        """The slope along a direction is that of differences, unless there is a kink."""
        if self.tolerance(args) > 1e-6 or not all(map(np.size, flat(self.active(args)))):
            return
        active = self.active(args)
        along = directions(active, seed=7)
        found = sum(float(np.sum(g * d)) for g, d in zip(flat(gradients), flat(along), strict=True))

        def at(h: float) -> float:
            places = dict(zip(self.wrt, moved(active, along, h), strict=True))
            return float(function(*(places.get(k, arg) for k, arg in enumerate(args))))

        right = agrees(at, found)
        if right is False:
            slopes = [central(at, h) for h in STEPS]
            raise Mismatch(what, f"{found}, differences {slopes}\n{args}\n{gradients}")
        self.differences += right is True
        self.kinks += right is None

    def evaluators(self, args: tuple[Any, ...]) -> None:
        """The evaluator gives the same, before and after the passes of either level."""
        primal = self.levels[READABLE]
        expected = primal(*locked(args))
        bound = primal.bind(locked(args), {})
        staged = primal.stage(bound)
        leaves = [trees.follow(bound.values[at.argument], at.path) for at in staged.leaves]
        leaves += [hidden.read() for hidden in staged.hidden]
        for level in ("readable", "fast"):
            found = evaluate(optimise(staged.program, level), *locked(tuple(leaves)))
            for one, other in zip(found, flat(expected), strict=False):
                if level == "readable" and not same(one, other):
                    raise Mismatch("the evaluator's value", f"{found}\nnot\n{expected}\n{args}")
                near = not is_finite(expected) or close(one, other, self.tolerance(args))
                if not near:
                    raise Mismatch("the evaluator, fast", f"{found}\nnot\n{expected}\n{args}")

    def in_threads(self) -> None:
        """Two threads at once."""
        gradient = self.gradients[FAST]
        alone = [gradient(*locked(args)) for args in self.calls]
        together: dict[tuple[int, int], Any] = {}

        def work(own: int) -> None:
            with np.errstate(all="ignore"):
                for at, args in enumerate(self.calls):
                    together[own, at] = gradient(*locked(args))

        threads = [threading.Thread(target=work, args=(own,)) for own in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for own in range(2):
            for at, (value, gradients) in enumerate(alone):
                got = together.get((own, at))
                pairs = zip(flat((value, gradients)), flat(got) if got else (), strict=False)
                if got is None or not all(same(one, other) for one, other in pairs):
                    raise Mismatch("in a thread", f"{got}\nnot\n{(value, gradients)}")


def computes_in_less(text: str) -> bool:
    """True for the text of a program that makes numbers of fewer than 64 bits."""
    return any(word in text for word in NARROW)


def is_narrow(args: Any) -> bool:
    """True if some of the arrays have fewer than 64 bits for a number."""
    return any(leaf.dtype.itemsize < 8 for leaf in flat(args) if isinstance(leaf, np.ndarray))


def alike(calls: Calls) -> Calls:
    """The first call, and those whose arguments are of the same types and lie in memory as its
    own do, if none of these is there twice."""
    first, kinds = calls[0], {_kinds(args) for args in calls[:1]}
    arrays = [leaf for leaf in flat(first) if isinstance(leaf, np.ndarray)]
    if any(np.may_share_memory(a, b) for a, b in itertools.combinations(arrays, 2)):
        return calls[:1]
    return tuple(args for args in calls if _kinds(args) in kinds)


def _kinds(args: Any) -> tuple[Any, ...]:
    leaves = [leaf if isinstance(leaf, np.ndarray) else np.float64(0) for leaf in flat(args)]
    return tuple((leaf.shape, leaf.dtype, leaf.strides) for leaf in leaves)


def as_number(results: Any) -> Any:
    """A sum of all results, each with a weight of its own."""
    value = weigh(results, 1)
    return value.real + 0.5 * value.imag if np.iscomplexobj(value) else value * 1.0
