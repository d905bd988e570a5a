"""Gradients against finite differences, and against forward mode."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import GradientCheckError, StcompileError
from stcompile.calls.apart import places_in
from stcompile.calls.arguments import Arguments, is_several
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.two_modes import direction, is_moved, slope, tangent_of
from stcompile.transforms.varied import Variation, variations
from stcompile.wengert.generators import undrawn

SAMPLES = 64  # entries of one array that are checked one by one
TOLERANCE = 1e-5
EXACT = 1e-3  # part of the tolerance that two exact slopes may differ by

DIFFERENCES, FORWARD = "finite differences", "forward mode"


@dataclass(frozen=True)
class Mismatch:
    """An entry of a gradient, or its slope along a direction, beside the number that it is compared
    with."""

    where: str
    gradient: complex
    difference: complex
    error: float
    rounding: float  # bound of the difference's error from the rounding of the values
    relative: float = 0.0
    beside: str = DIFFERENCES

    def is_within(self, tolerance: float) -> bool:
        """True if the two agree."""
        return self.relative <= tolerance * (EXACT if self.beside == FORWARD else 1.0)

    def refusal(self) -> GradientCheckError:
        gives = "gives" if self.beside == FORWARD else "give"
        return GradientCheckError(
            f"the gradient with respect to {self.where} is {self.gradient!r}, but {self.beside} "
            f"{gives} {self.difference!r} (error {self.error:.3g})"
        )


@dataclass(frozen=True)
class Compared:
    """The entries of a gradient beside the numbers that they were compared with, the integers of
    the arguments that were varied, and why forward mode was not compared ("" if it was)."""

    entries: tuple[Mismatch, ...]
    varied: tuple[Variation, ...] = ()
    without_forward: str = ""

    def wrong(self, tolerance: float) -> list[Mismatch]:
        """The entries that differ by more."""
        return [m for m in self.entries if not m.is_within(tolerance)]

    @property
    def differences(self) -> tuple[Mismatch, ...]:
        """The entries beside finite differences."""
        return tuple(m for m in self.entries if m.beside == DIFFERENCES)


def check_gradients(
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> None:
    """Compare a gradient with finite differences and forward mode, as `compared` says.
    `GradientCheckError` names the worst entry when an error exceeds ``tolerance`` relative to the
    size of the gradient."""
    found = compared(gradient, arguments, keywords, seed=seed)
    worst = worst_of(found.wrong(tolerance))
    if worst is not None:
        raise worst.refusal()


def compared(
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    seed: int = 0,
) -> Compared:
    """A gradient beside central differences of the plain function, in float64.

    Complex arguments are moved along both parts: their gradient is dL/da - i dL/db.

    Every entry of small arrays is compared, a sample of large arrays, and a random direction
    through all of them (which depends on every entry at once). Floating-point arguments are
    converted to float64 first. Random generators draw the same each time, and their states are
    restored. A function that writes into its arguments gets fresh copies for each value: the given
    arrays stay unchanged.

    The slope along a random direction is compared with that of forward mode as well, which is
    exact. Then the arrays of integers and truth values among the arguments are varied within their
    own range (`varied`); where the plain function takes them, and is smooth, the slope is compared
    with both, and the entries too if it is wrong.
    """
    given = gradient.bind(arguments, keywords)
    exact = replace(given, values={n: _in_float64(v) for n, v in given.values.items()})
    check = _Check(gradient, exact, seed)
    entries = [*check.entries(exact), *check.both_modes(exact)]
    varied = []
    for variation, name, value in variations(exact.values):
        there = replace(exact, values={**exact.values, name: value})
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # nobody asked for these arguments
            left_out = check.left_out(there)
            if not left_out:
                found, left_out = check.varied(there, str(variation))
                entries += found
        varied.append(replace(variation, left_out=left_out))
    return Compared(tuple(entries), tuple(varied), check.without_forward)


class _Check:
    """The calls of a function and of its gradient that are compared."""

    def __init__(self, gradient: Gradient[..., Any], exact: Arguments, seed: int) -> None:
        self.wrt, self.function = gradient.wrt, gradient.function
        self.transformed: Gradient[..., Any] = Gradient(
            gradient.function, gradient.wrt, True, gradient.options
        )
        compiled = self.transformed.specialise(exact)
        self.hidden = compiled.staged.hidden
        self.writes = bool(compiled.written or gradient.options.copy)
        self.rng = np.random.default_rng(seed)
        found = {place: at for at, place in reversed([*enumerate(places_in(exact, self.wrt))])}
        self.places = sorted(found, key=found.__getitem__)  # each once
        self.wanted = [found[place] for place in self.places]  # those among the gradients
        self.names = [trees.show_path(*place) for place in self.places]
        self.tangent = tangent_of(gradient.function, exact, self.places, gradient.options)
        self.without_forward = ""
        if gradient.options.xp:
            self.without_forward = "it is for arrays of NumPy alone"

    def called(
        self,
        function: Callable[..., Any],
        at: Arguments,
        *more: Any,
        changed: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """The value of a call, which draws the same random numbers each time, and gets copies of
        all arrays if the function writes into one."""
        with undrawn([*at.values.values(), *(h.read() for h in self.hidden)]):
            values = {**at.values, **changed}
            values = _copied(values) if self.writes else values
            if more:
                return function(*values.values(), *more)
            return at.call(function, values)

    def value(self, at: Arguments, changed: Mapping[str, Any] = MappingProxyType({})) -> float:
        """The value of the plain function."""
        return float(np.sum(self.called(self.function, at, changed=changed)))

    def gradients(self, at: Arguments) -> tuple[float, tuple[Any, ...]]:
        """The value, and the gradient by each argument."""
        value, found = self.called(self.transformed, at)
        parts = tuple(found) if is_several(self.wrt) else (found,)
        return float(value), tuple(parts[at] for at in self.wanted)

    def entries(self, at: Arguments) -> list[Mismatch]:
        """The entries of a gradient beside differences."""
        mismatches: list[Mismatch] = []
        for (name, start), gradient in zip(self.places, self.gradients(at)[1], strict=True):
            for inner, present in trees.leaves(trees.follow(at.values[name], start)):
                leaf, path = trees.follow(gradient, inner), (*start, *inner)
                if is_moved(present) and isinstance(
                    leaf, np.ndarray | float | complex | np.inexact
                ):
                    shown = trees.show_path(name, path)

                    def value_at(new: Any, name: str = name, path: trees.Path = path) -> float:
                        return self.value(at, {name: _with_leaf(at.values[name], path, new)})

                    mismatches += list(_compare(shown, leaf, present, value_at, self.rng))
        return _with_relative_errors(mismatches)

    def both_modes(self, at: Arguments, where: str = "") -> list[Mismatch]:
        """The slope along a random direction, by the gradient and by forward mode."""
        along = [direction(part, self.rng) for part in self._parts(at)]
        return self._beside_forward(at, *self.gradients(at), along, where)

    def _beside_forward(
        self,
        at: Arguments,
        value: float,
        gradients: tuple[Any, ...],
        along: list[Any],
        where: str,
    ) -> list[Mismatch]:
        if self.without_forward:
            return []
        try:
            tangent = self.called(self.tangent, at, *along)
        except StcompileError as error:
            self.without_forward = error.reason
            return []
        found = slope(gradients, along, tangent)
        apart = abs(found.reverse - found.forward)
        step = _step(max(map(_largest, self._parts(at))))
        rounding = _rounding(value, step)
        least = rounding / TOLERANCE  # smaller slopes are rounding, as those of differences are
        relative = 0.0 if found.error == 0.0 else apart / max(found.size, abs(found.forward), least)
        relative = relative if np.isfinite(relative) else np.inf
        shown = f"{self._along}{where}"
        beside = FORWARD
        return [Mismatch(shown, found.reverse, found.forward, apart, rounding, relative, beside)]

    def _parts(self, at: Arguments) -> list[Any]:
        """The parts of the arguments that are differentiated by."""
        return [trees.follow(at.values[name], path) for name, path in self.places]

    @property
    def _along(self) -> str:
        return f"{' and '.join(self.names)}, along a random direction"

    def left_out(self, at: Arguments) -> str:
        """The reason why the plain function is not compared at some arguments; "" if it is."""
        try:
            value = self.value(at)
        except Exception as error:
            return f"raises {type(error).__name__}"
        return "" if np.isfinite(value) else f"gives {value}"

    def varied(self, at: Arguments, variation: str) -> tuple[list[Mismatch], str]:
        """The slope at varied arguments beside both other slopes, with the entries if it is wrong;
        or the reason why differences mean nothing there."""
        where = f", with {variation}"
        along = [direction(part, self.rng) for part in self._parts(at)]
        try:
            value, gradients = self.gradients(at)
        except (LookupError, ValueError, ArithmeticError) as error:
            raise GradientCheckError(
                f"the gradient with respect to {' and '.join(self.names)}{where} raises "
                f"{type(error).__name__} ({error}), where the function does not"
            ) from error
        if not np.isfinite(slope(gradients, along, 0.0).reverse):
            return [], "has no finite gradient there"
        exact = self._beside_forward(at, value, gradients, along, where)

        def value_at(h: float) -> float:
            moved: dict[str, Any] = {}
            for (name, path), step in zip(self.places, along, strict=True):
                moved[name] = _moved(moved.get(name, at.values[name]), step, h, path)
            return self.value(at, moved)

        size = max(map(_largest, self._parts(at)))
        try:
            difference, rounding = _central(value_at, _step(size))
            smooth = _is_smooth(value_at, difference, rounding, _step(size))
        except Exception as error:
            return exact, f"raises {type(error).__name__} near by"
        if not smooth:
            return exact, "is not smooth there"
        reverse = slope(gradients, along, 0.0).reverse
        found = _mismatch(f"{self._along}{where}", reverse, difference, rounding)
        (found,) = _with_relative_errors([found])
        if found.is_within(TOLERANCE):
            return [*exact, found], ""
        entries = [replace(m, where=m.where + where) for m in self.entries(at)]
        return [*exact, found, *(m for m in entries if not m.is_within(TOLERANCE))], ""


def _moved(value: Any, along: Any, h: float, start: trees.Path) -> Any:
    """An argument, moved by so much of a direction for the part of it at a path."""
    steps = {(*start, *path): step for path, step in trees.leaves(along)}

    def leaf(path: trees.Path, item: Any) -> Any:
        step = steps.get(path, 0.0)
        if isinstance(item, np.ndarray) and item.dtype.kind in "fc":
            return item + h * step
        if isinstance(item, float | complex | np.inexact):
            return type(item)(item + h * step)
        return item

    return trees.map_leaves(leaf, value)


def _largest(value: Any) -> float:
    """The largest entry of an argument."""
    sizes = (
        float(np.max(np.abs(leaf), initial=0.0))
        for _, leaf in trees.leaves(value)
        if isinstance(leaf, np.ndarray | float | complex | np.inexact)
    )
    return max(sizes, default=0.0)


def _is_smooth(f: Callable[[float], float], slope: float, rounding: float, h: float) -> bool:
    """True if a difference of a step ten times as small agrees with a slope, as it does where no
    kink is near, and if differences of both sides do, as at no kink."""
    at = f(0.0)
    sides = [(f(step) - at) / step for step in (1e-2 * h, -1e-2 * h, 1e-3 * h, -1e-3 * h)]
    size = max(abs(slope), *map(abs, sides), 1e-6)
    closer, more = _central(f, h / 10)
    is_steady = abs(closer - slope) <= max(TOLERANCE * size, 10 * (rounding + more))
    return is_steady and all(abs(side - slope) <= 1e-2 * size for side in sides)


def worst_of(found: Sequence[Mismatch]) -> Mismatch | None:
    """The entry with the largest error: an entry compared with differences, if there is any."""
    beside = [m for m in found if m.beside == DIFFERENCES] or found
    return max(beside, key=lambda m: m.relative, default=None)


def _in_float64(value: Any) -> Any:
    def leaf(path: trees.Path, item: Any) -> Any:
        if isinstance(item, np.ndarray) and item.dtype.kind == "f":
            return item.astype(np.float64)
        if isinstance(item, np.ndarray) and item.dtype.kind == "c":
            return item.astype(np.complex128)
        if isinstance(item, np.complexfloating):
            return np.complex128(item)
        return np.float64(item) if isinstance(item, np.floating) else item

    return trees.map_leaves(leaf, value)


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    def leaf(path: trees.Path, item: Any) -> Any:
        return item.copy("K") if type(item) is np.ndarray else item

    return {name: trees.map_leaves(leaf, value) for name, value in values.items()}


def _with_leaf(value: Any, path: trees.Path, new: Any) -> Any:
    return trees.map_leaves(lambda p, leaf: new if p == path else leaf, value)


def _compare(
    shown: str,
    gradient: Any,
    present: Any,
    value_at: Callable[[Any], float],
    rng: np.random.Generator,
) -> Iterator[Mismatch]:
    """The gradient of one leaf against differences: entry by entry, then along a direction."""
    number = complex if np.asarray(present).dtype.kind == "c" else float
    if not isinstance(present, np.ndarray):
        step = _step(abs(present))
        kind = type(present)
        difference = _slopes(lambda h: value_at(kind(present + h)), step, number)
        yield _mismatch(shown, number(gradient), *difference)
        return
    flat = present.ravel()
    count = min(flat.size, SAMPLES)
    for at in sorted(rng.choice(flat.size, count, replace=False)) if flat.size else ():
        index = tuple(int(i) for i in np.unravel_index(at, present.shape))
        direction = np.zeros_like(present)
        direction[index] = 1
        step = _step(float(abs(present[index])))
        difference = _along(value_at, present, direction, step)
        entry = f"{shown}[{', '.join(map(str, index))}]" if index else shown
        yield _mismatch(entry, number(gradient[index]), *difference)
    if flat.size > count:
        direction = rng.standard_normal(present.shape) / np.sqrt(flat.size)
        step = _step(float(np.max(np.abs(present))))
        difference = _along(value_at, present, direction, step)
        found = number(np.sum(gradient * direction))
        yield _mismatch(f"{shown}, along a random direction", found, *difference)


def _mismatch(where: str, found: complex, difference: complex, rounding: float) -> Mismatch:
    return Mismatch(where, found, difference, abs(found - difference), rounding)


def _along(
    value_at: Callable[[Any], float], present: Any, direction: Any, step: float
) -> tuple[complex, float]:
    number = complex if present.dtype.kind == "c" else float
    return _slopes(lambda h: value_at(present + h * direction), step, number)


def _slopes(f: Callable[[Any], float], step: float, number: type) -> tuple[complex, float]:
    """The derivative along the real numbers, minus i times the derivative along the imaginary
    numbers for a ``complex`` argument; and its error by rounding."""
    slope, rounding = _central(f, step)
    if number is not complex:
        return slope, rounding
    other, more = _central(lambda h: f(1j * h), step)
    return slope - 1j * other, rounding + more


def _step(scale: float) -> float:
    """A step that balances the truncation of a fourth-order difference and rounding."""
    return 1e-3 * max(scale, 0.1)


def _central(f: Callable[[float], float], h: float) -> tuple[float, float]:
    """The fourth-order central difference (Fornberg 1988, table 1), and how far off it is if each
    value is, by the last bit."""
    values = f(h), f(-h), f(2 * h), f(-2 * h)
    slope = (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h)
    return slope, _rounding(max(map(abs, values)), h)


def _rounding(value: float, h: float) -> float:
    """The error of a difference if each value has an error of its last bit."""
    return 1.5 * math.ulp(value) / h


def _with_relative_errors(mismatches: Sequence[Mismatch]) -> list[Mismatch]:
    """Entries with errors relative to the entry itself, or to a thousandth of the largest one, or
    to the least one that stands out of the rounding of the values."""
    scale = max((max(abs(m.gradient), abs(m.difference)) for m in mismatches), default=0.0)
    found = []
    for m in mismatches:
        size = max(abs(m.gradient), abs(m.difference), 1e-3 * scale, m.rounding / TOLERANCE)
        relative = m.error / size if np.isfinite(m.error) else np.inf
        found.append(replace(m, relative=float(relative)))
    return found
