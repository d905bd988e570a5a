"""A run that goes wrong is repeated, and the line that made the first NaN is named."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile_programs.train import Checkpoints, DivergedError, train
from tests.diagnostics.refusals import excerpts

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.ones((20, 2))


def grows(params, x):
    """The parameters double; after some steps the exponential overflows."""
    h = np.exp(x @ params["w"])
    shares = h / np.sum(h)
    return np.sum(shares * shares) - np.sum(params["w"])


def overflows(params, x):
    """The value becomes infinite, and no NaN is made."""
    h = x @ params["w"]
    return -np.mean(np.exp(h))


def root(params, x):
    """The adjoint of the root makes a NaN at zero; the value itself stays finite for a step."""
    h = params["w"] + np.abs(params["w"])
    far = np.sqrt(h)
    return np.sum(far * (x[0] - 1)) + np.sum(params["w"])


def diverged(
    loss: Any, lr: float, optimizer: Any = None, epochs: int = 40, **keywords: Any
) -> tuple[DivergedError, Any]:
    params = {"w": np.ones(2)}
    step = st.train_step(loss, optimizer or st.optim.SGD(lr), wrt="params")
    with pytest.raises(DivergedError) as caught:
        train(
            step,
            params,
            (X,),
            epochs=epochs,
            batch_size=4,
            rng=np.random.default_rng(0),
            **keywords,
        )
    return caught.value, params


@pytest.mark.slow
def test_a_nan_in_the_forward_pass(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "c.npz", every=3)
    error, params = diverged(grows, 50.0, checkpoints=checkpoints)
    assert (error.epoch, error.step) == (2, 4)
    assert len(error.results.epochs) == 1
    assert error.origin is not None
    assert (error.origin.epoch, error.origin.step) == (2, 4)
    first, second, *_ = error.reason.splitlines()
    assert first == "the loss became nan in epoch 2, step 4"
    assert second.startswith(f"replayed from the checkpoint {tmp_path / 'c.npz'} (epoch 2, 3 steps")
    assert "in epoch 2, step 4, the first NaN is made in this line: `divide` gives" in second
    place = excerpts(str(error))[0]
    assert (place.underlined, place.function) == ("h / np.sum(h)", "grows")
    assert np.isfinite(params["w"]).all(), "as before the step"
    assert "choose a smaller --learning-rate" in error.hint


def test_without_a_checkpoint_it_starts_at_the_start() -> None:
    error, _ = diverged(grows, 50.0)
    assert "replayed from the start of the run: in epoch 2, step 4, the first NaN" in error.reason


def test_state_and_order_are_as_they_were() -> None:
    """With momentum the parameters grow as fast only if the velocity is restored."""
    error, _ = diverged(grows, 3.0, st.optim.Momentum(3.0))
    assert error.origin is not None
    assert (error.origin.epoch, error.origin.step) == (error.epoch, error.step)


def test_a_nan_in_the_adjoint_of_an_earlier_step() -> None:
    """The loss of the step that makes the NaN is fine: it is in the parameters."""
    error, params = diverged(root, 1.0)
    assert error.reason.startswith("the loss became nan in epoch 1, step 3")
    assert error.origin is not None
    assert (error.origin.epoch, error.origin.step) == (1, 2)
    assert "the first NaN is made in the adjoint of this line" in error.reason
    assert excerpts(str(error))[0].underlined == "np.sqrt(h)"
    assert "np.where" in error.hint and "--learning-rate" in error.hint
    assert params["w"].tolist() == [0.0, 0.0]


def test_no_checkpoint_has_a_nan(tmp_path: Path) -> None:
    """It is found when a checkpoint is due, or the epoch ends, though every loss is finite."""
    for every, epochs, at in ((2, 40, (1, 2)), (100, 40, (1, 3))):
        path = tmp_path / f"{every}.npz"
        error, _ = diverged(root, 1.0, checkpoints=Checkpoints(path, every=every), epochs=epochs)
        assert (error.epoch, error.step) == at
        assert error.origin is not None
        assert (error.origin.epoch, error.origin.step) == (1, 2)
    assert (
        'params["w"] was found to be nan in epoch 1, step 2'
        in diverged(root, 1.0, checkpoints=Checkpoints(tmp_path / "c.npz", every=2))[0].reason
    )


def test_the_end_of_an_epoch_is_looked_at() -> None:
    params = {"w": np.ones(2)}
    step = st.train_step(root, st.optim.SGD(1.0), wrt="params")
    with pytest.raises(DivergedError, match=r"was found to be nan in epoch 1, step 2") as caught:
        train(step, params, (X[:8],), epochs=9, batch_size=4, rng=np.random.default_rng(0))
    assert caught.value.results.epochs == []


def test_an_infinity() -> None:
    error, _ = diverged(overflows, 1.0)
    assert "the loss became -inf" in error.reason
    assert "the first infinity is made in this line: `exp` gives 4 infinite among 4" in error.reason
    assert excerpts(str(error))[0].underlined == "np.exp(h)"


def test_infinities_that_were_there_are_none_of_it() -> None:
    def masked(params: Any, x: Any) -> Any:
        return np.sum(np.exp(params["w"] + params["mask"])) * x[0, 0]

    params = {"w": np.zeros(2), "mask": np.array([0.0, -np.inf])}
    step = st.train_step(masked, st.optim.SGD(0.1), wrt="params")
    results = train(step, params, (X,), epochs=2, batch_size=4, rng=np.random.default_rng(0))
    assert len(results.epochs) == 2


def test_random_numbers_are_drawn_again() -> None:
    def noisy(params: Any, x: Any, generator: Any) -> Any:
        noise = generator.random()
        return np.sum(np.log(noise - 0.1 + 0 * params["w"])) + np.sum(x) * 0

    error, _ = diverged(noisy, 0.1, arguments=(np.random.default_rng(2),))
    assert error.origin is not None
    assert (error.origin.epoch, error.origin.step) == (error.epoch, error.step)
    assert "np.log" in excerpts(str(error))[0].underlined


def test_the_replay_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("stcompile_programs.train.loop.replay", interrupt)
    error, _ = diverged(grows, 50.0)
    assert error.origin is None
    assert error.reason == "the loss became nan in epoch 2, step 4"
