"""The self-test of an exported gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .calls import Named, repeatable
from .differences import Error, gradient_errors

TRIES = 10  # seeds, until the function has a value


def check_gradient(
    function: Callable[..., Any],
    value: Callable[..., Any] | None,
    example: Callable[[np.random.Generator], Named],
    wrt: Sequence[str],
    several: bool,
    generators: Sequence[Any],
) -> int:
    """Compare a gradient with differences of the value; prints the outcome and returns 0, or 1 if
    they differ.

    `function` returns the gradient, or with no `value` of its own ``(value, gradient)``; the
    gradient is a tuple if `several`. `example` makes arguments, `wrt` names the arguments that it
    is taken by.
    """
    call = repeatable(function, generators)
    call_value = call if value is None else repeatable(value, generators)

    def value_of(arguments: Named) -> Any:
        result, _ = call_value(arguments)
        return result[0] if value is None else result

    def gradients_of(arguments: Named) -> Any:
        result, _ = call(arguments)
        gradient = result[1] if value is None else result
        return dict(zip(wrt, gradient if several else (gradient,), strict=True))

    arguments = valid_arguments(value_of, example)
    if arguments is None:
        return 1
    rng = np.random.default_rng(0)
    return verdict(gradient_errors(value_of, gradients_of(arguments), arguments, rng))


def valid_arguments(
    value: Callable[[Named], Any], example: Callable[[np.random.Generator], Named]
) -> Named | None:
    """Random arguments at which the function has a finite value; None, and a message, if there
    are none."""
    problem = ""
    for seed in range(TRIES):
        arguments = example(np.random.default_rng(seed))
        try:
            found = float(np.sum(value(arguments)))  # the value may be an array of one element
        except Exception as error:
            problem = f"raises {type(error).__name__}: {error}"
            continue
        if np.isfinite(found):
            return arguments
        problem = f"is {found}"
    print(f"failed: at random arguments the function {problem}")
    return None


def verdict(errors: Sequence[Error]) -> int:
    """Print the worst of the errors, or all that are too large; 1 in that case, else 0."""
    wrong = {error.name: error for error in errors if error.share > 1}
    for error in wrong.values():
        print(f"failed: {error.name}: error {error.size:.2g}, allowed {error.allowed:.2g}")
    if errors and not wrong:
        worst = max(errors, key=lambda error: error.share)
        print(f"ok: largest error {worst.size:.2g}, allowed {worst.allowed:.2g} ({worst.name})")
    if not errors:
        print("failed: there is nothing to differentiate by")
    return 1 if wrong or not errors else 0
