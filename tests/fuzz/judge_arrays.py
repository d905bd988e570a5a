"""Whether a program of `tests.fuzz.arrays` is compiled right.

New memory holds NaN while it runs. In every call, some of them with arrays of other shapes and in
other layouts: the readable level gives NumPy's results to the bit, the evaluator of the list those
of the readable level; the fast level the same up to rounding, and so do both gradients, which agree
with differences where the plain function is smooth. No argument and no earlier result is changed,
and two threads that call at once get what one gets alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile import trees
from stcompile.evaluate import evaluate
from stcompile.gradient import Gradient
from stcompile.options import Options
from stcompile.pipeline import optimise
from stcompile.primal import Primal
from tests.fuzz.arrays import copied, locked
from tests.fuzz.generate import function_of
from tests.fuzz.judge import Mismatch, Verdict, close, verdict_of
from tests.programs import READABLE, bits, weigh
from tests.uninitialised import spoilt_memory

Calls = tuple[tuple[Any, ...], ...]
FAST = Options("fast")
NARROW = ("float32", "float16", "complex64", "int8")  # and what NumPy divides in float16
STEPS = (1e-4, 1e-3, 1e-5)
LARGEST = 1e6  # value that is compared with differences


def judge_source(
    source: str, calls: Calls, second_order: bool = False, light: bool = False
) -> Verdict:
    """The verdict on a program in text, called with all these arguments. A light one is of the
    first call at the fast level, beside NumPy and differences."""
    function = function_of(source)

    def examine() -> tuple[int, int]:
        with spoilt_memory():
            comparison = _Comparison(function, source, calls)
            return comparison.run_once() if light else comparison.run()

    return verdict_of(function, examine)


class _Comparison:
    def __init__(self, function: Callable[..., Any], source: str, calls: Calls) -> None:
        self.function, self.calls = function, calls
        self.is_narrow = any(word in source for word in NARROW)
        self.differences = self.kinks = 0
        first = calls[0]
        self.wrt = tuple(at for at, arg in enumerate(first) if arg.dtype.kind == "f")
        self.levels = {level: Primal(function, level) for level in (READABLE, FAST)}
        self.gradients = {
            level: Gradient(self.total, self.wrt, True, level) for level in (READABLE, FAST)
        }

    def run(self) -> tuple[int, int]:
        kept = []
        for args in self.calls:
            if any(args[at].dtype.kind != "f" for at in self.wrt):
                continue
            results = self.values(args)
            kept.append((results, [np.array(part) for part in results]))
            self.slopes(args)
        for results, before in kept:
            if not all(same(one, other) for one, other in zip(results, before, strict=True)):
                raise Mismatch("an earlier result has changed", f"{results}\nnot\n{before}")
        self.evaluators(self.calls[0])
        self.in_threads()
        return self.differences, self.kinks

    def run_once(self) -> tuple[int, int]:
        args = self.calls[0]
        self.fast_values(args, self.function(*locked(args)))
        value, gradients = self.gradients[FAST](*locked(args))
        if is_finite((value, *gradients)):
            self.against_differences(args, gradients)
        return self.differences, self.kinks

    @property
    def total(self) -> Callable[..., Any]:
        """All results as one real number."""
        function = self.function

        def total(x: Any, y: Any) -> Any:
            value = weigh(function(x, y), 1)
            return value.real + 0.5 * value.imag if np.iscomplexobj(value) else value * 1.0

        return total

    def tolerance(self, args: tuple[Any, ...]) -> float:
        narrow = self.is_narrow or any(arg.dtype.itemsize < 8 for arg in args)
        return 3e-3 if narrow else 1e-9

    def values(self, args: tuple[Any, ...]) -> Any:
        """Compare the results; returns those of the fast level."""
        given = locked(args)
        expected = self.function(*locked(args))
        readable = self.levels[READABLE](*given)
        for one, other in zip(readable, expected, strict=True):
            if not same(one, other):
                raise Mismatch("the value", f"{readable}\nnot\n{expected}\n{args}")
        fast = self.fast_values(args, expected)
        if not all(same(one, other) for one, other in zip(given, args, strict=True)):
            raise Mismatch("an argument after the call", f"{given}\n{args}")
        return fast

    def fast_values(self, args: tuple[Any, ...], expected: Any) -> Any:
        given = locked(args)
        fast = self.levels[FAST](*given)
        for one, other in zip(fast, expected, strict=True):
            dtypes = [np.asarray(part).dtype for part in (one, other)]
            alike = np.shape(one) == np.shape(other) and dtypes[0] == dtypes[1]
            if not alike or (is_finite(expected) and not close(one, other, self.tolerance(args))):
                raise Mismatch("the value at the fast level", f"{fast}\nnot\n{expected}\n{args}")
        return fast

    def slopes(self, args: tuple[Any, ...]) -> None:
        expected = self.total(*locked(args))
        (value, slow), (quick_value, quick) = (
            self.gradients[level](*locked(args)) for level in (READABLE, FAST)
        )
        if not same(value, expected):
            raise Mismatch("the value beside the gradient", f"{value}\n{expected}\n{args}")
        if not is_finite((value, *slow)):
            return
        tolerance = max(self.tolerance(args), 1e-8)
        if not close(quick_value, expected, tolerance):
            raise Mismatch(
                "the value beside the fast gradient", f"{quick_value}\n{expected}\n{args}"
            )
        scale = max([1.0, *(float(np.max(np.abs(g), initial=0.0)) for g in slow)])
        for one, other in zip(quick, slow, strict=True):
            if not np.allclose(one, other, rtol=tolerance, atol=tolerance * scale):
                raise Mismatch("the gradients of the levels", f"{quick}\n{slow}\n{args}")
        self.against_differences(args, slow)

    def against_differences(self, args: tuple[Any, ...], gradients: Any) -> None:
        """The slope along a direction is that of differences, unless there is a kink."""
        if self.tolerance(args) > 1e-6 or not all(args[at].size for at in self.wrt):
            return
        rng = np.random.default_rng(7)
        directions = {at: rng.uniform(-1, 1, args[at].shape) for at in self.wrt}
        pairs = zip(gradients, directions.values(), strict=True)
        found = sum(float(np.sum(g * d)) for g, d in pairs)

        def at(h: float) -> float:
            moved = [copied(arg) for arg in args]
            for place, direction in directions.items():
                moved[place] += h * direction
            return float(self.total(*moved))

        if abs(at(0.0)) > LARGEST:
            return  # rounding is all that differences show
        slopes = [(8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h) for h in STEPS]
        if any(close(slope, found, 1e-5) for slope in slopes):
            self.differences += 1
            return
        sides = [(at(h) - at(0.0)) / h for h in (1e-5, -1e-5, 1e-6, -1e-6)]
        if all(close(side, sides[0], 1e-3) for side in sides) and is_finite(sides):
            text = f"{found}, differences {slopes}\n{args}\n{gradients}"
            raise Mismatch("the gradient", text)
        self.kinks += 1

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
        calls = [c for c in self.calls if all(c[at].dtype.kind == "f" for at in self.wrt)]
        alone = [gradient(*locked(args)) for args in calls]
        together: dict[tuple[int, int], Any] = {}

        def work(own: int) -> None:
            with np.errstate(all="ignore"):
                for at, args in enumerate(calls):
                    together[own, at] = gradient(*locked(args))

        threads = [threading.Thread(target=work, args=(own,)) for own in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for own in range(2):
            for at, (value, gradients) in enumerate(alone):
                got = together.get((own, at))
                pairs = zip((value, *gradients), flat(got) if got else (), strict=False)
                if got is None or not all(same(one, other) for one, other in pairs):
                    raise Mismatch("in a thread", f"{got}\nnot\n{(value, gradients)}")


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def same(found: Any, expected: Any) -> bool:
    """Equal to the bit; a Python number may be NumPy's."""
    if np.shape(found) != np.shape(expected):
        return False
    if np.asarray(found).dtype != np.asarray(expected).dtype:
        return False
    return bool(np.array_equal(bits(found), bits(expected)))


def is_finite(values: Any) -> bool:
    return all(bool(np.all(np.isfinite(value))) for value in flat(values))
