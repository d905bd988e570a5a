"""Objects of ordinary classes as what is differentiated by."""

from __future__ import annotations

import copy
import enum
import itertools
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEVELS = pytest.mark.parametrize(
    "level", ["readable", "fast", pytest.param("compiled", marks=pytest.mark.slow)]
)
X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
Y = np.array([0.5, -0.2, 0.1, 0.3])


class Layer:
    def __init__(self, rows: int, columns: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.W = rng.normal(size=(rows, columns))
        self.b = rng.normal(size=columns)
        self.name, self.columns = "layer", columns

    def __call__(self, x):
        return np.tanh(x @ self.W + self.b) * self.columns


class Network:
    def __init__(self, *sizes: int) -> None:
        pairs = itertools.pairwise(sizes)
        self.layers = [Layer(a, b, seed) for seed, (a, b) in enumerate(pairs)]
        self.scale = 0.5
        self.seen = 0

    def loss(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return self.scale * np.mean((x[:, 0] - y) ** 2)


def arrays_of(value: Any) -> list[tuple[Any, str]]:
    """The arrays and floats of an object, each with the object that holds it."""
    found = []
    for name, item in vars(value).items():
        if isinstance(item, np.ndarray) or type(item) is float:
            found.append((value, name))
        for inner in item if isinstance(item, list) else ():
            found += arrays_of(inner)
    return found


def differences(value: Any, function: Any) -> list[Any]:
    """The derivatives of ``function()`` by the arrays and floats of an object, which are changed in
    place: central differences of second order, extrapolated once (Richardson)."""

    def slope(change: Any) -> Any:
        def at(h: float) -> Any:
            change(h)
            result = function()
            change(-h)
            return result

        h = 1e-3
        wide, near = ((at(s) - at(-s)) / (2 * s) for s in (2 * h, h))
        return (4 * near - wide) / 3

    found = []
    for holder, name in arrays_of(value):
        held = getattr(holder, name)
        if isinstance(held, float):

            def change(h: float, holder: Any = holder, name: str = name) -> None:
                setattr(holder, name, getattr(holder, name) + h)

            found.append(slope(change))
            continue
        entries = np.empty(held.shape)
        for index in np.ndindex(held.shape):

            def move(h: float, held: Any = held, index: Any = index) -> None:
                held[index] += h

            entries[index] = slope(move)
        found.append(entries)
    return found


def assert_gradient(found: SimpleNamespace, value: Any, function: Any) -> None:
    expected = differences(value, function)
    pairs = zip(arrays_of(found), expected, strict=True)
    for (holder, name), wanted in pairs:
        np.testing.assert_allclose(getattr(holder, name), wanted, rtol=1e-6, atol=1e-8)


# --- gradients -----------------------------------------------------------------------------------


@LEVELS
def test_gradient_by_an_object(level: Any) -> None:
    network = Network(3, 4, 2)
    gradient = st.value_and_grad(Network.loss, wrt="self", level=level)
    for _ in range(3):  # the last calls are made by generated code
        value, found = gradient(network, X, Y)
        assert value == pytest.approx(network.loss(X, Y))
        assert type(found) is SimpleNamespace
        assert [*vars(found)] == ["layers", "scale"]
        assert [*vars(found.layers[0])] == ["W", "b"]
        found.scale = float(found.scale)
        assert_gradient(found, network, lambda: network.loss(X, Y))
    network.layers[0].W += 0.1
    assert gradient(network, X, Y)[0] == pytest.approx(network.loss(X, Y))
    assert len(gradient.compiled_forms) == 1


@LEVELS
def test_gradient_by_parts_of_an_object(level: Any) -> None:
    network = Network(3, 2, 1)
    wrt = ("self.layers[1].W", "self.scale", "x")
    gradient = st.grad(Network.loss, wrt=wrt, level=level)
    whole = st.grad(Network.loss, wrt=("self", "x"), level=level)
    for _ in range(3):
        d_w, d_scale, d_x = gradient(network, X, Y)
        expected, d_x_too = whole(network, X, Y)
        np.testing.assert_allclose(d_w, expected.layers[1].W)
        np.testing.assert_allclose(d_x, d_x_too)
        assert d_scale == pytest.approx(expected.scale)
    layers = st.grad(network.loss, wrt="self.layers", level=level)(X, Y)
    assert isinstance(layers, list)
    np.testing.assert_allclose(layers[0].b, expected.layers[0].b)


def test_gradient_by_a_part_of_a_dict() -> None:
    def loss(params, x):
        return np.sum(params["W"] ** 2 * x) + np.sum(params["b"] * x)

    params = {"W": np.arange(3.0), "b": np.ones(3)}
    found = st.grad(loss, wrt='params["W"]')(params, np.ones(3))
    np.testing.assert_allclose(found, 2 * params["W"])
    step = st.train_step(loss, st.optim.SGD(0.1), wrt='params["W"]')
    step(params, np.ones(3))
    np.testing.assert_allclose(params["W"], 0.8 * np.arange(3.0))
    np.testing.assert_array_equal(params["b"], np.ones(3))


def test_objects_of_one_structure_share_the_code() -> None:
    gradient = st.grad(Network.loss, wrt="self")
    for network in (Network(3, 2, 1), Network(3, 2, 1)):
        for _ in range(3):
            gradient(network, X, Y)
    assert len(gradient.compiled_forms) == 1
    network.layers.append(Layer(1, 1, 9))
    found = gradient(network, X, Y)
    assert len(found.layers) == 3 and len(gradient.compiled_forms) == 2
    network.seen = 5  # nobody reads it
    gradient(network, X, Y)
    assert len(gradient.compiled_forms) == 2


def test_an_attribute_that_becomes_an_array() -> None:
    class Model:
        def __init__(self) -> None:
            self.w, self.extra = np.ones(2), None

        def loss(self, x):
            return np.sum(self.w * x)

    model = Model()
    gradient = st.grad(model.loss, wrt="self")
    for _ in range(3):
        assert [*vars(gradient(np.ones(2)))] == ["w"]
    model.extra = np.ones(3)
    assert [*vars(gradient(np.ones(2)))] == ["w", "extra"]


class Kind(enum.Enum):
    TANH = 1


class Estimator:
    """An object of many kinds of attributes, in the style of scikit-learn."""

    __slots__ = ("_scale", "act", "coef_", "idx", "intercept_", "kind", "mixed", "n_iter_", "unset")

    def __init__(self) -> None:
        self.coef_, self.intercept_ = np.array([0.3, -0.2, 0.5]), 0.25
        self.act, self.kind, self.n_iter_ = Kind.TANH, "tanh", 3
        self._scale, self.idx = np.float64(2.0), np.array([1, 0, 2])
        self.mixed = [np.ones(2), 3, "a", None]

    @property
    def scale(self):
        return self._scale * 2

    def loss(self, x):
        h = x @ self.coef_[self.idx] + self.intercept_
        if self.act is Kind.TANH and self.kind == "tanh":
            h = np.tanh(h)
        return np.mean(h) * self.scale * self.n_iter_ + np.sum(self.mixed[0]) * self.mixed[1]


@LEVELS
def test_attributes_of_many_kinds(level: Any) -> None:
    estimator = Estimator()
    gradient = st.value_and_grad(estimator.loss, wrt="self", level=level)
    for _ in range(3):
        value, found = gradient(X)
    assert value == pytest.approx(estimator.loss(X))
    assert {*vars(found)} == {"coef_", "intercept_", "_scale", "mixed"}
    assert found.mixed[1:] == [None, "a", None]
    np.testing.assert_allclose(found.mixed[0], [3.0, 3.0])
    st.differentiable(estimator.loss, wrt="self").check_grads(X)
    estimator.n_iter_, estimator.idx = 4, np.array([0, 1, 2])
    assert gradient(X)[0] == pytest.approx(estimator.loss(X))


def test_other_attributes_are_looked_at_again() -> None:
    class Model:
        def __init__(self) -> None:
            self.w, self.power = np.ones(2), 2

        def loss(self, x):
            return np.sum((self.w * x) ** self.power)

    model = Model()
    gradient = st.grad(model.loss, wrt="self")
    for power in (2, 2, 2, 3, 3, 3):
        model.power = power
        np.testing.assert_allclose(gradient(np.ones(2)).w, power)


# --- the same object twice -----------------------------------------------------------------------


class Tied:
    def __init__(self) -> None:
        self.enc = self.dec = Layer(2, 2, 1)
        self.W = self.V = np.array([[0.5, -0.2], [0.1, 0.4]])
        self.all = [self.W, self.enc.b]

    def loss(self, x):
        h = self.dec(self.enc(x @ self.W)) @ self.V.T
        return np.mean(h**2) + np.sum(self.all[1] * self.all[0])


@LEVELS
def test_a_shared_array_has_the_sum(level: Any) -> None:
    tied, x = Tied(), X[:, :2]
    gradient = st.grad(tied.loss, wrt="self", level=level)
    for _ in range(3):
        found = gradient(x)
    expected = dict(
        zip(["W", "b", "w"], differences(Once(tied), lambda: tied.loss(x)), strict=True)
    )
    for place in (found.W, found.V, found.all[0]):
        np.testing.assert_allclose(place, expected["w"], rtol=1e-6)
    for layer in (found.enc, found.dec):
        np.testing.assert_allclose(layer.W, expected["W"], rtol=1e-6)
        np.testing.assert_allclose(layer.b, expected["b"], rtol=1e-6)
    tied.V = tied.V.copy()  # no longer the same
    for _ in range(3):
        apart = gradient(x)
    np.testing.assert_allclose(apart.W + apart.V, expected["w"], rtol=1e-6)
    assert not np.allclose(apart.W, apart.V)
    tied.V = tied.W
    np.testing.assert_allclose(gradient(x).V, expected["w"], rtol=1e-6)


class Once:
    """The arrays of a `Tied`, each once."""

    def __init__(self, tied: Tied) -> None:
        self.W, self.b, self.w = tied.enc.W, tied.enc.b, tied.W


def test_checks_and_products_of_a_shared_array() -> None:
    tied, x = Tied(), X[:, :2]
    st.differentiable(tied.loss, wrt="self").check_grads(x)
    st.differentiable(Tied.loss, wrt=("self", "x")).check_grads(tied, x)
    d_tied, d_x = st.vjp(Tied.loss, tied, x)[1](1.0)
    np.testing.assert_allclose(d_tied.W, st.grad(tied.loss, wrt="self")(x).W)
    _, slope = st.jvp(Tied.loss, (tied, x), (d_tied, d_x))
    inner = [d_tied.enc.W, d_tied.enc.b, d_tied.W, d_x]
    assert slope == pytest.approx(sum(np.sum(part**2) for part in inner))
    d_tied.V = d_tied.V + 1.0
    with pytest.raises(st.DerivativeError, match=r"self\.V is an object or an array that stands"):
        st.jvp(Tied.loss, (tied, x), (d_tied, d_x))
    with pytest.raises(st.DerivativeError, match="stands in two places"):
        st.linearize(Tied.loss, tied, x)


class Node:
    def __init__(self, parent: Any = None) -> None:
        self.w, self.parent = np.ones(2), parent
        self.child = None if parent else Node(self)
        self.others: list[Any] = []

    def loss(self, x):
        return np.sum(self.w * x * self.child.w)

    def by_a_detour(self, x):
        return np.sum(self.w * x * self.child.parent.w)


def test_objects_that_refer_to_each_other() -> None:
    node = Node()
    found = st.grad(node.loss, wrt="self")(np.ones(2))
    np.testing.assert_allclose(found.child.w, 1.0)
    for wrt in ("self", "self.w"):
        with pytest.raises(st.LanguageError, match=r"self\.child\.parent is an object or an array"):
            st.grad(node.by_a_detour, wrt=wrt)(np.ones(2))
    node.others.append(node)
    with pytest.raises(st.ArgumentsError, match=r"self\.others\[0\] is self, which contains it"):
        st.grad(node.loss, wrt="self")(np.ones(2))
    np.testing.assert_allclose(st.grad(node.loss, wrt="self.w")(np.ones(2)), 1.0)


def test_an_array_that_is_captured_as_well() -> None:
    network = Network(3, 1)
    other = network.layers[0]

    def loss(net, x):
        return np.sum(net.layers[0](x)) + np.sum(other.W)

    with pytest.raises(st.LanguageError, match="read in another way"):
        st.grad(loss, wrt="net")(network, X)


# --- other transformations -----------------------------------------------------------------------


class Curve:
    def __init__(self) -> None:
        self.w, self.b = np.array([0.3, -0.4, 0.2]), 0.1

    def at(self, x):
        return np.tanh(x @ self.w + self.b)

    def loss(self, x):
        return np.sum(self.at(x) ** 2)


@LEVELS
def test_jacobians_and_products(level: Any) -> None:
    curve, ones = Curve(), SimpleNamespace(w=np.ones(3), b=1.0)
    slope = 1 - curve.at(X) ** 2
    jacobian = st.jacobian(curve.at, wrt="self", level=level)(X)
    np.testing.assert_allclose(jacobian.w, slope[:, None] * X)
    np.testing.assert_allclose(jacobian.b, slope)
    _, pullback = st.vjp(Curve.at, curve, X, level=level)
    d_curve, _ = pullback(np.ones(4))
    np.testing.assert_allclose(d_curve.w, slope @ X)
    assert d_curve.b == pytest.approx(np.sum(slope))
    _, tangent = st.jvp(Curve.at, (curve, X), (ones, np.zeros_like(X)), level=level)
    np.testing.assert_allclose(tangent, slope * (X.sum(1) + 1.0))
    _, linear = st.linearize(Curve.at, curve, X, level=level)
    np.testing.assert_allclose(linear(ones, np.zeros_like(X)), tangent)
    hessian = st.hessian(curve.loss, wrt="self", level=level)(X)
    product, _ = st.hvp(Curve.loss, (curve, X), (ones, np.zeros_like(X)), level=level)
    np.testing.assert_allclose(product.w, hessian.w.w @ np.ones(3) + hessian.w.b)
    assert product.b == pytest.approx(np.sum(hessian.b.w) + hessian.b.b)
    h = 1e-5
    near = [copy.deepcopy(curve) for _ in range(2)]
    near[0].w, near[0].b, near[1].w, near[1].b = curve.w + h, 0.1 + h, curve.w - h, 0.1 - h
    ends = [st.grad(one.loss, wrt="self")(X) for one in near]
    np.testing.assert_allclose(product.w, (ends[0].w - ends[1].w) / (2 * h), rtol=1e-6)


def test_gradients_inside_a_compiled_function() -> None:
    curve = Curve()

    @st.compile
    def descent(given, x):
        inner = st.grad(Curve.loss, wrt="self")(given, x)
        bound = st.grad(curve.loss, wrt="self")(x)
        return inner, bound.w, inner.b + bound.b

    expected = st.grad(curve.loss, wrt="self")(X)
    for _ in range(3):
        inner, w, b = descent(Curve(), X)
        np.testing.assert_allclose(inner.w, expected.w)
        np.testing.assert_allclose(w, expected.w)
        assert b == pytest.approx(2 * expected.b)
    curve.w = np.zeros(3)
    np.testing.assert_allclose(descent(Curve(), X)[1], st.grad(curve.loss, wrt="self")(X).w)


def test_an_object_that_the_program_makes() -> None:
    @st.compile
    def made(w, x):
        curve = Curve()
        curve.w = w
        return st.grad(Curve.loss, wrt="self")(curve, x)

    curve = Curve()
    np.testing.assert_allclose(made(curve.w, X).w, st.grad(curve.loss, wrt="self")(X).w)


def test_views_of_a_gradient_by_an_object(tmp_path: Any) -> None:
    curve = Curve()
    loss = st.differentiable(curve.loss, wrt="self")
    assert [row.path for row in loss.explain(X).rows] == ["self.w", "self.b"]
    assert "self.w" in str(loss.cotangents(X)) or loss.cotangents(X)["w"].shape == (3,)
    assert "d_w" in str(loss.trace(X))
    assert "types.SimpleNamespace(w=d_w, b=d_b)" in loss.source(X)
    path = tmp_path / "made.py"
    loss.export(path, X)
    names: dict[str, Any] = {"__name__": "made"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    _, found = names["loss_value_and_grad"](curve, X)
    np.testing.assert_allclose(found.w, loss.grad(X).w)
    with pytest.raises(st.ExportError, match="by a part of an argument"):
        st.differentiable(curve.loss, wrt="self.w").export(path, X)


def test_batches_of_gradients() -> None:
    curve = Curve()
    found = st.vmap(st.grad(curve.loss, wrt="self"))(X[:, None])
    expected = [st.grad(curve.loss, wrt="self")(row) for row in X[:, None]]
    np.testing.assert_allclose(found.w, [one.w for one in expected], atol=1e-12)


# --- copies, pickles, the cache ------------------------------------------------------------------

CURVE = Curve()
GRADIENT = st.value_and_grad(Curve.loss, wrt="self")


def test_pickles() -> None:
    again = pickle.loads(pickle.dumps(GRADIENT))
    np.testing.assert_array_equal(again(CURVE, X)[1].w, GRADIENT(CURVE, X)[1].w)
    step = st.train_step(Curve().loss, st.optim.Adam(0.1), wrt="self")
    step(X)
    other = pickle.loads(pickle.dumps(step))  # with its object, and the optimiser's state
    assert [float(step(X)) for _ in range(3)] == [float(other(X)) for _ in range(3)]
    assert other.receiver is not step.receiver
    np.testing.assert_array_equal(other.receiver.w, step.receiver.w)


def test_the_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path))
    found = []
    for _ in range(2):
        with st.on_compile(found.append):
            made = st.value_and_grad(Network.loss, wrt="self")
            step = st.train_step(Network(3, 1).loss, st.optim.Adam(0.1), wrt="self")
            for _ in range(3):
                value, gradient = made(Network(3, 2, 1), X, Y)
                loss = step(X, Y)
    assert [one.cached for one in found] == [False, False, True, True]
    fresh = st.value_and_grad(Network.loss, wrt="self", level="readable")(Network(3, 2, 1), X, Y)
    np.testing.assert_allclose(gradient.layers[0].W, fresh[1].layers[0].W)
    assert value == pytest.approx(fresh[0]) and np.isfinite(loss)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrt", "reason", "hint"),
    [
        ("self.q", r"there is no self\.q", "name one of self.w, self.b"),
        ("self.name", "`self.name` holds no array of floats", "name attributes that do: w, b"),
        ("self.w.T", r"there is no self\.w\.T", "name the argument alone"),
        ("self.w[", r"is no argument", "name one of"),
        ("other.w", r"is no argument", "name one of"),
    ],
)
def test_parts_that_are_not_there(wrt: str, reason: str, hint: str) -> None:
    class Line:
        def __init__(self) -> None:
            self.w, self.b, self.name = np.ones(3), 0.5, "x"

        def loss(self, x):
            return np.sum(x @ self.w)

    with pytest.raises(st.DerivativeError, match=reason) as caught:
        st.grad(Line.loss, wrt=wrt)(Line(), X)
    assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize(("wrt", "instead"), [("self", "this"), ("self.w", "this.w")])
def test_an_object_with_a_name_of_its_own(wrt: str, instead: str) -> None:
    class Line:
        def __init__(this) -> None:
            this.w = np.ones(3)

        def loss(this, x):
            return np.sum(x @ this.w)

    with pytest.raises(st.DerivativeError, match="is no argument") as caught:
        st.grad(Line().loss, wrt=wrt)(X)
    assert caught.value.hint == f"the method calls its object `this`: write wrt={instead!r}"
    st.grad(Line().loss, wrt=instead)(X)


def test_an_object_that_is_a_leaf() -> None:
    class Line:
        tree_leaf = True

        def __init__(self) -> None:
            self.w = np.ones(3)

    with pytest.raises(st.DerivativeError, match="`line` is a Line: derivatives are by"):
        st.grad(lambda line, x: np.sum(x @ line.w), wrt="line")(Line(), X)
