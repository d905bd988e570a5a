"""A training step that ranks make together, which are threads here."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError, DerivativeError, ExportError, NanError
from tests.distributed.mpi import needs_library
from tests.distributed.ranks import Alone, Comm, on_ranks, shares

pytestmark = needs_library

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 4)), RNG.integers(0, 3, 12)


def fresh(dtype: Any = np.float64) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    shapes = {"W": (4, 5), "b": (5,), "V": (5, 3)}
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def loss(params, x, y):
    h = np.tanh(x @ params["W"] + params["b"])
    return st.nn.softmax_cross_entropy(h @ params["V"], y)


def tied(params, x):
    """A gradient that two parameters share, one that is a view, and one that is zero."""
    v = x @ (params["a"] + params["b"])
    return np.mean(v * v) + 0.0 * np.sum(params["c"].T) + np.mean(params["c"] @ x.T)


def mixed(params, x):
    """Parameters of two dtypes."""
    return np.mean((x @ params["W"]).astype(np.float32) * params["s"])


OPTIMIZERS = {
    "sgd": lambda: st.optim.SGD(0.1),
    "clipped": lambda: st.optim.SGD(0.5, clip_norm=0.1, weight_decay=0.01),
    "momentum": lambda: st.optim.Momentum(0.1),
    "adam": lambda: st.optim.Adam(0.05),
}


def trained(
    function: Any, params: Any, data: tuple[Any, ...], optimizer: Any, count: int, **options: Any
) -> tuple[list[float], Any, Any]:
    step = st.train_step(function, optimizer, wrt="params", **options)
    return [float(step(params, *data)) for _ in range(count)], params, optimizer.state_dict()


def assert_close(got: Any, wanted: Any, rtol: float = 1e-10) -> None:
    losses, params, state = got
    np.testing.assert_allclose(losses, wanted[0], rtol=rtol)
    for name in params:
        np.testing.assert_allclose(params[name], wanted[1][name], rtol=rtol, atol=rtol)
    assert state.keys() == wanted[2].keys()


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("sgd", [6, 6]), ("clipped", [4, 0, 8]), ("momentum", [12]), ("adam", [5, 1, 6])],
    ids=str,
)
def test_ranks_together_are_one_process(name: str, sizes: list[int]) -> None:
    wanted = trained(loss, fresh(), (X, Y), OPTIMIZERS[name](), 3)

    def program(comm: Comm) -> Any:
        rows = shares(12, sizes)[comm.rank]
        data = X[rows], Y[rows]
        return trained(loss, fresh(), data, OPTIMIZERS[name](), 3, comm=comm)

    found = on_ranks(len(sizes), program)
    for got in found:
        assert_close(got, wanted)
    for other in found[1:]:  # and the same to the bit on all ranks
        assert other[0] == found[0][0]
        for key in other[1]:
            np.testing.assert_array_equal(other[1][key], found[0][1][key])


@pytest.mark.parametrize(
    ("level", "overlap", "function"),
    [
        ("readable", False, tied),
        ("readable", 100, loss),
        ("fast", False, mixed),
        ("fast", 100, tied),
        ("fast", 20, mixed),
    ],
)
def test_at_each_level_with_and_without_overlap(level: str, overlap: Any, function: Any) -> None:
    def params() -> Any:
        if function is loss:
            return fresh()
        if function is mixed:
            return {"W": np.ones((4, 2)), "s": np.full(2, 0.5, np.float32)}
        return {name: np.ones((4, 2)) + at for at, name in enumerate("ab")} | {"c": np.ones((3, 4))}

    data = (X, Y) if function is loss else (X,)
    rtol = 1e-5 if function is mixed else 1e-10
    wanted = trained(function, params(), data, st.optim.Momentum(0.1), 3, level=level)

    def program(comm: Comm) -> Any:
        rows = shares(12, [7, 5])[comm.rank]
        own = tuple(part[rows] for part in data)
        options = {"comm": comm, "overlap": overlap, "level": level}
        return trained(function, params(), own, st.optim.Momentum(0.1), 3, **options)

    for got in on_ranks(2, program):
        assert_close(got, wanted, rtol)


@pytest.mark.parametrize("overlap", [False, 100])
def test_shares_whose_length_changes_take_two_compilations(overlap: Any) -> None:
    sizes = [(6, 6), (5, 7), (8, 4), (9, 3), (6, 6)]
    reference, whole = fresh(), st.train_step(loss, st.optim.Momentum(0.1), wrt="params")
    wanted = [float(whole(reference, X, Y)) for _ in sizes]

    def program(comm: Comm) -> Any:
        params, found = fresh(), []
        step = st.train_step(
            loss, st.optim.Momentum(0.1), wrt="params", comm=comm, overlap=overlap, dynamic=None
        )
        for own in sizes:
            rows = shares(12, list(own))[comm.rank]
            found.append(float(step(params, X[rows], Y[rows])))
        return found, params, step.lengths.compilations

    for found, params, compilations in on_ranks(2, program):
        np.testing.assert_allclose(found, wanted, rtol=1e-10)
        np.testing.assert_allclose(params["W"], reference["W"], rtol=1e-9)
        assert compilations == 2


def test_gradients_of_a_dtype_lie_in_one_array() -> None:
    def program(comm: Comm) -> Any:
        step = st.train_step(loss, st.optim.Adam(), wrt="params", comm=comm)
        params = fresh(np.float32)
        step(params, X.astype(np.float32), Y)
        return comm.exchanged, step.source(params, X.astype(np.float32), Y)

    exchanged, source = on_ranks(1, program)[0]
    assert exchanged == [("<f4", 4 * 5 + 5 + 5 * 3 + 2)]
    assert source.count("comm.Allreduce(MPI.IN_PLACE, gradients)") == 1
    for name in ("d_W", "d_b", "d_V"):
        assert re.search(rf"\b{name} = gradients\[\d+:\d+\]", source), name
    assert "np.copyto(gradients" not in source


def test_a_steady_step_allocates_no_arrays() -> None:
    import tracemalloc

    def wide(params, x):
        return np.mean(np.tanh(x @ params["w"]) @ params["v"])

    def peak(**options: Any) -> int:
        x, params = np.ones((64, 300)), {"w": np.ones((300, 200)), "v": np.ones(200)}
        step = st.train_step(wide, st.optim.Adam(clip_norm=1.0), wrt="params", **options)
        step(params, x)
        step(params, x)
        assert step.allocated_bytes(params, x) == 0
        tracemalloc.start()
        step(params, x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    alone = peak()
    for overlap in (False, 1000):  # bytes; the smallest gradient has 1600
        assert peak(comm=Alone(), overlap=overlap) < alone + 1000


def test_buckets_begin_before_the_adjoint_ends() -> None:
    def deep(params, x):
        h = np.tanh(x @ params["a"])
        h = np.tanh(h @ params["b"])
        return np.mean(np.tanh(h @ params["c"]))

    params = {name: np.eye(4) for name in "abc"}
    options = {"comm": Alone(), "overlap": 100, "level": "readable"}
    source = st.train_step(deep, st.optim.SGD(0.1), wrt="params", **options).source(params, X)
    starts = [m.start() for m in re.finditer("Iallreduce", source)]
    assert len(starts) == 3
    first, last = source.index(" d_c ="), source.index(" d_a =")
    assert first < starts[0] < source.index(" d_b =") < starts[1] < last < starts[2]
    assert source.index("MPI.Request.Waitall(requests)") > starts[2]
    assert "Allreduce(" not in source
    assert source.count("Waitall") == 1


def test_one_bucket_that_is_large_enough() -> None:
    step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=Alone(), overlap="1MB")
    assert step.source(fresh(), X, Y).count("Iallreduce") == 1


# --- which argument has the rows -----------------------------------------------------------------


def weighted(params, x, weights):
    return np.mean((x @ params) ** 2) + np.sum(weights)


def test_rows_that_cannot_be_counted_are_refused() -> None:
    w = np.ones(4)
    step = st.train_step(weighted, st.optim.SGD(0.1), comm=Alone())
    with pytest.raises(ArgumentsError, match="x has 12, weights has 3") as caught:
        step(w, X, np.ones(3))
    assert "rows='x'" in str(caught.value)
    named = st.train_step(weighted, st.optim.SGD(0.1), comm=Alone(), rows="x")
    assert np.isfinite(named(w, X, np.ones(3)))
    for rows, what in (("params", "that is trained"), ("z", "is no argument")):
        step = st.train_step(weighted, st.optim.SGD(0.1), comm=Alone(), rows=rows)
        with pytest.raises(ArgumentsError, match=what):
            step(w, X, np.ones(3))
    captured = st.train_step(lambda p: np.mean(X @ p), st.optim.SGD(0.1), comm=Alone())
    with pytest.raises(ArgumentsError, match="no argument but the parameters is an array"):
        captured(w)


def test_keywords_are_for_a_communicator() -> None:
    with pytest.raises(ArgumentsError, match="several processes"):
        st.train_step(loss, st.optim.SGD(0.1), rows="x")
    with pytest.raises(ArgumentsError, match="several processes"):
        st.train_step(loss, st.optim.SGD(0.1), overlap=True)
    with pytest.raises(ArgumentsError, match="no communicator"):
        st.train_step(loss, st.optim.SGD(0.1), comm=4)
    step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=Alone())
    with pytest.raises(ExportError, match="exchanges gradients"):
        step.export("step.py", fresh(), X, Y)


def test_a_step_of_several_ranks_is_not_differentiated() -> None:
    step = st.train_step(lambda w, x: np.mean((x @ w) ** 2), st.optim.SGD(0.1), comm=Alone())

    def by_value(s, w, x):
        return step(w * s, x)

    def by_parameters(s, w, x):
        moved = w * s
        step(moved, x)
        return np.sum(moved)

    w = np.ones(4)
    for function in (by_value, by_parameters):
        with pytest.raises(DerivativeError, match="has no derivative rule") as caught:
            st.grad(function)(2.0, w, X)
        assert "not a training step with comm" in str(caught.value)
        with pytest.raises(DerivativeError, match="has no derivative rule"):
            st.jvp(function, (2.0, w, X), (1.0, 0 * w, 0 * X))


def test_communicators_without_ranks_and_between_groups_are_refused() -> None:
    from mpi4py import MPI

    freed = MPI.COMM_SELF.Dup()
    freed.Free()
    for comm in (MPI.COMM_NULL, freed):
        with pytest.raises(ArgumentsError, match="has no ranks"):
            st.train_step(loss, st.optim.SGD(0.1), comm=comm)

    class Between(Alone):
        """An intercommunicator."""

        Is_inter = staticmethod(lambda: True)

    with pytest.raises(ArgumentsError, match="two groups"):
        st.train_step(loss, st.optim.SGD(0.1), comm=Between())


# --- ranks that differ ---------------------------------------------------------------------------


def errors(program: Any, count: int = 2) -> list[Exception]:
    def caught(comm: Comm) -> Any:
        try:
            program(comm)
        except Exception as error:
            return error
        return None

    return on_ranks(count, caught)


def other(params, x, y):
    return loss(params, x, y) * 2.0


@pytest.mark.parametrize(
    "what", ["params", "dtype", "the loss", "the optimiser", "state", "overlap"]
)
def test_ranks_that_differ_all_refuse(what: str) -> None:
    def program(comm: Comm) -> None:
        params, optimizer, function = fresh(), st.optim.Momentum(0.1), loss
        if comm.rank == 1:
            params["b"] += what == "params"
            if what == "dtype":
                params["b"] = params["b"].astype(np.float32)
            function = other if what == "the loss" else loss
            optimizer.lr += 0.1 * (what == "the optimiser")
        if what == "state":
            st.train_step(loss, optimizer, wrt="params")(params, X + comm.rank, Y)
            params.update(fresh())
            optimizer = copy.copy(optimizer)
        overlap = 100 if what == "overlap" and comm.rank == 1 else "1MB"
        step = st.train_step(function, optimizer, wrt="params", comm=comm, overlap=overlap)
        step(params, X[:6], Y[:6])

    shown = {
        "params": '`params["b"]`',
        "dtype": '`params["b"]`: float64 of shape (5,) and float32 of shape (5,)',
        "the optimiser": "the optimiser: Momentum, lr = 0.1",
        "state": "`velocity",
        "overlap": "`overlap`: buckets of 1000000 bytes and buckets of 100 bytes",
    }.get(what, what)
    for error in errors(program):
        assert isinstance(error, ArgumentsError)
        assert f"ranks 0 and 1 differ in {shown}" in str(error)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_step_without_any_rows_is_refused(level: str) -> None:
    def program(comm: Comm) -> None:
        params = fresh()
        step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=comm, level=level)
        step(params, X, Y)
        before = params["W"].copy()
        try:
            step(params, X[:0], Y[:0])
        finally:
            np.testing.assert_array_equal(params["W"], before)

    for error in errors(program):
        assert isinstance(error, ArgumentsError)
        assert "no rank has rows in this step" in str(error)


def test_a_division_by_zero_in_the_loss_stays_one() -> None:
    def divided(params, x, n):
        return np.mean(x @ params["W"]) * (1.0 / n)

    step = st.train_step(divided, st.optim.SGD(0.1), wrt="params", comm=Alone(), rows="x")
    with pytest.raises(ZeroDivisionError):
        step(fresh(), X, 0.0)


def test_a_rank_that_cannot_compile_ends_all() -> None:
    def program(comm: Comm) -> None:
        x = X if comm.rank == 0 else X[:, :3]
        st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=comm)(fresh(), x, Y)

    first, second = errors(program)
    assert "rank 1 cannot make the step" in str(first)
    assert "matmul" in str(second)


def test_a_nan_on_one_rank_is_found_there() -> None:
    def program(comm: Comm) -> None:
        x = X.copy()
        x[0, 0] = np.nan if comm.rank == 1 else 0.0
        step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=comm, debug_nans=True)
        params = fresh()
        try:
            step(params, x, Y)
        finally:
            np.testing.assert_array_equal(params["W"], fresh()["W"])

    first, second = errors(program)
    assert isinstance(first, NanError) and "another rank" in str(first)
    assert isinstance(second, NanError) and "x is float64" in str(second)


def test_a_step_is_pickled_with_its_communicator() -> None:
    from mpi4py import MPI

    step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=MPI.COMM_SELF, rows="x")
    params, again = fresh(), fresh()
    value = step(params, X, Y)
    assert pickle.loads(pickle.dumps(step))(again, X, Y) == value
    np.testing.assert_array_equal(params["W"], again["W"])
