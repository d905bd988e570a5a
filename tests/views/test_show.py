"""A function stage by stage: what is shown, and the table of what changed."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import LEVELS, Options
from stcompile.passes.pipeline import OWN, PIPELINE, Stage, stages_at
from stcompile.reports.snapshots import Snapshot, Snapshots
from stcompile.transforms.primal import Primal
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify


def loss(w, x):
    h = np.tanh(x @ w)
    return np.mean(h * h)


def powers(x):
    for _ in range(20):
        if x > 1.0:
            x = x * x
    return x


W, X = np.ones((3, 2)), np.ones((4, 3))
PASSES = [stage.name for stage in stages_at(Options().level)]


def names(stages: object) -> list[str]:
    assert isinstance(stages, Snapshots)
    return [snapshot.stage for snapshot in stages.all]


def shown(*args: object, **options: object) -> str:
    return str(st.show(*args, **options))  # type: ignore[arg-type]


def test_stages_have_names_of_their_own() -> None:
    for level in LEVELS:
        stages = stages_at(level, parallel=True)
        assert len({stage.name for stage in stages} | {OWN, "staged", "reverse"}) == len(stages) + 3


def test_the_list_after_each_stage_is_a_program() -> None:
    for stage in ["staged", "reverse", *PASSES, OWN]:
        found = st.show(loss, W, X, after=stage)
        assert isinstance(found, Snapshot)
        verify(found.program)
        assert parse_program(str(found)) == found.program
        assert repr(found) == str(found)


def test_what_the_stages_are_of() -> None:
    both = st.value_and_grad(loss)
    assert shown(loss, W, X, after=OWN) == str(both.program(W, X))
    assert shown(loss, W, X, wrt="x", after=OWN) == str(st.value_and_grad(loss, "x").program(W, X))
    assert shown(st.grad(loss), W, X, after=OWN) == str(st.grad(loss).program(W, X))
    by_x = st.differentiable(loss, wrt="x")
    assert shown(by_x, W, X, after=OWN) == str(by_x.value_and_grad.program(W, X))
    assert shown(by_x, W, X, wrt=0, after=OWN) == str(both.program(W, X))
    assert shown(loss, W, x=X) == shown(loss, W, X)
    step = st.train_step(loss, st.optim.SGD(0.1))
    assert shown(step, W, X, after=OWN) == str(step.program(W, X))
    assert "subtract" in shown(step, W, X, after="reverse")
    assert "subtract" not in shown(step, W, X, after="staged")


def test_the_primal_has_no_adjoint() -> None:
    stages = st.show(Primal(loss), W, X)
    assert names(stages) == ["staged", *PASSES]
    assert names(st.show(loss, W, X)) == ["staged", "reverse", *PASSES, OWN]


def test_a_stage_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no stage 'share': .*'share_equations', .*'renumber'"):
        st.show(loss, W, X, after="share")
    with pytest.raises(ValueError, match="has its own `wrt`"):
        st.show(st.grad(loss), W, X, wrt=1)


def test_nothing_is_compiled_or_run() -> None:
    def f(x):
        print("ran")
        return x * x

    gradient = st.grad(f)
    st.show(gradient, 2.0)
    gradient.report(2.0)
    assert not gradient._specialisations


def test_a_level_has_its_stages() -> None:
    readable, fast = stages_at("readable"), stages_at("fast")
    assert set(readable) < set(fast) < set(PIPELINE)
    forms = (stages_at(form, parallel=True) for form in ("compiled", "inner", "whole"))
    assert {*fast}.union(*forms) == set(PIPELINE)
    assert readable == tuple(s for s in PIPELINE if "readable" in s.levels)
    assert Stage(lambda p: p).exact
    assert names(st.show(loss, W, X, level="fast"))[2:-1] == [s.name for s in fast]
    fast_loss = st.differentiable(loss, level="fast")
    assert shown(fast_loss, W, X) == shown(loss, W, X, level="fast")


def test_the_report_says_what_changed() -> None:
    lines = str(st.value_and_grad(loss, level="readable").report(W, X)).splitlines()
    assert lines[0].split("  ")[0] == "stage"
    by_stage = {line.split()[0]: line for line in lines[2:]}
    assert list(by_stage) == ["reverse", *(s.name for s in stages_at("readable")), OWN]
    # 1/n is folded, and its broadcast with it; tanh's rule wants h * h once more
    assert "-1 divide" in by_stage["simplify"]
    assert "-1 broadcast_to" in by_stage["simplify"]
    assert "-1 contract" in by_stage["simplify"]
    assert "-1 multiply" in by_stage["share_equations"]
    assert by_stage["renumber"].split()[2] == "–"


def test_the_report_counts_arrays() -> None:
    """Views cost nothing; what a loop makes in a step counts once, what it collects in full."""

    def f(x):
        y = np.zeros(3)
        for t in range(20):
            y = np.sin(y + x[t])
        return np.sum(y.T)

    x = np.ones((20, 3))
    alone = st.show(Primal(f), x, after="staged")
    assert isinstance(alone, Snapshot)
    assert alone.nbytes == 8 * 3 * 3  # zeros, the sum, the sine
    joint = st.show(f, x, after="eliminate_dead_code")
    assert isinstance(joint, Snapshot)
    collected = [v for e in joint.program.equations if e.primitive == "loop" for v in e.outputs]
    assert joint.nbytes > alone.nbytes + 8 * 3 * 20
    assert any(v.type.dims == (20, 3) for v in collected)


def test_equations_of_branches_and_loops_are_counted() -> None:
    snapshot = st.show(Primal(powers), 1.5, after="eliminate_dead_code")
    assert isinstance(snapshot, Snapshot)
    assert snapshot.primitives == {"loop": 1, "greater": 1, "cond": 1, "multiply": 1}
