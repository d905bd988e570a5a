"""What must hold for one case: the value to the bit, the gradient, and its own gradient."""

from __future__ import annotations

import copy
import importlib.util
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.gradients.functions.case import Case
from tests.programs import READABLE, assert_like, assert_same

Function = Callable[..., Any]
HAS_ORACLE = importlib.util.find_spec("autograd") is not None


def is_real(value: Any) -> bool:
    """True for what a gradient is taken by: floats and arrays of them."""
    return np.asarray(value).dtype.kind == "f" and isinstance(
        value, float | np.floating | np.ndarray
    )


def positions(args: Sequence[Any]) -> tuple[int, ...]:
    """The arguments to differentiate by."""
    return tuple(i for i, arg in enumerate(args) if is_real(arg))


def parts(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def totalled(function: Function, example: Any, start: float = 0.3) -> Function:
    """The sum of all that a function returns, each entry with a weight of its own."""
    weights = [
        np.sin(start + i + np.arange(np.size(part))).reshape(np.shape(part)) + 1.5
        for i, part in enumerate(parts(example))
    ]

    def total(*args: Any) -> Any:
        return sum([np.sum(w * part) for w, part in zip(weights, parts(function(*args)))])

    return total


# --- the checks ----------------------------------------------------------------------------------


def check_case(case: Case, args: tuple[Any, ...]) -> None:
    """The value is NumPy's to the bit; the gradient is the derivative, in its argument's type."""
    before = tuple(copied(args))
    expected = case.function(*args)
    assert_same(Primal(case.function, READABLE)(*args), expected, "the value")
    total, wrt = totalled(case.function, expected), positions(args)
    value, gradients = st.value_and_grad(total, wrt)(*args)
    assert_like(value, total(*args), "the value beside the gradient")
    assert_same(args, before, "an argument after the call")
    step = complex_step if case.exact else central
    for index, gradient in zip(wrt, gradients, strict=True):
        assert_fits(gradient, args[index])
        assert_close(gradient, step(total, args, index), 1e-9 if case.exact else 1e-6)


def check_second(case: Case, args: tuple[Any, ...]) -> None:
    """The gradient of a weighted sum of gradients: against autograd, or differences of the first
    gradient."""
    total, wrt = totalled(case.function, case.function(*args)), positions(args)
    curvature = totalled_gradients(st.grad(total, wrt), [args[index] for index in wrt])
    found = st.grad(curvature, wrt)(*args)
    expected: Any = None
    if case.oracle and HAS_ORACLE:
        expected = by_autograd(case, args)
    for place, index in enumerate(wrt):
        assert_fits(found[place], args[index])
        known = central(curvature, args, index) if expected is None else expected[place]
        assert_close(found[place], known, 1e-6 if expected is None else 1e-9)


def check_forward(case: Case, args: tuple[Any, ...], level: Any) -> None:
    """Forward mode against reverse mode: the tangent is the gradient times the direction, and the
    tangent of the gradient is the gradient of the tangent."""
    total, wrt = totalled(case.function, case.function(*args)), positions(args)
    primals = [args[index] for index in wrt]
    tangents = [direction(primal, index) for index, primal in enumerate(primals)]

    def by_primals(*moving: Any) -> Any:
        whole = list(args)
        for index, primal in zip(wrt, moving):
            whole[index] = primal
        return total(*whole)

    def tangent_of(*moving: Any) -> Any:
        return st.jvp(by_primals, moving, tangents)[1]

    every = tuple(range(len(primals)))
    gradient = st.grad(by_primals, every, level=level)
    gradients, products = st.jvp(gradient, primals, tangents, level=level)
    tangent, expected = st.value_and_grad(tangent_of, every, level=level)(*primals)
    slope = sum(np.sum(t * g) for t, g in zip(tangents, gradients, strict=True))
    assert_close(tangent, slope, 1e-9)
    for product, known, primal in zip(products, expected, primals, strict=True):
        assert_fits(product, primal)
        assert_close(product, known, 1e-9)


def direction(primal: Any, index: int) -> Any:
    """A tangent of a primal, in its type."""
    whole = np.cos(0.4 + index + np.arange(np.size(primal))).reshape(np.shape(primal))
    if isinstance(primal, np.ndarray):
        return whole.astype(primal.dtype)
    return type(primal)(whole)


def check_float32(case: Case, args: tuple[Any, ...]) -> None:
    """In float32 the value is NumPy's to the bit; gradients are float32, near the derivative."""
    narrow = tuple(narrowed(arg) for arg in args)
    expected = case.function(*narrow)
    assert_same(Primal(case.function, READABLE)(*narrow), expected, "the value")
    total, wrt = totalled(case.function, expected), positions(args)
    step = complex_step if case.exact else central
    for index, gradient in zip(wrt, st.grad(total, wrt)(*narrow), strict=True):
        assert_fits(gradient, narrow[index])
        assert_close(gradient, step(total, args, index), 2e-4)


def totalled_gradients(gradient: Function, example: Any) -> Function:
    """A weighted sum of all entries of a tuple of gradients."""
    weights = [
        np.cos(0.7 + i + np.arange(np.size(g))).reshape(np.shape(g)) for i, g in enumerate(example)
    ]

    def total(*args: Any) -> Any:
        return sum([np.sum(w * g) for w, g in zip(weights, gradient(*args))])

    return total


# --- oracles -------------------------------------------------------------------------------------


def complex_step(function: Function, args: Sequence[Any], index: int) -> Any:
    """The derivative of an analytic function without cancellation (Squire & Trapp, 1998)."""
    return differences(lambda at: function(*at(1e-25j)).imag / 1e-25, args, index)


def central(function: Function, args: Sequence[Any], index: int) -> Any:
    """Central differences of fourth order (Fornberg, 1988)."""
    h = 5e-4

    def slope(at: Function) -> Any:
        near = function(*at(h)) - function(*at(-h))
        return (8 * near - (function(*at(2 * h)) - function(*at(-2 * h)))) / (12 * h)

    return differences(slope, args, index)


def differences(slope: Function, args: Sequence[Any], index: int) -> Any:
    """``slope(at)`` for each entry of an argument; ``at(h)`` are the arguments with it moved."""
    x = args[index]
    result = np.zeros(np.shape(x))
    for entry in np.ndindex(np.shape(x)):

        def at(h: complex, entry: tuple[int, ...] = entry) -> list[Any]:
            moved = copied(args)
            if isinstance(x, np.ndarray):
                moved[index] = x.astype(np.result_type(x, h))
                moved[index][entry] += h
            else:
                moved[index] = x + h if type(x) is float else np.float64(x) + h
            return moved

        result[entry] = slope(at)
    return result


def by_autograd(case: Case, args: Sequence[Any]) -> Any:
    """The same second derivative by autograd, which runs the same function on its own NumPy."""
    import autograd
    import autograd.numpy

    def on_autograd(function: Any) -> Any:
        names = {**function.__globals__, "np": autograd.numpy}
        return types.FunctionType(function.__code__, names, "f", None, function.__closure__)

    wrt = positions(args)
    weighted = totalled(on_autograd(case.function), case.function(*args))
    total = on_autograd(weighted)
    gradient = autograd.grad(total, wrt)
    again = totalled_gradients(gradient, gradient(*args))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where the first gradient is constant
        return autograd.grad(on_autograd(again), wrt)(*args)


# --- assertions ----------------------------------------------------------------------------------


def assert_fits(gradient: Any, argument: Any) -> None:
    """A gradient has the kind, the dtype and the shape of its argument."""
    kind = float if isinstance(argument, float) else type(argument)
    assert isinstance(gradient, kind), f"{type(gradient)}, not {kind}"
    assert np.asarray(gradient).dtype == np.asarray(argument).dtype
    assert np.shape(gradient) == np.shape(argument)


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale / 10)


def copied(args: Sequence[Any]) -> list[Any]:
    """Arguments that may be changed."""
    return [copy.copy(arg) for arg in args]


def narrowed(value: Any) -> Any:
    """In float32: arrays and NumPy scalars; a Python float is of no precision of its own."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    return np.float32(value) if isinstance(value, np.float64) else value
