"""Readable code for the arrays of another namespace, tried with the strict one of the standard."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings

import stcompile as st
from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, LanguageError
from stcompile.codegen_templates.array_api import WRITTEN
from stcompile.wengert.templates import TEMPLATES, mark_of
from tests.gradients.cases import CASES

xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")

RNG = np.random.default_rng(0)
PARAMS = {"W": RNG.normal(size=(4, 5)), "b": RNG.normal(size=5), "V": RNG.normal(size=(5, 3))}
X, Y, LONG = RNG.normal(size=(8, 4)), RNG.integers(0, 3, 8), RNG.normal(size=(8, 24))
CAPTURED = RNG.normal(size=5)


def mlp(params, x, y):
    h = np.tanh(x @ params["W"] + params["b"])
    return st.nn.softmax_cross_entropy(h @ params["V"], y)


def rnn(params, x):
    h = np.zeros((x.shape[0], 5), x.dtype)
    for t in range(20):
        h = np.tanh(x[:, t : t + 4] @ params["W"] + h * params["b"])
    return np.mean(h[:, 1:3] ** 2) + np.sum(params["b"]) * 0.5


def branches(params, x):
    s = 1.0
    for k in range(30):
        if np.sum(params["b"]) > 0.1 * k:
            s = s * np.cos(params["b"][k % 5]) + x[0, k % 4]
        else:
            s = s - np.arctan2(s, 2.0)
    return s


def shapes(params, x):
    w = np.concatenate([params["W"], x[:4, :1] * np.ones((4, 5))], axis=1)
    w = np.stack([w.T.reshape(4, 10), np.roll(w, 1, axis=0)])
    w = np.expand_dims(np.transpose(w, (2, 0, 1)), 1).squeeze(1)
    return np.sum(np.where(w > 0, w, 0.1) * np.linspace(0.0, 1.0, 4)) + np.max(w) * np.std(w)


def products(params, x):
    outer = np.outer(params["b"], x[0]) @ params["W"]
    return np.sum(np.tensordot(outer, outer, axes=((0,), (1,)))) + params["b"] @ params["b"]


def numbers(params, x):
    mask = x > 0
    counts = np.sum(mask, axis=0) + np.arange(4)
    rows = np.mean(mask * np.clip(x, -0.5, 0.5) + np.sqrt(counts), axis=1)
    return float(np.sum(rows)) * np.sum(np.logaddexp(params["b"], 0.0) + np.abs(CAPTURED))


def updates(params, x):
    z = np.zeros((6, 5))
    z[1:5] = params["W"]
    z[0] += params["b"] * x[0, 0]
    z[:, ::2] *= 2.0
    return np.sum(np.cumsum(z, axis=0)[::-1][2:] * z[:4]) + np.prod(params["b"])


def moved(params, x):
    """A write at an index that the data decide, mixed kinds, and a NumPy scalar from outside."""
    rest = np.concatenate([np.arange(3), params["b"]]) * (np.sum(x) == np.sum(x))
    z = rest * SCALAR
    z[np.argmax(params["b"])] += params["b"][0]
    return np.sum(z * z) + np.sum(np.diff(params["b"], n=2) ** 2) - np.trapezoid(x[0] ** 2)


SCALAR = np.float64(1.25)


def there(value: Any, namespace: Any = xp) -> Any:
    kinds = np.ndarray | np.generic
    return trees.map_leaves(
        lambda _, leaf: namespace.asarray(leaf) if isinstance(leaf, kinds) else leaf, value
    )


def back(value: Any) -> Any:
    assert all(isinstance(leaf, type(xp.asarray(1.0))) for _, leaf in trees.leaves(value))
    return trees.map_leaves(lambda _, leaf: np.from_dlpack(leaf), value)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        *((f, np.float64) for f in (mlp, rnn, branches, shapes, products, numbers, updates, moved)),
        (mlp, np.float32),
        (rnn, np.float32),
    ],
)
def test_gradients_are_those_of_numpy(function: Any, dtype: Any) -> None:
    x = {mlp: X, rnn: LONG}.get(function, X).astype(dtype)
    params = {name: array.astype(dtype) for name, array in PARAMS.items()}
    arguments = (params, x, Y) if function is mlp else (params, x)
    gradient = st.value_and_grad(function, wrt="params", level="readable", xp=xp)
    value, found = gradient(*map(there, arguments))
    wanted_value, wanted = st.value_and_grad(function, wrt="params", level="readable")(*arguments)
    rtol = 1e-10 if dtype is np.float64 else 2e-4
    np.testing.assert_allclose(back(value), wanted_value, rtol=rtol)
    for name, array in back(found).items():
        assert array.dtype == wanted[name].dtype
        np.testing.assert_allclose(array, wanted[name], rtol=rtol, atol=rtol)


def test_the_source_names_the_namespace() -> None:
    gradient = st.grad(rnn, level="readable", xp=xp)
    source = str(gradient.source(there(PARAMS), there(LONG)))
    assert source.startswith("import array_api_strict as xp\n")
    assert "np." not in source.split("# ---", 1)[1].replace("# ", "").split("h = np.zeros")[0]
    assert 'device = params["W"].device' in source
    assert "h = xp.tanh(x[:, t : t + 4] @ W + h * b)" in source


def test_other_functions_of_functions() -> None:
    assert float(st.compile(mlp, xp=xp)(there(PARAMS), there(X), there(Y))) > 0
    marked = st.differentiable(mlp, wrt="params", xp=xp)
    assert marked.grad(there(PARAMS), there(X), there(Y))["b"].shape == (5,)
    square = there(np.arange(3.0))
    found = back(st.jacobian(lambda x: x * x, level="readable", xp=xp)(square))
    np.testing.assert_array_equal(found, np.diag([0.0, 2.0, 4.0]))


def test_numbers_alone() -> None:
    found = st.grad(lambda x: np.sinh(x) * np.ones(3)[0], xp=xp)(0.5)
    np.testing.assert_allclose(float(found), np.cosh(0.5))


@pytest.mark.parametrize("function", [mlp, rnn, branches, shapes, products, updates, moved])
def test_arrays_that_cannot_be_written_to(function: Any) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = LONG if function is rnn else X
    arguments = (PARAMS, x, Y) if function is mlp else (PARAMS, x)
    _, wanted = st.value_and_grad(function, wrt="params", level="readable")(*arguments)
    with jax.enable_x64(True):
        own = there(arguments, jax.numpy)
        gradient = st.value_and_grad(function, wrt="params", level="readable", xp=jax.numpy)
        _, found = gradient(*own)
    for name, array in found.items():
        np.testing.assert_allclose(np.asarray(array), wanted[name], rtol=1e-9, atol=1e-9)
    if function is updates:
        source = str(gradient.source(*own))
        assert "z = z.at[1:5, ...].set(params" in source or ".at[1:5, ...].set(W)" in source


def test_writes_are_refused_where_arrays_have_no_way_to_them(monkeypatch: Any) -> None:
    class Fixed:
        """An array that cannot be written to."""

    fixed = types.ModuleType("fixed_arrays")
    for name in dir(xp):
        if not name.startswith("__"):
            setattr(fixed, name, getattr(xp, name))
    fixed.zeros = lambda *_, **__: Fixed()
    monkeypatch.setitem(sys.modules, "fixed_arrays", fixed)
    with pytest.raises(LanguageError, match="arrays of `fixed_arrays` cannot be written") as caught:
        st.grad(updates, wrt="params", xp=fixed)(there(PARAMS), there(X))
    assert caught.value.location is not None
    assert caught.value.location.shown is not None


def values_of(function: Any, args: Any) -> Any:
    """What a function gives with arrays of the standard; None where it is refused by name."""
    try:
        return st.compile(function, level="readable", xp=xp)(*there(args))
    except LanguageError as error:
        assert error.location is not None, error
        assert re.search("no spelling|NumPy's alone|has no `", error.reason), error
        return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_everything_is_equal_or_refused_by_name(case: Any) -> None:
    """The table of all that is differentiated: a new line there is tried here as well."""
    seen: list[Any] = []

    @settings(max_examples=2, phases=[Phase.generate], database=None)
    @given(case.arguments)
    def draw(args: Any) -> None:
        seen.append(args)

    draw()
    args = seen[-1]
    found = values_of(case.function, args)
    wanted = case.function(*args)
    if found is not None:
        pairs = zip(trees.leaves(found), trees.leaves(wanted), strict=True)
        for (_, got), (_, known) in pairs:
            np.testing.assert_allclose(np.asarray(got), known, rtol=1e-9, atol=1e-9)


def fourier(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


def ordered(x):
    return np.sum(np.sort(x) * np.arange(4.0))


def gathered(x):
    return np.sum(x[np.array([0, 2, 2])] ** 2)


def batched(x):
    return np.sum(np.einsum("ij,ij->i", x[None], x[None]))


def quiet(x):
    with np.errstate(all="ignore"):
        return np.sum(np.log(x))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (fourier, "no spelling of `fft`"),
        (ordered, "no spelling of `argsort`"),
        (gathered, "no spelling of this use of"),
        (batched, "no spelling of this use of `contract`"),
        (quiet, "`np.errstate` is NumPy's alone"),
    ],
)
def test_what_the_standard_lacks_is_refused_by_name(function: Any, said: str) -> None:
    with pytest.raises(LanguageError, match="the array API|np.errstate") as caught:
        st.grad(function, xp=xp)(there(np.ones(4)))
    assert said in str(caught.value)


def test_what_the_namespace_lacks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    poor = types.ModuleType("poor_arrays")
    for name in vars(xp):
        if not name.startswith("__") and name != "tanh":
            setattr(poor, name, getattr(xp, name))
    monkeypatch.setitem(sys.modules, "poor_arrays", poor)
    with pytest.raises(LanguageError, match="`poor_arrays` has no `tanh`"):
        st.grad(lambda x: np.sum(np.tanh(x)), xp=poor)(there(np.ones(3)))


def test_arguments() -> None:
    with pytest.raises(ValueError, match="level='readable'"):
        st.grad(mlp, level="fast", xp=xp)
    with pytest.raises(ValueError, match="a module of arrays"):
        st.grad(mlp, xp=3)

    def writes(x, y):
        x[0] = 2.0
        return np.sum(x * y)

    ones = there(np.ones(3))
    with pytest.raises(ArgumentsError, match="writes into x"):
        st.compile(writes, xp=xp)(ones, ones)
    assert float(st.compile(writes, xp=xp, copy=True)(ones, ones)) == 4.0


def test_templates_are_of_primitives_and_of_the_same_kind() -> None:
    assert set(WRITTEN) <= set(TEMPLATES)
    for name, template in WRITTEN.items():
        mark = template.__dict__["mark"]
        assert mark == mark_of(name), name
        if mark == "write":
            assert template.__dict__["inplace"] == TEMPLATES[name].__dict__["inplace"]
