"""Whether a program of `tests.fuzz.pairs` is compiled right.

The value and the gradient of one number made of its results are compared at the level and with the
option that were drawn with the program: the value with NumPy's, the gradient with the tangent of
forward mode in all calls, and with differences in the first. Then the transform that was drawn with
it is compared with these, at the same level. In full, all levels are: also each with its own
forward mode, and the values of the readable level with NumPy's to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import LEVELS, Options
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from tests.fuzz.differences import LARGEST, agrees, central
from tests.fuzz.generate import function_of
from tests.fuzz.identity import Tangents
from tests.fuzz.judge_arrays import Comparison, alike, computes_in_less, is_narrow
from tests.fuzz.structures import directions, flat, is_finite, locked, moved, same
from tests.fuzz.verdicts import REFUSALS, Mismatch, Verdict, close, general, interpreted, verdict_of
from tests.programs import READABLE

Args = tuple[Any, ...]
WRT = (0, 1, 2, 6)  # x, a, y, s
OPTIONS = {
    "none": {}, "dynamic": {"dynamic": True}, "copy": {"copy": True},
    "memory": {"memory": 2_000_000},
    "parallel": {"parallel": True}, "debug_nans": {"debug_nans": True},
}  # fmt: skip
JUMPS = 4  # directions in which a jump is looked for
RATE = 0.25  # of a training step
NOT_BROADCAST = (  # docs/limitations/language.md
    "ValueError: operands could not be broadcast",
    "ValueError: could not broadcast input array",
)


def judge_source(
    source: str,
    calls: tuple[Args, ...],
    second_order: bool = False,
    light: bool = False,
    how: tuple[str, str, str] = ("value_and_grad", "fast", "none"),
) -> Verdict:
    """The verdict on a program in text; ``how`` are the transform, the level and the option."""
    function = function_of(source)
    transform, level, option = how
    comparison: list[PairComparison] = []

    def examine() -> tuple[int, int]:
        comparison.append(PairComparison(function, source, calls))
        with interpreted():
            comparison[0].judge(transform, level, option, light, second_order)
        return comparison[0].differences, comparison[0].kinks

    verdict = verdict_of(function, examine)
    if verdict.kind == "crashed" and verdict.about.startswith(NOT_BROADCAST):
        return Verdict("refused", "a length that the data decide is never broadcast")
    if verdict.kind == "right" and comparison[0].refused:
        return Verdict("right", comparison[0].refused, "", verdict.differences, verdict.kinks)
    return verdict


class PairComparison(Comparison):
    """Compilations of a program."""

    def __init__(self, function: Callable[..., Any], text: str, calls: tuple[Args, ...]) -> None:
        self.function = function
        self.is_narrow = computes_in_less(text)
        self.differences = self.kinks = 0
        self.wrt = WRT
        self.calls = alike(calls)
        self.refused = ""

    def tolerance(self, args: Args) -> float:
        """Masks among the arguments are no numbers of few bits."""
        return 3e-3 if self.is_narrow or is_narrow(self.active(args)) else 1e-9

    def total(self, *args: Any) -> Any:
        """One real number of both results."""
        t, r = self.function(*args)
        return np.real(t) + 0.5 * np.sum(np.real(r * r))

    def judge(
        self,
        transform: str,
        level: str,
        option: str,
        light: bool,
        second_order: bool,
    ) -> None:
        options = Options(level, **OPTIONS[option])  # type: ignore[arg-type]
        plain = Options(level)  # type: ignore[arg-type]
        tangents = {level: Tangents(self.total, WRT, 7, plain)}
        found = self.gradients(options, tangents[level])
        self.differ(found)
        for other in () if light else LEVELS:
            if other != level:
                at = Options(other)  # type: ignore[arg-type]
                self.gradients(at, Tangents(self.total, WRT, 7, at))
        if not light:
            self.exact_value()
        if found:
            self.transformed(transform, plain, found, tangents[level])
            if second_order:
                self.transformed("second order", plain, found, tangents[level])

    def gradients(self, options: Options, tangents: Tangents) -> dict[int, Any]:
        """The gradients of all calls in which there is one, compared with tangents."""
        gradient = Gradient(self.total, WRT, True, options)
        found = {}
        for number, args in enumerate(self.calls):
            given = locked(args)
            try:
                value, gradients = gradient(*given)
            except st.NanError:
                continue
            expected = self.total(*locked(args))
            if not close(value, expected, self.tolerance(args)):
                if self.is_at_a_jump(args):
                    continue
                raise Mismatch(f"the value, {options.level}", f"{value}\nnot\n{expected}\n{args}")
            self.untouched(given, args)
            if is_finite(gradients) and abs(expected) < LARGEST:
                try:
                    tangents.check(args, gradients, options.level, self.tolerance(args) > 1e-6)
                except Mismatch:
                    if self.is_at_a_jump(args):
                        continue
                    raise
                found[number] = gradients
        return found

    def is_at_a_jump(self, args: Args) -> bool:
        """True if rounding decides about the value: an integer that is made of a sum, or a test,
        is another one at arguments that differ in the last bits."""
        active = self.active(args)
        expected = self.total(*locked(args))
        for seed in range(JUMPS):
            for h in (1e-13, -1e-13):
                near = moved(active, directions(active, seed), h)
                places = dict(zip(WRT, near, strict=True))
                value = self.total(*(places.get(at, arg) for at, arg in enumerate(locked(args))))
                if not close(value, expected, 1e-9):
                    return True
        return False

    def exact_value(self) -> None:
        primal: Primal[..., Any] = Primal(self.function, READABLE)
        for args in self.calls:
            found, expected = primal(*locked(args)), self.function(*locked(args))
            if not same(found, expected):
                raise Mismatch("the value", f"{found}\nnot\n{expected}\n{args}")

    def differ(self, found: dict[int, Any]) -> None:
        for number, gradients in [*found.items()][:1]:
            self.against_differences(self.total, self.calls[number], gradients)

    def active(self, args: Args) -> Args:
        return tuple(args[at] for at in WRT)

    # --- transforms ------------------------------------------------------------------------------

    def transformed(
        self, name: str, options: Options, found: dict[int, Any], tangents: Tangents
    ) -> None:
        """Compare what a transform gives with gradients and tangents."""
        number, gradients = next(iter(found.items()))
        args = self.calls[number]
        try:
            made = TRANSFORMS[name](self, options.level, args, gradients)
        except REFUSALS as error:
            self.refused = f"{name} refused: {general(error.reason)}"
            return
        if made is None:
            return
        if name in SLOPES:
            along, tangent = tangents.along(args)
            if tangent is not None and is_finite(made):
                slope = sum(np.sum(np.real(g * d)) for g, d in zip(gradients, along, strict=True))
                self.alike(made, slope, name, gradients)
            return
        self.alike(made, gradients, name, gradients)

    def alike(self, made: Any, expected: Any, what: str, scale: Any) -> None:
        """Equal up to rounding, relative to the largest entry."""
        if not is_finite(made):
            raise Mismatch(what, f"{made}\nnot\n{expected}")
        size = sum(float(np.sum(np.abs(part))) for part in flat(scale)) + 1.0
        tolerance = self.tolerance(self.calls[0])
        for one, other in zip(flat(made), flat(expected), strict=True):
            apart = np.max(np.abs(np.subtract(one, other)), initial=0.0)
            if np.shape(one) != np.shape(other) or not apart <= tolerance * size:
                raise Mismatch(what, f"{made}\nnot\n{expected}\n{self.calls[0]}")

    def of_active(self, args: Args) -> Callable[..., Any]:
        """The function of the arguments that a gradient is by."""
        function = self.function
        k, b, c = args[3:6]

        def of_active(x, a, y, s):
            return function(x, a, y, k, b, c, s)

        return of_active

    def total_of_active(self, args: Args) -> Callable[..., Any]:
        total = self.total
        k, b, c = args[3:6]

        def total_of_active(x, a, y, s):
            return total(x, a, y, k, b, c, s)

        return total_of_active

    def grad(self, level: str, args: Args, gradients: Any) -> Any:
        return st.grad(self.total, WRT, level=level)(*locked(args))

    def vjp(self, level: str, args: Args, gradients: Any) -> Any:
        given = locked(self.active(args))
        (_, r), pullback = st.vjp(self.of_active(args), *given, level=level)
        return pullback((1.0, np.array(r)))

    def linearize(self, level: str, args: Args, gradients: Any) -> Any:
        given = locked(self.active(args))
        (_, r), linear = st.linearize(self.of_active(args), *given, level=level)
        d_t, d_r = linear(*directions(self.active(args), seed=5))
        return np.real(d_t) + np.sum(np.real(r * d_r))

    def jacobian(self, mode: Any, level: str, args: Args) -> Any:
        made = st.jacobian(self.of_active(args), (0, 1, 2, 3), mode=mode, level=level)
        given = locked(self.active(args))
        of_t, of_r = made(*given)
        _, r = self.function(*locked(args))
        weights = np.asarray(r)
        return tuple(
            np.real(one) + np.real(np.tensordot(weights, more, weights.ndim))
            for one, more in zip(of_t, of_r, strict=True)
        )

    def forward(self, level: str, args: Args, gradients: Any) -> Any:
        return self.jacobian("forward", level, args)

    def reverse(self, level: str, args: Args, gradients: Any) -> Any:
        return self.jacobian("reverse", level, args)

    def checkpoint(self, level: str, args: Args, gradients: Any) -> Any:
        inner = st.checkpoint(self.function)

        def number(*args):
            t, r = inner(*args)
            return np.real(t) + 0.5 * np.sum(np.real(r * r))

        return st.grad(number, WRT, level=level)(*locked(args))

    def train_step(self, level: str, args: Args, gradients: Any) -> Any:
        arrays = (0, 1, 2)
        step = st.train_step(self.total, st.optim.SGD(RATE), arrays, level=level)
        own = [np.array(args[at]) for at in arrays]
        step(*own, *locked(args[3:]))
        moved = [(args[at] - new) / RATE for at, new in zip(arrays, own, strict=True)]
        return (*moved, gradients[3])

    def vmap(self, level: str, args: Args, gradients: Any) -> Any:
        batch = [args, *(other for other in self.calls if other is not args)][:3]
        stacked = [np.stack(parts) for parts in zip(*locked(tuple(batch)), strict=True)]
        mapped = st.vmap(st.grad(self.total, WRT, level=level), level=level)
        return tuple(part[0] for part in mapped(*stacked))

    def hvp(self, level: str, args: Args, gradients: Any) -> None:
        along = directions(self.active(args), seed=5)
        given = locked(self.active(args))
        product = st.hvp(self.total_of_active(args), given, along, level=level)
        first = Tangents(self.total, WRT, 7, Options("readable"))
        self.second_slope(args, along, product, first, "hvp")

    def hessian(self, level: str, args: Args, gradients: Any) -> None:
        total = self.total_of_active(args)
        x, a, y, s = locked(self.active(args))

        def of_x(x):
            return total(x, a, y, s)

        made = st.hessian(of_x, level=level)(x)
        along = directions((x, np.zeros_like(a), np.zeros_like(y), 0.0), seed=5)
        along = (along[0], np.zeros_like(a), np.zeros_like(y), 0.0)
        first = Tangents(self.total, WRT, 7, Options("readable"))
        self.second_slope(args, along, (made @ along[0],), first, "hessian")

    def second_slope(self, args: Args, along: Any, product: Any, first: Any, what: str) -> None:
        """A second derivative along a direction, beside differences of the tangent along it."""
        if self.tolerance(args) > 1e-6:
            return

        def slope(*near: Any) -> float:
            return float(first.compiled(*locked(near), *locked(along)))

        found = sum(float(np.sum(g * d)) for g, d in zip(product, along, strict=False))

        def at(h: float) -> float:
            near = [v + h * d for v, d in zip(self.active(args), along, strict=True)]
            places = dict(zip(WRT, near, strict=True))
            return slope(*(places.get(number, arg) for number, arg in enumerate(args)))

        right = agrees(at, found) if np.isfinite(found) else None
        if right is False:
            raise Mismatch(what, f"{found}, differences {central(at, 1e-4)}\n{args}\n{product}")
        self.differences += right is True
        self.kinks += right is None

    def second_order(self, level: str, args: Args, gradients: Any) -> None:
        first = Gradient(self.total, WRT, False, Options(level))  # type: ignore[arg-type]

        def slope(*args):
            return sum(np.sum(np.sin(part)) for part in first(*args))

        gradient = Gradient(slope, WRT, True, Options(level))  # type: ignore[arg-type]
        value, found = gradient(*locked(args))
        if is_finite((value, found)) and self.tolerance(args) < 1e-6:
            self.against_differences(slope, args, found, "the second order")


SLOPES = frozenset({"linearize"})
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "value_and_grad": lambda *_: None,
    "grad": PairComparison.grad,
    "vjp": PairComparison.vjp,
    "linearize": PairComparison.linearize,
    "jacobian, forward": PairComparison.forward,
    "jacobian, reverse": PairComparison.reverse,
    "hessian": PairComparison.hessian,
    "hvp": PairComparison.hvp,
    "second order": PairComparison.second_order,
    "vmap": PairComparison.vmap,
    "checkpoint": PairComparison.checkpoint,
    "train_step": PairComparison.train_step,
}
