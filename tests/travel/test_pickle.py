"""Transformed functions are pickled and copied as plain functions are."""

from __future__ import annotations

import copy
import linecache
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np
import pytest

import stcompile as st

X = np.array([0.5, -1.5])
NAMED = ["loss", "decorated", "layer", "log1pexp", "squared", "power", "plain_grad", "Model.loss"]


def found(model: ModuleType, path: str) -> Any:
    value: Any = model
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize("path", NAMED)
def test_what_a_module_has_under_its_name_is_itself(
    model: ModuleType, path: str, protocol: int, dumps: Any
) -> None:
    value = found(model, path)
    assert pickle.loads(dumps(value, protocol)) is value
    assert len(dumps(value, protocol)) < 200, "it is not pickled by reference"


@pytest.mark.parametrize("protocol", [2, 4])
def test_the_module_is_imported_where_it_is_not_yet(
    model: ModuleType, protocol: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickled = pickle.dumps(model.loss, protocol)
    monkeypatch.delitem(sys.modules, model.__name__)
    arrived = pickle.loads(pickled)
    assert arrived is not model.loss and arrived is sys.modules[model.__name__].loss
    with pytest.raises(AttributeError):
        pickle.loads(pickled.replace(b"loss", b"lost"))


def test_functions_of_the_library_are_themselves() -> None:
    for name in ("relu", "softplus", "softmax_cross_entropy"):
        function = getattr(st.nn, name)
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("path", ["loss.grad", "loss.value_and_grad", "slope", "curvature", "rows"])
def test_what_is_made_of_functions_of_a_module(model: ModuleType, path: str) -> None:
    """It is made anew, once: two tasks of a worker share what is compiled."""
    value = found(model, path)
    arguments = (X, X) if path.startswith("loss") else (X,)
    for dumps in (pickle.dumps, cloudpickle.dumps):
        arrived = pickle.loads(dumps(value))
        assert arrived is pickle.loads(pickle.dumps(value))
        assert arrived.source(*arguments) == value.source(*arguments)
        assert arrived.name == value.name and arrived.title == value.title
        got, wanted = arrived(*arguments), value(*arguments)
        pairs = zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)


def test_the_package_itself_is_pickled_by_name() -> None:
    """cloudpickle takes it along with every function that reads it."""
    assert pickle.loads(cloudpickle.dumps(st)) is st


def test_options_travel(model: ModuleType) -> None:
    value = st.grad(model.loss, wrt=("w", "x"), level="readable", debug_nans=True)
    arrived = pickle.loads(pickle.dumps(value))
    assert (arrived.wrt, arrived.options) == (value.wrt, value.options)
    nested = st.grad(lambda x: np.sum(x))
    with pytest.raises((pickle.PicklingError, AttributeError)):  # as the lambda itself
        pickle.dumps(nested)


def test_methods_take_their_object_along(model: ModuleType) -> None:
    owner = model.Model()
    owner.scale = 3.0
    wanted = 3.0 * 2 * X
    np.testing.assert_allclose(pickle.loads(pickle.dumps(owner.loss.grad))(X), wanted)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(owner.loss)).grad(X), wanted)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(owner)).gradient(X), 3.0 * 3 * X**2)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(owner.gradient))(X), 3.0 * 3 * X**2)


def test_copies(model: ModuleType) -> None:
    for path in [*NAMED, "loss.grad", "curvature"]:
        value = found(model, path)
        assert copy.copy(value) is value is copy.deepcopy(value), path
    owner = model.Model()
    other = copy.deepcopy(owner)
    other.scale = 10.0
    np.testing.assert_allclose(owner.gradient(X), 6 * X**2)
    np.testing.assert_allclose(other.gradient(X), 30 * X**2)
    np.testing.assert_allclose(other.loss.grad(X), 20 * X)


OPTIMIZERS = [
    st.optim.SGD(0.1),
    st.optim.Momentum(0.1),
    st.optim.Adam(0.1, clip_norm=1.0),
]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
@pytest.mark.parametrize("how", ["pickle", "cloudpickle", "deepcopy", "with parameters"])
def test_a_training_step_takes_the_state_of_its_optimiser_along(
    model: ModuleType, optimizer: Any, how: str
) -> None:
    step = st.train_step(model.loss, copy.deepcopy(optimizer), wrt="w")
    w = np.array([1.0, 2.0])
    for _ in range(3):
        step(w, X)
    if how == "with parameters":
        again, other = pickle.loads(pickle.dumps((step, w)))
    else:
        ways = {"pickle": pickle.dumps, "cloudpickle": cloudpickle.dumps}
        again = pickle.loads(ways[how](step)) if how in ways else copy.deepcopy(step)
        other = w.copy()
    before = w.copy()
    assert again.optimizer == step.optimizer or repr(again.optimizer) == repr(step.optimizer)
    again.optimizer.lr = step.optimizer.lr = 0.05
    step(w, X)
    np.testing.assert_array_equal(other, before)  # the two share nothing
    again(other, X)
    np.testing.assert_array_equal(other, w)
    assert again.optimizer.state_dict().get("t") == step.optimizer.state_dict().get("t")


def test_a_copied_optimiser_has_a_state_of_its_own(model: ModuleType) -> None:
    step = st.train_step(model.loss, st.optim.Adam(0.1), wrt="w")
    w = np.array([1.0, 2.0])
    step(w, X)
    saved = step.optimizer.state_dict()
    other = copy.copy(step.optimizer)
    st.train_step(model.loss, other, wrt="w")(w.copy(), X)
    assert other.state_dict()["t"] == 2
    kept = step.optimizer.state_dict()
    assert kept["t"] == 1
    np.testing.assert_array_equal(kept["m"], saved["m"])


def test_a_pullback_takes_its_residuals_along(model: ModuleType) -> None:
    def f(x: Any, params: Any) -> Any:
        return model.squared(np.tanh(x @ params["w"]))

    params = {"w": np.arange(6.0).reshape(3, 2)}
    value, pullback = st.vjp(f, np.full((2, 3), 0.1), params)
    for other in (pickle.loads(pickle.dumps(pullback)), copy.deepcopy(pullback)):
        (d_x, d_params), (wanted, d_wanted) = other(value), pullback(value)
        np.testing.assert_array_equal(d_x, wanted)
        np.testing.assert_array_equal(d_params["w"], d_wanted["w"])


# --- by value ------------------------------------------------------------------------------------

BY_VALUE = """
model = Model()
step = st.train_step(loss, st.optim.Adam(0.1), wrt="w")
shift = st.grad(lambda x: np.sum(helper(x)))
"""
# Each gives arrays from what has travelled, as ``o``, and from X.
CALLS = """
o["loss"](X, X)
o["loss"].grad(X, X)
o["loss.value_and_grad"](X, X)[1]
o["slope"](X)[1]
o["curvature"](X)
o["rows"](X)
o["decorated"](X)
o["shift"](X)
o["power"].grad(2.0)
o["power"].function.__globals__["power"].grad(2.0)
o["model.gradient"](X)
o["model.loss"].grad(X)
o["model"].loss.grad(X)
o["step"](o["w"], X)
o["w"]
o["step"].optimizer.state_dict()["m"]
composed(o["layer"], o["log1pexp"], o["squared"])(X)
""".strip().splitlines()

CHILD = """
import pickle, sys
import numpy as np
import stcompile as st

def composed(layer, rule, primitive):
    return st.grad(lambda x: np.sum(layer(rule(primitive(x)))))

with open(sys.argv[1], "rb") as file:
    o, X, calls = pickle.load(file)
assert o["power"].function.__globals__["power"] is o["power"]
with open(sys.argv[1] + ".out", "wb") as file:
    pickle.dump([np.asarray(eval(call)) for call in calls], file)
"""


def composed(layer: Any, rule: Any, primitive: Any) -> Any:
    return st.grad(lambda x: np.sum(layer(rule(primitive(x)))))


@pytest.mark.parametrize("module", ["__main__", "not_to_be_imported"])
def test_functions_of_a_notebook_are_compiled_in_another_process(
    tmp_path: Path, module: str
) -> None:
    """cloudpickle takes them by value, and what stcompile made of them takes the source along."""
    cells = Path(__file__).with_name("model.py").read_text("utf-8") + BY_VALUE
    cell = f"{tmp_path}/ipykernel_1/2.py"
    linecache.cache[cell] = len(cells), None, cells.splitlines(keepends=True), cell
    names: dict[str, Any] = {"__name__": module}
    exec(compile(cells, cell, "exec", dont_inherit=True), names)
    names["w"] = np.ones(2)
    names["step"](names["w"], X)
    paths = "loss slope curvature rows decorated shift power layer log1pexp squared step model w"
    objects = {path: names[path] for path in paths.split()}
    objects["loss.value_and_grad"] = names["loss"].value_and_grad
    objects["model.gradient"] = names["model"].gradient
    objects["model.loss"] = names["model"].loss
    file = tmp_path / "objects"
    file.write_bytes(cloudpickle.dumps((objects, X, CALLS)))
    here = {"o": objects, "X": X, "np": np, "composed": composed}
    wanted = [np.asarray(eval(call, here)) for call in CALLS]
    del linecache.cache[cell]
    (tmp_path / "child.py").write_text(CHILD)
    subprocess.run([sys.executable, str(tmp_path / "child.py"), str(file)], check=True)
    got = pickle.loads(Path(f"{file}.out").read_bytes())
    for call, one, other in zip(CALLS, got, wanted, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=call)
