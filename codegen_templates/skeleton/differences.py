"""A gradient against central differences of the value, along a few directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .calls import Named, is_inexact, leaves, with_leaves

STEPS = {"d": (1e-3, 1e-4, 1e-5, 1e-6), "f": (1e-1, 3e-2, 1e-2, 3e-3)}  # relative to the argument
ALLOWED = {"d": 1e-5, "f": 2e-2}  # relative errors, by the kind of float


class Error(NamedTuple):
    """The relative error of the quantity ``name``, and how large it may be."""

    name: str
    size: float
    allowed: float

    @property
    def share(self) -> float:
        """The error as a share of the allowed error."""
        return self.size / self.allowed if np.isfinite(self.size) else np.inf


def kind_of(leaf: Any) -> str:
    """``"f"`` for single precision, ``"d"`` for any other float."""
    return "f" if np.asarray(leaf).dtype in (np.float32, np.complex64) else "d"


def moved(arguments: Named, name: str, at: int, change: Any) -> Named:
    """The arguments with `change` added to leaf number `at` of the argument `name`."""
    parts = [leaf for _, leaf in leaves(arguments[name], name)]
    old = parts[at]
    new = np.asarray(old + change, np.asarray(old).dtype)
    parts[at] = new if isinstance(old, np.ndarray) else type(old)(new)
    return {**arguments, name: with_leaves(arguments[name], iter(parts))}


def gradient_errors(
    value: Callable[[Named], Any],
    gradients: Mapping[str, Any],
    arguments: Named,
    rng: np.random.Generator,
) -> list[Error]:
    """The error of the gradient of each array and float that `gradients`, by argument, are for."""
    start = float(np.sum(value(arguments)))  # the value may be an array of one element
    kinds = {kind_of(leaf) for gradient in gradients.values() for _, leaf in leaves(gradient, "")}
    single = "f" in kinds or kind_of(value(arguments)) == "f"
    found = []
    for name, gradient in gradients.items():
        pairs = zip(leaves(arguments[name], name), leaves(gradient, name), strict=True)
        for at, ((shown, leaf), (_, d_leaf)) in enumerate(pairs):
            if not is_inexact(leaf) or not np.size(leaf):
                continue

            def along(change: Any, name: str = name, at: int = at) -> float:
                return float(np.sum(value(moved(arguments, name, at, change))))

            found += [
                direction_error(shown, along, start, leaf, d_leaf, direction, single)
                for direction in directions(d_leaf, rng)
            ]
    return found


def directions(gradient: Any, rng: np.random.Generator) -> Sequence[Any]:
    """Unit vectors with random weights and the signs of the gradient: the contributions of its
    entries add up, and stand out from rounding errors. Where it is zero, signs are random. The
    gradient of a complex number is dL/da - i dL/db, and L grows along its conjugate."""
    found = []
    for _ in range(3):
        noise = rng.standard_normal(np.shape(gradient))
        ascent = np.conjugate(np.sign(gradient))
        direction = noise * noise * np.where(gradient == 0, np.sign(noise), ascent)
        found.append(direction / np.linalg.norm(direction))
    return found


def direction_error(
    name: str,
    along: Callable[[Any], float],
    start: float,
    leaf: Any,
    gradient: Any,
    direction: Any,
    single: bool,
) -> Error:
    """The error of a directional derivative. `along` is the value after a change of the leaf.

    The best of several steps counts: a long step leaves the tangent, a short step drowns in
    rounding errors. The rounding errors of the value are measured, by steps too short to matter.
    """
    kind, precision = ("f", 1.2e-7) if single else ("d", 2.2e-16)
    size = float(np.linalg.norm(leaf)) or float(np.sqrt(np.size(leaf)))
    tiny = [along(step * precision * size * direction) for step in (-4, -2, 2, 4)]
    noise = max(4 * precision * abs(start), *(abs(value - start) for value in tiny))
    expected = float(np.real(np.sum(gradient * direction)))
    typical = float(np.linalg.norm(gradient)) / np.sqrt(np.size(gradient))
    least = (1e-3 if single else 1e-6) * abs(start) / size  # smaller slopes do not matter
    found = []
    for step in STEPS[kind]:
        length = step * size
        slope = (along(length * direction) - along(-length * direction)) / (2 * length)
        scale = max(abs(slope), abs(expected), typical, least, 1e-300)
        rounding = min(noise / length / scale, 1e-2)
        found.append(Error(name, abs(slope - expected) / scale, ALLOWED[kind] + rounding))
    return min(found, key=lambda error: error.share)
