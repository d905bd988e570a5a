"""What optimisers keep from step to step: seen, saved, loaded, and never of other parameters."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls.dispatch import Dispatcher
from tests.optim import problems

X = np.random.default_rng(0).standard_normal((5, 3))
MAKERS = {
    "momentum": lambda: st.optim.Momentum(0.002),
    "nesterov": lambda: st.optim.Nesterov(0.002),
    "rmsprop": lambda: st.optim.RMSprop(),
    "adam": lambda: st.optim.Adam(0.02),
    "adamw": lambda: st.optim.AdamW(0.02),
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects what is compiled."""
    found: list[Any] = []
    build = Dispatcher.build
    monkeypatch.setattr(Dispatcher, "build", lambda self, a: (found.append(a), build(self, a))[1])
    return found


# --- what it is ----------------------------------------------------------------------------------


def test_it_mirrors_the_parameters() -> None:
    adam = st.optim.Adam(0.02)
    assert dict(adam.state) == {}
    params = problems.as_nested(np.float32)
    step = st.train_step(problems.of_nested, adam)
    step(params, X.astype(np.float32))
    step(params, X.astype(np.float32))
    assert list(adam.state) == ["m", "v", "t"]
    assert adam.state["t"] == 2
    assert isinstance(adam.state["m"]["layers"][0], problems.Affine)
    for slot in ("m", "v"):
        for kept, p in zip(problems.leaves(adam.state[slot]), problems.leaves(params), strict=True):
            assert (kept.shape, kept.dtype) == (p.shape, p.dtype)
            assert np.any(kept)
            assert not np.shares_memory(kept, p)


def test_it_is_written_in_place() -> None:
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    step = st.train_step(problems.of_dict, adam)
    step(params, X)
    m, t = adam.state["m"]["W"], adam.state["t"]
    before = m.copy()
    step(params, X)
    assert adam.state["m"]["W"] is m
    assert not np.array_equal(m, before)
    assert t == 2


def test_several_arguments_are_kept_by_name() -> None:
    optimizer = st.optim.Momentum(0.1, 0.5)
    a, b = np.array([1.0, 2.0]), {"w": np.array([3.0, 4.0])}
    step = st.train_step(lambda a, b: np.sum(a * b["w"]), optimizer, wrt=("b", 0))
    step(a, b)
    np.testing.assert_array_equal(optimizer.state["velocity"]["a"], [3, 4])
    np.testing.assert_array_equal(optimizer.state["velocity"]["b"]["w"], [1, 2])
    np.testing.assert_array_equal(a, [1 - 0.3, 2 - 0.4])
    step(a, b)
    np.testing.assert_allclose(optimizer.state["velocity"]["b"]["w"], [1.2, 2.6])


def test_one_array_alone() -> None:
    optimizer = st.optim.Momentum(0.1)
    w = np.asfortranarray(np.ones((3, 2)))
    step = st.train_step(lambda w: np.sum(w * 2.0), optimizer)
    step(w)
    np.testing.assert_array_equal(optimizer.state["velocity"], np.full((3, 2), 2.0))
    assert optimizer.state["velocity"].flags.f_contiguous, "laid out like the parameter"


def test_descent_without_momentum_keeps_nothing() -> None:
    sgd = st.optim.SGD(0.1)
    st.train_step(problems.of_dict, sgd)(problems.as_dict(np.float64), X)
    assert dict(sgd.state) == {}
    assert sgd.state_dict() == {}


def test_looking_at_the_code_makes_no_state() -> None:
    adam = st.optim.Adam()
    step = st.train_step(problems.of_dict, adam)
    params = problems.as_dict(np.float64)
    step.source(params, X), step.program(params, X), step.allocated_bytes(params, X)
    assert dict(adam.state) == {}
    step(params, X)
    kept = adam.state_dict()
    step.source(problems.as_dict(np.float32), X)
    assert "m_W" in step.source(problems.as_dict(np.float64), X), "of other parameters: allowed"
    np.testing.assert_equal(adam.state_dict(), kept)


def test_one_program_for_all_steps(compiled: list[Any]) -> None:
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    step = st.train_step(problems.of_dict, adam)
    for number in range(40):
        adam.lr = 0.1 / (number + 1)
        step(params, X)
    adam.lr, adam.beta1, adam.beta2, adam.eps = 1, np.float32(0.5), np.float64(0.5), 0
    step(params, X)
    assert len(compiled) == 1
    assert isinstance(adam.beta1, float)
    adam.clip_norm = 1.0
    step(params, X)
    adam.clip_norm = 2.0
    step(params, X)
    assert len(compiled) == 2


def test_a_changed_learning_rate_acts_at_once() -> None:
    w = np.array([1.0])
    momentum = st.optim.Momentum(1.0, 0.5)
    step = st.train_step(lambda w: np.sum(w), momentum)
    step(w)
    assert w == 0
    momentum.lr = 0.0
    step(w)
    assert w == 0
    momentum.lr = 2.0
    step(w)
    assert w == -2 * (1 + 0.5 * (1 + 0.5))


def test_names_that_the_model_has_already() -> None:
    def f(m, t, v_1):
        return np.sum(m["w"] ** 2) * t + np.sum(v_1)

    plain, step = ({"w": np.array([1.0, 2.0])} for _ in range(2))
    adam = st.optim.Adam(0.1)
    named = st.train_step(f, adam)
    named(plain, 0.5, np.ones(2))
    assert "def f_step(m, t, v_1, m_1, v, t_1, *" in named.source(plain, 0.5, np.ones(2))
    st.train_step(lambda p: np.sum(p["w"] ** 2) * 0.5, st.optim.Adam(0.1))(step)
    np.testing.assert_array_equal(plain["w"], step["w"])


def test_a_keyword_of_the_state_s_name_is_refused() -> None:
    step = st.train_step(lambda w, **options: np.sum(w * options["t"]), st.optim.Adam())
    with pytest.raises(st.ArgumentsError, match="`t` is passed as a keyword"):
        step(np.ones(2), t=0.5)


def test_the_generated_function_takes_the_state() -> None:
    """Copied out, it trains like the step."""
    params, others = problems.as_dict(np.float64), problems.as_dict(np.float64)
    adam = st.optim.Adam()
    step = st.train_step(problems.of_dict, adam, level="fast")
    namespace: dict[str, Any] = {}
    exec(step.source(params, X), namespace)
    alone = namespace["workspace"]()
    state = {slot: {name: np.zeros_like(p) for name, p in params.items()} for slot in ("m", "v")}
    for number in range(3):
        value = alone(others, X, **state, t=np.array(number))
        assert step(params, X) == value
    for name in params:
        np.testing.assert_array_equal(params[name], others[name])
    np.testing.assert_equal(adam.state["m"], state["m"])


# --- saved and loaded ----------------------------------------------------------------------------


@pytest.mark.parametrize("structure", problems.STRUCTURES)
@pytest.mark.parametrize("name", MAKERS)
def test_it_goes_on_to_the_bit(name: str, structure: str) -> None:
    make, loss = MAKERS[name], problems.LOSSES[structure]
    params = problems.STRUCTURES[structure](np.float64)
    optimizer = make()
    step = st.train_step(loss, optimizer)
    for _ in range(5):
        step(params, X)
    saved, kept = optimizer.state_dict(), copy.deepcopy(params)
    values = [step(params, X) for _ in range(5)]

    resumed = make()
    resumed.load_state_dict(saved)
    np.testing.assert_equal(resumed.state_dict(), saved)
    again = st.train_step(loss, resumed)
    assert [again(kept, X) for _ in range(5)] == values
    for one, other in zip(problems.leaves(params), problems.leaves(kept), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_equal(resumed.state_dict(), optimizer.state_dict())


def test_it_consists_of_plain_dicts() -> None:
    """Strings as keys, arrays and an int: what a file can hold."""
    adam = st.optim.Adam()
    params = problems.as_nested(np.float32)
    st.train_step(problems.of_nested, adam)(params, X.astype(np.float32))
    saved = adam.state_dict()
    assert saved["t"] == 1 and type(saved["t"]) is int
    assert list(saved["m"]) == ["layers"]
    assert list(saved["m"]["layers"]) == ["0", "1"]
    assert list(saved["m"]["layers"]["1"]) == ["first", "second"]

    file = io.BytesIO()
    np.savez(file, **{f"{slot}/{i}/{key}": array
                      for slot in "mv" for i, layer in saved[slot]["layers"].items()
                      for key, array in layer.items()}, t=saved["t"])  # fmt: skip
    file.seek(0)
    read: dict[str, Any] = {}
    for name, array in np.load(file).items():
        slot, *keys = name.split("/")
        if keys:
            read.setdefault(slot, {"layers": {}})["layers"].setdefault(keys[0], {})[keys[1]] = array
        else:
            read[slot] = array
    other = st.optim.Adam()
    other.load_state_dict(read)
    np.testing.assert_equal(other.state_dict(), saved)


def test_it_is_a_copy() -> None:
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    step = st.train_step(problems.of_dict, adam)
    step(params, X)
    saved = adam.state_dict()
    kept = copy.deepcopy(saved)
    step(params, X)
    np.testing.assert_equal(saved, kept)
    adam.load_state_dict(saved)
    saved["m"]["W"][...] = 7
    np.testing.assert_equal(adam.state_dict(), kept)
    step(params, X)
    assert adam.state["t"] == 2


def test_loading_into_the_same_optimiser() -> None:
    """Back to an earlier point, with other arrays or the same."""
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    step = st.train_step(problems.of_dict, adam)
    step(params, X)
    saved, kept = adam.state_dict(), copy.deepcopy(params)
    value = step(params, X)
    adam.load_state_dict(saved)
    assert step(kept, X) == value
    np.testing.assert_array_equal(kept["W"], params["W"])


def with_(saved: dict[str, Any], slot: str, key: str, value: Any) -> dict[str, Any]:
    return {**saved, slot: {**saved[slot], key: value}}


def without(saved: dict[str, Any], slot: str, key: str) -> dict[str, Any]:
    return {**saved, slot: {name: v for name, v in saved[slot].items() if name != key}}


WRONG = {
    "shape": (lambda s: with_(s, "m", "W", np.zeros((4, 3))), r'm\["W"\].*\(4, 3\), not float64'),
    "dtype": (lambda s: with_(s, "v", "b", np.zeros(4, np.float32)), r'v\["b"\].*is float32 \(4,'),
    "missing": (lambda s: without(s, "v", "V"), r'the saved state has no v\["V"\]'),
    "unknown": (lambda s: with_(s, "m", "U", np.zeros(2)), r'm\["U"\].*is of no parameter'),
    "structure": (lambda s: with_(s, "m", "W", {"0": np.zeros(2)}), r'has no m\["W"\]'),
    "no count": (lambda s: {"m": s["m"], "v": s["v"]}, r"has `m`, `v`; Adam keeps `m`, `v`, `t`"),
    "count": (lambda s: {**s, "t": 1.5}, r"t of the saved state is float64 \(\), not int64"),
    "another": (lambda s: {"velocity": s["m"]}, r"has `velocity`; Adam keeps `m`, `v`, `t`"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("begun", [True, False])
def test_what_does_not_fit_is_refused_by_name(wrong: str, begun: bool) -> None:
    change, reason = WRONG[wrong]
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    st.train_step(problems.of_dict, adam)(params, X)
    saved = adam.state_dict()
    target = adam if begun else st.optim.Adam()
    before = copy.deepcopy(params)
    with pytest.raises(st.ArgumentsError, match=reason):
        target.load_state_dict(change(saved))
        assert not begun
        st.train_step(problems.of_dict, target)(params, X)
    np.testing.assert_equal(params, before)
    if begun:
        np.testing.assert_equal(adam.state_dict(), saved)


def test_keys_that_would_be_saved_alike() -> None:
    adam = st.optim.Adam()
    params = {0: np.ones(2), "0": np.ones(2)}
    st.train_step(lambda p: np.sum(p[0] * p["0"]), adam)(params)
    with pytest.raises(st.ArgumentsError, match=r'two parameters are saved as m\["0"\]'):
        adam.state_dict()


# --- other parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["dict", "list"])
def test_parameters_of_another_model_are_refused(structure: str) -> None:
    adam = st.optim.Adam()
    st.train_step(problems.of_dict, adam)(problems.as_dict(np.float64), X)
    params = problems.STRUCTURES[structure](np.float64)
    before, kept = copy.deepcopy(params), adam.state_dict()
    step = st.train_step(problems.LOSSES[structure], adam)
    with pytest.raises(st.ArgumentsError, match="belongs to other parameters") as caught:
        step(params, X)
    assert "make one Adam for each set" in caught.value.hint
    np.testing.assert_equal(params, before)
    np.testing.assert_equal(adam.state_dict(), kept)
    adam.reset()
    step(params, X)
    assert adam.state["t"] == 1


def test_two_losses_of_the_same_parameters() -> None:
    adam = st.optim.Adam()
    params = problems.as_dict(np.float64)
    one = st.train_step(problems.of_dict, adam)
    other = st.train_step(lambda params, x: np.sum(x) * params["c"] ** 2, adam)
    one(params, X)
    other(params, X)
    one(params, X)
    assert adam.state["t"] == 3


def test_descent_without_state_takes_any_parameters() -> None:
    step = st.train_step(problems.of_dict, st.optim.SGD(0.1))
    assert step(problems.as_dict(np.float64), X) == step(problems.as_dict(np.float64), X)


# --- steps that fail -----------------------------------------------------------------------------


def may_fail(params, x):
    assert x[0] < 10, "too large"
    return np.sum(np.sqrt(params["w"] * x))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("x", "error"), [([1.0, -1.0], st.NanError), ([11.0, 1.0], AssertionError)]
)
def test_a_step_that_fails_changes_nothing(x: Any, error: Any, first: bool) -> None:
    adam = st.optim.Adam()
    params = {"w": np.array([1.0, 2.0])}
    step = st.train_step(may_fail, adam, debug_nans=True)
    if not first:
        step(params, np.ones(2))
    before, kept = params["w"].copy(), adam.state_dict()
    with np.errstate(all="ignore"), pytest.raises(error):
        step(params, np.array(x))
    np.testing.assert_array_equal(params["w"], before)
    np.testing.assert_equal(adam.state_dict(), kept)
    step(params, np.ones(2))
    assert adam.state["t"] == (1 if first else 2)


# --- memory that is shared -----------------------------------------------------------------------


def test_a_batch_in_the_memory_of_the_state_is_refused() -> None:
    momentum = st.optim.Momentum(0.1)
    w = np.ones(2)
    step = st.train_step(lambda w, x: np.sum(w * x), momentum)
    step(w, np.ones(2))
    with pytest.raises(st.ArgumentsError, match="optimiser's state, shares memory"):
        step(w, momentum.state["velocity"][::-1])
    assert w.tolist() == [0.9, 0.9]


def test_state_in_the_memory_of_a_parameter_is_refused() -> None:
    momentum = st.optim.Momentum(0.1)
    params = {"w": np.ones(2), "b": np.ones(2)}
    step = st.train_step(lambda p: np.sum(p["w"] * p["b"]), momentum)
    step(params)
    momentum.state["velocity"]["w"] = params["b"][:]
    with pytest.raises(st.ArgumentsError, match="state share memory"):
        step(params)
    assert params["w"].tolist() == [0.9, 0.9]


def test_a_step_in_a_compiled_function_needs_no_state() -> None:
    adam = st.train_step(lambda w: np.sum(w**2), st.optim.Adam())
    with pytest.raises(st.LanguageError, match="Adam, which keeps a state, cannot be a part"):
        st.grad(lambda x: adam(np.ones(2)) * x)(1.0)


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: st.optim.Adam(-0.1), "lr must be 0 or more"),
        (lambda: st.optim.Adam(beta1=1.0), "beta1 must be at least 0 and less than 1"),
        (lambda: st.optim.Adam(beta2=-0.1), "beta2 must be"),
        (lambda: st.optim.Adam(eps=np.nan), "eps must be"),
        (lambda: st.optim.RMSprop(alpha=2), "alpha must be"),
        (lambda: st.optim.Momentum(0.1, 1.0), "momentum must be"),
        (lambda: st.optim.Nesterov(0.1, None), "momentum must be a number"),
        (lambda: st.optim.AdamW(weight_decay=-1), "weight_decay must be 0 or more"),
        (lambda: st.optim.SGD("0.1"), "lr must be a number, not '0.1'"),
        (lambda: st.optim.SGD(0.1, clip_norm=np.inf), "clip_norm must be positive"),
        (lambda: setattr(st.optim.SGD(0.1), "lr", -1), "lr must be"),
    ],
)
def test_options_out_of_range(make: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make()


@pytest.mark.parametrize("what", [0.1, st.optim.SGD, object()])
def test_what_is_no_optimiser(what: Any) -> None:
    with pytest.raises(st.ArgumentsError, match="is no optimiser"):
        st.train_step(problems.of_dict, what)


def test_an_optimiser_of_one_s_own() -> None:
    class Adagrad(st.optim.Optimizer):
        """Duchi, Hazan & Singer (2011)."""

        slots = ("total",)

        def update(self, params, grads, *, total):
            for p, g, s in zip(params, self.prepared(params, grads), total):
                s += g * g
                p -= self.lr * g / np.sqrt(s)

    w = np.array([1.0, 2.0])
    optimizer = Adagrad(0.5, clip_value=2.0)
    step = st.train_step(lambda w: np.sum(w * np.array([1.0, 5.0])), optimizer)
    step(w)
    step(w)
    np.testing.assert_allclose(optimizer.state["total"], [2, 8])
    np.testing.assert_allclose(w, [0.5 - 0.5 / np.sqrt(2), 1.5 - 0.5 / np.sqrt(2)])
    assert "update: Adagrad, lr = 0.5, clip_value = 2" in step.source(w)
