"""Gradients against finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import GradientCheckError
from stcompile.calls.arguments import chosen, is_several
from stcompile.transforms.gradient import Gradient
from stcompile.wengert.generators import undrawn

SAMPLES = 64  # entries of one array that are checked one by one
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Mismatch:
    """One entry of a gradient and its finite difference."""

    where: str
    gradient: complex
    difference: complex
    error: float
    rounding: float  # how far off the difference may be, by the rounding of the values
    relative: float = 0.0

    def refusal(self) -> GradientCheckError:
        return GradientCheckError(
            f"the gradient with respect to {self.where} is {self.gradient!r}, but finite "
            f"differences give {self.difference!r} (error {self.error:.3g})"
        )


def check_gradients(
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> None:
    """Compare a gradient with finite differences, as `compared` says. `GradientCheckError` names
    the worst entry when an error exceeds ``tolerance`` relative to the size of the gradient."""
    found = compared(gradient, arguments, keywords, seed=seed)
    worst = worst_of(found)
    if worst is not None and not worst.relative <= tolerance:
        raise worst.refusal()


def compared(
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    seed: int = 0,
) -> list[Mismatch]:
    """A gradient beside central differences of the plain function, in float64.

    Complex arguments are moved along both parts: their gradient is dL/da - i dL/db.

    Every entry of small arrays is compared, a sample of large ones, and one random direction
    through all of them (which sees every entry at once). Floating-point arguments are converted
    to float64 first. Random generators draw the same each time, and are left as they were. A
    function that writes into its arguments gets fresh copies for each value: the arrays that were
    given stay as they are.
    """
    given = gradient.bind(arguments, keywords)
    exact = replace(given, values={n: _in_float64(v) for n, v in given.values.items()})
    transformed: Gradient[..., Any] = Gradient(
        gradient.function, gradient.wrt, True, gradient.options
    )
    compiled = transformed.specialise(exact)
    hidden = compiled.staged.hidden
    writes = bool(compiled.written or gradient.options.copy)

    def called(function: Callable[..., Any], **changed: Any) -> Any:
        """The value of a call, which draws the same random numbers each time, and gets copies of
        all arrays if the function writes into one."""
        with undrawn([*exact.values.values(), *(h.read() for h in hidden)]):
            values = {**exact.values, **changed}
            return exact.call(function, **(_copied(values) if writes else values))

    _, found = called(transformed)
    which = chosen(gradient.wrt)
    found = found if is_several(gradient.wrt) else (found,)
    names = [name for name in map(given.name_of, which) if name is not None]
    rng = np.random.default_rng(seed)
    mismatches = []
    for name, gradients in zip(names, found, strict=True):
        for path, leaf in trees.leaves(gradients):
            if isinstance(leaf, np.ndarray | float | complex | np.inexact):
                shown = trees.show_path(name, path)

                def value_at(new: Any, name: str = name, path: trees.Path = path) -> float:
                    changed = _with_leaf(exact.values[name], path, new)
                    return float(np.sum(called(gradient.function, **{name: changed})))

                present = trees.follow(exact.values[name], path)
                mismatches += list(_compare(shown, leaf, present, value_at, rng))
    return _with_relative_errors(mismatches)


def worst_of(found: Sequence[Mismatch]) -> Mismatch | None:
    """The entry with the largest error."""
    return max(found, key=lambda m: m.relative, default=None)


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
) -> Any:
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
    """The derivative along the real numbers, less i times that along the imaginary ones of a
    ``complex`` argument; and its error by rounding."""
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
    return slope, 1.5 * math.ulp(max(map(abs, values))) / h


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
