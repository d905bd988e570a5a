"""Every tool trains the networks of the papers in the same way."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from examples.papers.networks import AUTOENCODER, CNN, Network, make_task, networks, recurrent
from examples.papers.quoted import QUOTED
from examples.papers.runs import Plan
from examples.papers.tools import TOOLS, is_installed
from examples.papers.training import network_named, run
from tests.papers.images import small_images

PEERS = [tool for tool in TOOLS if tool != "stcompile"]


def tool_module(name: str) -> Any:
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    if name == "keras" and not any(map(importlib.util.find_spec, ("tensorflow", "jax", "torch"))):
        pytest.skip("keras has no backend")
    return importlib.import_module(f"examples.papers.tools.{name}")


@pytest.mark.parametrize("network", [recurrent(4), CNN, AUTOENCODER], ids=lambda n: n.name)
@pytest.mark.parametrize("name", TOOLS)
def test_parameters_are_those_of_the_task(name: str, network: Network) -> None:
    """Given as they were set, with the names and shapes of the task; the task's stay untouched."""
    tool = tool_module(name)
    task = make_task(network, small_images(), np.random.default_rng(0))
    learner = tool.learner(task, 1)
    before = learner.parameters()
    assert before.keys() == task.params.keys()
    for key, value in task.params.items():
        np.testing.assert_array_equal(before[key], value)
        assert before[key].dtype == np.float32
    start = task.copied_params()
    learner.step(*(array[: network.batch_size] for array in task.arrays))
    after = learner.parameters()
    for key, value in start.items():
        np.testing.assert_array_equal(task.params[key], value)
        assert not np.array_equal(after[key], value), key


@pytest.mark.parametrize("network", ["rnn-1", "rnn-4", "cnn", "cnn-fashion", "autoencoder"])
@pytest.mark.parametrize("tool", PEERS)
def test_every_tool_trains_alike(tool: str, network: str, small: None) -> None:
    """The losses of the first steps, and the metric after two epochs."""
    tool_module(tool)
    limit = 40 if network == "autoencoder" else 600
    plans = [
        Plan(network, name, seed=1, epochs=2, limit=limit, threads=1)
        for name in ("stcompile", tool)
    ]
    ours, theirs = (run(plan) for plan in plans)
    assert len(ours.first_losses) == ours.steps_an_epoch == (40 if network == "autoencoder" else 6)
    np.testing.assert_allclose(theirs.first_losses, ours.first_losses, rtol=1e-4)
    assert ours.first_losses[-1] < ours.first_losses[0]
    for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
        assert other.loss == pytest.approx(mine.loss, rel=1e-4)
        assert other.metric == pytest.approx(mine.metric, rel=1e-4, abs=0.02)
    assert ours.allocated_bytes == 0
    assert theirs.allocated_bytes is None


def test_gradients_are_clipped(small: None) -> None:
    """A step is no longer than the learning rate times the norm that gradients are clipped to."""
    network = replace(recurrent(4), clip_norm=1e-3)
    for name in TOOLS:
        if not is_installed(name):
            continue
        task = make_task(network, small_images(), np.random.default_rng(0))
        learner = tool_module(name).learner(task, 1)
        learner.step(*(array[:100] for array in task.arrays))
        changes = [learner.parameters()[key] - value for key, value in task.params.items()]
        length = np.sqrt(sum(np.sum(np.square(change, dtype=float)) for change in changes))
        assert length == pytest.approx(1e-3 * network.learning_rate, rel=0.02), name


@pytest.mark.parametrize("tool", ["stcompile", "torch", "jax"])
def test_worked_example(tool: str) -> None:
    pytest.importorskip(tool, reason=f"{tool} is not installed")
    record = run(Plan("worked-example", tool, threads=1))
    assert record.value == pytest.approx(np.log(2) + 10 - np.sin(5), rel=1e-12)
    assert record.gradient == pytest.approx((5.5, 2 - np.cos(5)), rel=1e-12)
    assert record.seconds_a_call is not None


@pytest.mark.slow
def test_seeds_and_epochs(small: None) -> None:
    def losses(seed: int, epochs: int) -> list[float]:
        plan = Plan("rnn-2", "stcompile", seed=seed, epochs=epochs, limit=300, threads=1)
        return [epoch.loss for epoch in run(plan).epochs]

    assert losses(0, 2)[:1] == losses(0, 1) != losses(1, 1)


def test_the_networks_of_the_papers() -> None:
    assert [n.name for n in networks(["rnn", "cnn-fashion"], [2])] == ["rnn-2", "cnn-fashion"]
    for name in ("rnn-4", "cnn", "cnn-fashion", "autoencoder"):
        network = network_named(name)
        assert network.name == name
        assert network.paper is None or network.paper in QUOTED
    shapes = {
        key: value.shape
        for key, value in make_task(
            recurrent(4), small_images(), np.random.default_rng(0)
        ).params.items()
    }
    assert shapes == {"Wx": (36, 64), "Wh": (64, 64), "bh": (64,), "Wo": (64, 10), "bo": (10,)}
