"""Check one rule alone: run it, and compare with finite differences of its template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.templates import grouped as spread

REST = ("xs", "indices", "counters", "operands")
Rule = Callable[..., Any]


def grouped(function: Rule, inputs: Sequence[Any], before: int = 0) -> tuple[Any, ...]:
    """Inputs as ``function`` takes them: a last parameter named in `REST` takes all the others.

    ``before`` parameters (``out`` of a rule) precede the inputs.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for place, name in enumerate(names[before:]):
        if name in REST:
            return (*inputs[:place], tuple(inputs[place:]))
    return tuple(inputs)


def copied(inputs: Sequence[Any]) -> list[Any]:
    return [np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs]


def primal(name: str, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
    """The value of a primitive; its inputs are left as they are, whatever the template writes."""
    template = TEMPLATES[name]
    return template(*spread(template, copied(inputs)), **params)


def fitted(cotangent: Any, x: Any) -> Any:
    """What the engine does to a cotangent: summed to the shape of its input, or broadcast."""
    result, shape = np.asarray(cotangent), np.shape(x)
    result = result.sum(axis=tuple(range(max(result.ndim - len(shape), 0))))
    if result.ndim == len(shape):
        ones = tuple(i for i, dim in enumerate(shape) if dim == 1)
        result = result.sum(axis=ones, keepdims=True)
    return np.broadcast_to(result, shape)


def cotangents(
    name: str,
    inputs: Sequence[Any],
    d_out: Any,
    params: dict[str, Any],
    rule: Rule | None = None,
    **facts: Any,
) -> list[Any]:
    """The cotangent of each input by its rule (``None``: the rule gives none)."""
    rule = DERIVATIVES[name] if rule is None else rule
    out = primal(name, inputs, params)
    if rule.mark == "accumulates":
        d_x = np.zeros_like(inputs[0])
        given = grouped(rule, [d_x, np.copy(d_out), *inputs[1:]])
        return [rule(*given, **params, **facts), *(None for _ in inputs[1:])]
    if rule.mark == "adjoint":
        result = rule(out, *grouped(rule, copied(inputs), 1), np.copy(d_out), **params, **facts)
        results = list(result) if isinstance(result, tuple) else [result]
    else:
        result = rule(out, *copied(inputs), **params, **facts)
        partials = result if isinstance(result, tuple) else (result,)
        results = [None if p is None else d_out * p for p in partials]
    assert len(results) == len(inputs), f"{name}: {len(results)} cotangents, {len(inputs)} inputs"
    return [None if d is None else fitted(d, x) for d, x in zip(results, inputs, strict=True)]


def differences(f: Callable[[Any], Any], x: Any, step: float = 1e-3) -> Any:
    """The gradient of a scalar function by central differences, extrapolated to order 4. Of a
    complex argument it is dL/da - i dL/db."""
    x = np.array(x)
    if x.dtype.kind == "c":
        real = differences(lambda a: f(a + 1j * x.imag), x.real)
        return real - 1j * differences(lambda b: f(x.real + 1j * b), x.imag)
    x = np.array(x, np.float64)
    gradient = np.zeros(x.shape)
    for i in np.ndindex(x.shape):

        def at(h: float, i: tuple[int, ...] = i) -> Any:
            moved = x.copy()
            moved[i] += h
            return f(moved[()] if x.ndim == 0 else moved)

        wide = (at(2 * step) - at(-2 * step)) / (4 * step)
        narrow = (at(step) - at(-step)) / (2 * step)
        gradient[i] = (4 * narrow - wide) / 3
    return gradient


def check_rule(
    name: str,
    inputs: Sequence[Any],
    params: dict[str, Any] | None = None,
    rule: Rule | None = None,
    rtol: float = 1e-6,
    **facts: Any,
) -> None:
    """Each cotangent that the rule gives agrees with finite differences, and each input whose
    dtype is real or complex has one. The cotangent of a complex result is one of its real part with
    factors: d_out = dL/da - i dL/db for L = Re(sum(out * d_out))."""
    params = params or {}
    out = primal(name, inputs, params)
    d_out = np.cos(np.arange(np.size(out)) + 1.0).reshape(np.shape(out))
    if np.iscomplexobj(out):
        d_out = d_out + 1j * np.sin(2 * d_out + 1)
    results = cotangents(name, inputs, d_out, params, rule, **facts)
    for i, (x, d_x) in enumerate(zip(inputs, results, strict=True)):
        if not isinstance(x, np.ndarray | np.generic) or x.dtype.kind not in "fc":
            continue

        def f(value: Any, i: int = i) -> Any:
            moved = [*inputs[:i], value, *inputs[i + 1 :]]
            return np.real(np.sum(np.asarray(primal(name, moved, params)) * d_out))

        assert d_x is not None, f"{name}: no cotangent of input {i}"
        if x.dtype.kind == "f":  # the engine takes the real part
            d_x = np.real(d_x)
        np.testing.assert_allclose(
            d_x, differences(f, x), rtol=rtol, atol=1e-8, err_msg=f"{name} {i}"
        )
