"""Programs of the shape that published libraries have: checks of arguments by decorators, settings,
filters of warnings, dicts of classes of their own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.7, -1.3, 2.1])


class InvalidError(ValueError):
    """An error of a module."""


SETTINGS = threading.local()
SETTINGS.held = {"skip": False}


@contextlib.contextmanager
def skipping(skip):
    before = SETTINGS.held["skip"]
    SETTINGS.held["skip"] = skip
    try:
        yield
    finally:
        SETTINGS.held["skip"] = before


def checked(**limits):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if SETTINGS.held["skip"]:
                return function(*args, **kwargs)
            signature = inspect.signature(function)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            left_out = [
                p.name
                for p in signature.parameters.values()
                if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            ]
            for name, value in bound.arguments.items():
                if name not in left_out and name in limits:
                    low = limits[name]
                    if low == "no check":
                        continue
                    if np.any(value < low):
                        raise InvalidError(f"{name} is less than {low}")
            with skipping(True):
                return function(*args, **kwargs)

        return wrapper

    return decorator


@checked(scale=0.0, x=-2.0, more="no check")
def energy(x, scale=1.5, *more, power=2, **rest):
    return scale * np.sum(np.abs(x) ** power) + rest.get("shift", 0.0)


def by_a_signature(x):
    bound = inspect.signature(energy).bind_partial(x, power=3)
    bound.apply_defaults()
    return energy(*bound.args, **bound.kwargs)


def other_signature():
    def function(*args, **kwargs):
        return np.sum(args[0] ** 2) * kwargs.get("b", 1.0)

    function.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in "ab"]
    )
    return function


OTHER = other_signature()


class Held(dict):
    def total(self):
        return sum(value for value in self.values())


HELD = Held(a=2.0, b=3.0)
ORDERED = OrderedDict(w=np.array([1.0, 2.0, 3.0]), s=0.5)


def of_dicts(x):
    found = HELD.total() + len(HELD) + HELD.get("z", 7.0) * ("b" in HELD)
    for _, value in ORDERED.items():
        found = found + np.sum(x * value)
    return found * HELD["a"] + sum(len(key) for key in ORDERED)


class Options:
    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)
        self.__dict__.update({"power": 3}, shift=0.5)


def of_names(x):
    options = Options(scale=x[0])
    if x[1] < 0:
        options.__dict__.update(shift=x[1])
    return options.scale * np.sum(x**options.power) + options.shift


class Kernel:
    def __init__(self, length: float) -> None:
        self.length = length

    @property
    def hyperparameter_length(self):
        return "length"

    def total(self):
        names = [getattr(self, n) for n in dir(self) if n.startswith("hyperparameter_")]
        return sum(getattr(self, name) for name in names)


KERNEL = Kernel(1.7)


def static_looks(x):
    nothing = object()
    found = [inspect.getattr_static(x, name, nothing) is not nothing for name in ("iloc", "shape")]
    own = inspect.getattr_static(KERNEL, "length")
    hooked = inspect.getattr_static(KERNEL, "hyperparameter_length")
    return np.sum(x**2) * own * (1 + found.index(True)) if isinstance(hooked, property) else x[0]


def comparisons(x):
    other = x[:2] * 2
    facts = [[1, 2] == "no", ("a",) != None, np == np, np != types, x is other]
    return np.sum(x * np.array(facts[:3]))


def memory(x):
    kept = np.asarray(x)
    if np.may_share_memory(kept, x):
        kept = kept.copy()
    kept[0] = 0.0
    return np.sum(x * kept) * (1 + np.may_share_memory(kept, x))


def either(x):
    try:
        iter(x[0])
    except TypeError:
        return np.sum(x**3)
    return np.sum(x)


def of_an_array(x):
    return np.sum(x.__array__() ** 2) + np.sum(x.__array__(np.float64))


PROGRAMS = [
    *(energy, by_a_signature, of_dicts, of_names, static_looks, comparisons, memory),
    *(either, of_an_array, lambda x: KERNEL.total() * np.sum(x**2), lambda x: OTHER(x, b=2.0)),
]


def differences(function: Any, x: Any) -> Any:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(function(x + s) - function(x - s)) / 2e-6 for s in steps])


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_value_and_the_gradient_are_those_of_python(function):
    value, gradient = st.value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X), rtol=1e-6)
    np.testing.assert_allclose(gradient, differences(function, X), rtol=1e-6, atol=1e-6)
    _, tangent = st.jvp(function, (X,), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.sum(gradient), rtol=1e-12)
    hessian = st.hessian(function)(X)
    expected = differences(lambda x: st.grad(function)(x), X)
    np.testing.assert_allclose(hessian, expected, rtol=1e-4, atol=1e-4)


def test_an_error_of_a_module_is_raised_when_the_data_say_so():
    compiled = st.value_and_grad(energy)
    compiled(X)
    with pytest.raises(InvalidError, match=r"x is less than -2\.0"):
        compiled(X - 1)
    text = st.differentiable(energy).source(X)
    assert "import tests.frontend.test_libraries\n" in text
    assert "raise tests.frontend.test_libraries.InvalidError(" in text
    with pytest.raises(TypeError, match="missing a required argument"):
        energy()


def test_what_is_read_of_dicts_is_read_again():
    changed = Held(a=2.0)

    def function(x):
        return np.sum(x) * sum(changed.values()) * len(changed)

    gradient = st.grad(function)
    assert gradient(X)[0] == 2
    changed["a"] = 3.0
    assert gradient(X)[0] == 3
    changed["b"] = 4.0
    assert gradient(X)[0] == 14


@pytest.mark.parametrize("name", ["hyperparameter_more", "length"])
def test_names_are_listed_again(name):
    kernel = Kernel(1.7)

    def function(x):
        return np.sum(x) * len([n for n in dir(kernel) if n.startswith("hyperparameter_")])

    gradient = st.grad(function)
    assert gradient(X)[0] == 1
    setattr(kernel, name, 2.0)
    assert gradient(X)[0] == 1 + (name != "length")


def shown(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("hidden", stacklevel=1)
        quiet = np.log(x)
    if x[1] > 0:
        return np.sum(quiet)
    warnings.warn("shown", stacklevel=1)
    return np.sum(np.where(x > 0, quiet, 0.0))


def chosen(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "hid", category=UserWarning)
        warnings.warn("hidden", stacklevel=1)
        warnings.warn("shown", stacklevel=1)
    return np.sum(x)


@pytest.mark.parametrize("function", [shown, chosen])
def test_filters_of_warnings(function):
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        value = function(X)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        np.testing.assert_allclose(st.value_and_grad(function)(X)[0], value)
    assert [str(w.message) for w in found] == [str(w.message) for w in expected] == ["shown"]


def filters(x):
    warnings.simplefilter("ignore")
    return np.sum(x)


def as_errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.sum(x)


def listed(x):
    with warnings.catch_warnings(record=True) as found:
        return np.sum(x) * len(found)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (filters, "changes the filters of warnings for good"),
        (as_errors, "a warning that is an error"),
        (listed, "a list of warnings is not kept"),
        (lambda x, y: np.sum(x) * np.may_share_memory(x, y), "share memory is not known"),
        (lambda x: dir(x)[0], "`dir` of"),
        (lambda x: inspect.signature(x), "the signature of this"),
    ],
)
def test_refusals(function, reason):
    arguments = [X.copy() for _ in inspect.signature(function).parameters]
    with pytest.raises(st.StcompileError, match=reason) as caught:
        st.grad(function)(*arguments)
    assert caught.value.location is not None
