"""The self-test of an exported training step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .calls import Named, is_inexact, leaves, repeatable, with_leaves
from .differences import ALLOWED, Error, gradient_errors, kind_of
from .gradient import valid_arguments, verdict


def check_step(
    step: Callable[..., Any],
    gradient: Callable[..., Any],
    update: Callable[..., Any],
    example: Callable[[np.random.Generator], Named],
    wrt: Sequence[str],
    state: Sequence[str],
    several: bool,
    generators: Sequence[Any],
) -> int:
    """Compare a gradient with differences of the loss that the step returns, and the changes of the
    step with those that `update` makes from that gradient; prints the outcome and returns 0, or 1
    if they differ.

    `gradient` returns ``(loss, gradient)``, the gradient as a tuple if `several`; `update` takes
    the parameters `wrt`, their gradients as ``gradient_of_...``, and the optimiser's `state`,
    and changes them in place.
    """
    call_step = repeatable(step, generators)
    call_gradient = repeatable(gradient, generators)

    def loss(arguments: Named) -> Any:
        return call_step(arguments)[0]

    def gradients_of(arguments: Named) -> Named:
        inputs = {name: value for name, value in arguments.items() if name not in state}
        found = call_gradient(inputs)[0][1]
        return dict(zip(wrt, found if several else (found,), strict=True))

    arguments = valid_arguments(loss, example)
    if arguments is None:
        return 1
    rng = np.random.default_rng(0)
    errors = gradient_errors(loss, gradients_of(arguments), arguments, rng)
    for _ in range(2):  # the second step starts from a state that is not zero
        changed = call_step(arguments)[1]
        gradients = gradients_of(arguments)
        expected = updated(update, arguments, gradients, wrt, state)
        disturbed = updated(update, arguments, with_noise(gradients, rng), wrt, state)
        for name in (*wrt, *state):
            before, after, right, other = (
                [leaf for _, leaf in leaves(found[name], name)]
                for found in (arguments, changed, expected, disturbed)
            )
            shown = [f"the new {path}" for path, _ in leaves(arguments[name], name)]
            errors += map(change_error, shown, before, after, right, other)
        arguments = {**arguments, **expected}
    return verdict(errors)


def updated(
    update: Callable[..., Any],
    arguments: Named,
    gradients: Named,
    wrt: Sequence[str],
    state: Sequence[str],
) -> Named:
    """Parameters and state after an update by these gradients."""
    given = {name: arguments[name] for name in (*wrt, *state)}
    given |= {f"gradient_of_{name}": gradient for name, gradient in gradients.items()}
    changed = repeatable(update, ())(given)[1]
    return {name: changed[name] for name in (*wrt, *state)}


def with_noise(gradients: Named, rng: np.random.Generator) -> Named:
    """Gradients with errors of the size of rounding errors."""
    found = [leaf for g in gradients.values() for _, leaf in leaves(g, "") if is_inexact(leaf)]
    largest = max((float(np.max(np.abs(leaf))) for leaf in found if leaf.size), default=0.0)

    def noisy(leaf: Any) -> Any:
        if not is_inexact(leaf):
            return leaf
        noise = 8 * np.finfo(leaf.dtype).eps * largest * rng.standard_normal(leaf.shape)
        return np.asarray(leaf + noise, leaf.dtype)

    return {
        name: with_leaves(gradient, (noisy(leaf) for _, leaf in leaves(gradient, "")))
        for name, gradient in gradients.items()
    }


def change_error(name: str, before: Any, after: Any, right: Any, disturbed: Any) -> Error:
    """The error of a change. Rounding errors are allowed for: those of the array itself, and those
    of the gradient, which some optimisers enlarge."""
    if not isinstance(before, np.ndarray):
        return Error(name, 0.0, 1.0)
    wide = [np.asarray(array, np.float64) for array in (before, after, right, disturbed)]
    change = float(np.linalg.norm(wide[2] - wide[0])) or 1e-300
    rounding = 10 * float(np.linalg.norm(wide[3] - wide[2]))
    if is_inexact(before):
        rounding += 10 * float(np.finfo(before.dtype).eps * np.linalg.norm(wide[2]))
    size = float(np.linalg.norm(wide[1] - wide[2]))
    return Error(name, size / change, ALLOWED[kind_of(before)] + rounding / change)
