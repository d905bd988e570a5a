"""The training loop, with a training step written by hand."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from stcompile_programs.train import ACCURACY, DivergedError, train

X = np.random.default_rng(0).normal(size=(20, 3))
Y = X @ np.array([1.0, -2.0, 0.5])


class LeastSquares:
    """One step of gradient descent on mean (x w - y)^2; allocates ``scratch`` bytes while at it."""

    def __init__(self, rate: float = 0.1, scratch: int = 0) -> None:
        self.rate, self.scratch = rate, scratch
        self.calls = 0

    def __call__(self, params: Any, *batch: Any) -> Any:
        x, y, *_ = batch
        self.calls += 1
        np.empty(self.scratch, np.uint8)
        residual = x @ params["w"] - y
        params["w"] -= self.rate * 2 * (x.T @ residual) / len(x)
        return np.mean(residual**2)

    def allocated_bytes(self, params: Any, *batch: Any) -> int:
        return 1000 * len(batch[0])

    def source(self, params: Any, *batch: Any) -> str:
        return "def step(params, x, y): ...\n"


def start() -> dict[str, Any]:
    return {"w": np.zeros(3)}


def test_learns_and_records() -> None:
    step, params, asked = LeastSquares(), start(), []

    def evaluate() -> tuple[float, float]:
        asked.append(params["w"].copy())
        return 0.5, len(asked) / 10

    results = train(
        step,
        params,
        (X, Y),
        epochs=3,
        batch_size=6,
        rng=np.random.default_rng(0),
        evaluate=evaluate,
        dataset="lines",
    )
    assert step.calls == 3 * 3
    np.testing.assert_array_equal(asked[-1], params["w"])
    assert results.dataset == "lines"
    assert not results.interrupted
    assert [epoch.test_metric for epoch in results.epochs] == [0.1, 0.2, 0.3]
    assert results.test_metric == 0.3
    losses = [epoch.loss for epoch in results.epochs]
    assert losses == sorted(losses, reverse=True)
    assert [epoch.allocated_bytes for epoch in results.epochs] == [3 * 6000] * 3
    assert results.allocated_bytes_per_step == 6000
    assert results.microseconds_per_step is not None
    assert results.microseconds_per_step > 0
    assert results.mean_microseconds_per_step is not None
    assert results.mean_microseconds_per_step > 0


def test_seeds_decide() -> None:
    def run(seed: int) -> Any:
        params = start()
        rng = np.random.default_rng(seed)
        train(LeastSquares(), params, (X, Y), epochs=1, batch_size=6, rng=rng)
        return params["w"].tolist()

    assert run(1) == run(1) != run(2)


def test_static_arguments_follow_the_batch() -> None:
    class Checked(LeastSquares):
        def __call__(self, params: Any, *batch: Any) -> Any:
            assert batch[2:] == (4, "fast")
            return super().__call__(params, *batch)

        def allocated_bytes(self, params: Any, *batch: Any) -> int:
            assert batch[2:] == (4, "fast")
            return 0

    rng = np.random.default_rng(0)
    arguments = (4, "fast")
    train(Checked(), start(), (X, Y), epochs=1, batch_size=5, rng=rng, arguments=arguments)


def test_seconds_exclude_evaluation_and_peak_sees_the_step() -> None:
    def evaluate() -> tuple[None, None]:
        time.sleep(0.3)
        return None, None

    results = train(
        LeastSquares(scratch=5_000_000),
        start(),
        (X, Y),
        epochs=2,
        batch_size=5,
        rng=np.random.default_rng(0),
        evaluate=evaluate,
    )
    for epoch in results.epochs:
        assert 0 < epoch.seconds < 0.3
        assert 5_000_000 <= epoch.peak_bytes < 6_000_000
    assert results.test_metric is None


def test_no_epochs() -> None:
    rng = np.random.default_rng(0)
    results = train(LeastSquares(), start(), (X, Y), epochs=0, batch_size=5, rng=rng)
    assert results.epochs == []
    assert results.microseconds_per_step is None


def test_a_loss_that_is_not_finite_stops() -> None:
    class Diverges(LeastSquares):
        def __call__(self, params: Any, *batch: Any) -> Any:
            loss = super().__call__(params, *batch)
            return np.float32("nan") if self.calls == 6 else loss

    step = Diverges()
    with pytest.raises(DivergedError, match="loss became nan in epoch 2, step 2") as caught:
        train(step, start(), (X, Y), epochs=5, batch_size=5, rng=np.random.default_rng(0))
    assert step.calls == 6
    assert len(caught.value.results.epochs) == 1
    assert "--learning-rate" in caught.value.hint


@pytest.mark.parametrize(("call", "finished"), [(1, 0), (6, 1), (8, 1)])
def test_interruption_keeps_what_is_finished(call: int, finished: int) -> None:
    class Interrupted(LeastSquares):
        def __call__(self, params: Any, *batch: Any) -> Any:
            if self.calls + 1 == call:
                raise KeyboardInterrupt
            return super().__call__(params, *batch)

    rng = np.random.default_rng(0)
    results = train(Interrupted(), start(), (X, Y), epochs=5, batch_size=5, rng=rng)
    assert results.interrupted
    assert len(results.epochs) == finished


def test_accuracy_counts_rows() -> None:
    x = np.eye(5)
    labels = np.array([0, 1, 2, 0, 0])
    assert ACCURACY.mean(lambda rows: rows, x, labels) == 0.6
    assert ACCURACY.mean(lambda rows: rows, x, labels, rows_at_once=2) == 0.6
