"""The memory report, against what the generated code allocates."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Level
from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.link import link
from stcompile.reports.memory import Memory, lives_of
from tests.golden import models

LEVELS: tuple[Level, ...] = ("readable", "fast")
N = 20_000  # of float64: one array is 160 000 bytes
ARRAY = 8 * N


def chain(x):
    y = np.sin(x)
    z = np.exp(y) * y
    return np.sum(z * x)


def long_loop(w, x):
    for _ in range(50):
        x = np.tanh(w * x)
    return np.sum(x)


def branching(x, limit):
    y = np.exp(x)
    if np.sum(y) > limit:
        y = np.sin(y) * y
    else:
        y = y * y * y
    return np.sum(y)


def layers(ws, x):
    for w in ws:
        x = np.tanh(x @ w)
    return np.sum(x * x)


def measured(function: Callable[..., Any], *args: Any) -> int:
    """The most bytes that a call has allocated at one time."""
    function(*args)
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def workspace_bytes(compiled: Dispatcher, *args: Any) -> int:
    """The bytes of the arrays that a workspace holds, views apart."""
    emitted = compiled.specialise(compiled.bind(args, {})).emitted
    if emitted.workspace is None:
        return 0
    function = link(emitted.source, emitted.name, emitted.workspace)()
    arrays = [c.cell_contents for c in function.__closure__ or ()]
    bases: dict[int, Any] = {}
    for array in arrays:
        while isinstance(array, np.ndarray) and array.base is not None:
            array = array.base
        bases[id(array)] = array
    return sum(base.nbytes for base in bases.values() if isinstance(base, np.ndarray))


ARGUMENTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "chain": (chain, (np.ones(N),)),
    "long_loop": (long_loop, (np.full(N, 0.5), np.ones(N))),
    "branching": (branching, (np.full(N, 0.5), 1.0)),
    "layers": (layers, ([np.full((20, 20), 0.1)] * 1, np.ones((N // 20, 20)))),
    **{
        name: (getattr(models, name), args)
        for name, args in models.arguments().items()
        if name not in models.NO_LOSSES
    },
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_buffers_are_those_of_the_workspace(name: str, level: Level) -> None:
    function, args = ARGUMENTS[name]
    compiled = st.value_and_grad(function, level=level)
    memory = compiled.memory(*args)
    held = workspace_bytes(compiled, *args)
    # what only a view shows is not in the closure; a constant may be a view of one number
    assert memory.nbytes + 100 >= held
    assert held >= 0.9 * memory.nbytes
    assert memory.allocated == compiled.allocated_bytes(*args)
    assert bool(memory.buffers) == bool(memory.nbytes)
    shared: dict[int, int] = {}
    for buffer in memory.buffers:
        shared[buffer.memory] = max(shared.get(buffer.memory, 0), buffer.nbytes)
    assert sum(shared.values()) <= memory.nbytes
    assert memory.peak <= memory.nbytes + memory.allocated or level == "readable"


@pytest.mark.parametrize("name", ["chain", "long_loop", "branching", "layers"])
def test_peak_at_the_readable_level_is_what_is_allocated(name: str) -> None:
    function, args = ARGUMENTS[name]
    compiled = st.value_and_grad(function, level="readable")
    memory = compiled.memory(*args)
    assert memory.nbytes == 0
    assert memory.buffers == ()
    # names live until the end of the function, values until their last read
    assert memory.peak - 3 * ARRAY <= measured(compiled, *args) <= memory.peak + 4 * ARRAY


@pytest.mark.parametrize("name", ["chain", "long_loop", "branching", "layers"])
def test_a_call_at_the_fast_level_allocates_what_is_said(name: str) -> None:
    function, args = ARGUMENTS[name]
    compiled = st.value_and_grad(function, level="fast")
    memory = compiled.memory(*args)
    assert measured(compiled, *args) <= memory.allocated + 20_000
    assert memory.peak <= memory.nbytes + memory.allocated


def swept(u, f):
    u = u.copy()
    for _ in range(30):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (np.tanh(u[i - 1] * u[i + 1]) + f[i])
    return np.sum(u * u)


def test_kernels_allocate_what_is_said() -> None:
    """Python runs the loops here, so that allocations are traced."""
    args = np.linspace(0.1, 1.0, 200), np.ones(200)
    compiled = st.value_and_grad(swept, wrt=("u", "f"), level="compiled")
    memory = compiled.memory(*args)
    emitted = compiled.specialise(compiled.bind(args, {})).emitted
    assert emitted.kernels
    as_python = "njit = lambda **_: lambda function: function\n"
    source = emitted.source.replace("from numba import njit\n", as_python)
    plain = link(source, emitted.name, emitted.workspace)
    function = plain() if emitted.workspace else plain
    np.testing.assert_allclose(function(*args)[0], swept(*args), rtol=1e-12)
    kept = 30 * 198 * 8  # what the adjoint needs of each step
    assert kept <= memory.peak <= memory.allocated + memory.nbytes
    assert memory.peak - 1_600 * 2 <= measured(function, *args) <= memory.peak + 20_000
    lives = [life for life in lives_of(emitted) if life.name.endswith(" of kernel_1")]
    assert sum(life.nbytes for life in lives) >= kept
    assert all(life.start == life.end and life.memory is None for life in lives)


def test_a_tape_holds_every_value_and_its_cotangent() -> None:
    memory = st.value_and_grad(chain, level="fast").memory(np.ones(N))
    assert memory.naive == 2 * 4 * ARRAY  # sin, exp, * and *
    memory = st.value_and_grad(long_loop, level="fast").memory(np.ones(N), np.ones(N))
    assert memory.naive == 2 * 2 * 50 * ARRAY
    assert memory.peak < memory.naive
    memory = st.value_and_grad(branching, level="fast").memory(np.ones(N), 1.0)
    assert memory.naive == 2 * 3 * ARRAY


def test_residuals_of_loops() -> None:
    memory = st.value_and_grad(long_loop, level="fast").memory(np.ones(N), np.ones(N))
    assert memory.residuals
    for residual in memory.residuals:
        assert residual.shape == (50, N)
        assert residual.nbytes == 50 * ARRAY
        assert residual.where.startswith("forward test_memory.py:")
    memory = st.value_and_grad(models.square_root).memory(2.0)
    assert {residual.nbytes for residual in memory.residuals} == {None}


def test_buffers_say_when_they_are_needed() -> None:
    memory = st.value_and_grad(chain, level="fast").memory(np.ones(N))
    first = chain.__code__.co_firstlineno
    (y,) = (buffer for buffer in memory.buffers if buffer.name == "y")
    assert y.spans[0][0] == f"forward test_memory.py:{first + 1}"
    assert y.spans[-1][1].startswith("adjoint")
    assert (y.shape, y.dtype, y.nbytes) == ((N,), "float64", ARRAY)


def test_a_step_counts_no_copies_of_parameters() -> None:
    ws = [np.full((20, 20), 0.1), np.full((20, 20), 0.1)]
    step = st.train_step(layers, st.optim.SGD(0.1), "ws", level="fast")
    memory = step.memory(ws, np.ones((N // 20, 20)))
    assert isinstance(memory, Memory)
    assert memory.allocated == 0
    assert memory.peak <= memory.nbytes


def test_the_table() -> None:
    loss = st.differentiable(chain, level="fast")
    memory = loss.memory(np.ones(N))
    text = str(memory)
    assert text.startswith("memory of `chain_value_and_grad`\n")
    for buffer in memory.buffers:
        assert any(line.split()[:3] == [str(buffer.memory), f"{buffer.nbytes:,}", buffer.name]
                   for line in text.split("\n"))  # fmt: skip
    assert f"{memory.naive:,} bytes" in text
    assert f"{memory.peak:,} bytes" in text
