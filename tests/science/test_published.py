"""Published programs as they stand: values, gradients, and code that does not grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.science import published_loops as loops
from tests.science import published_others as others

Arguments = Callable[[int, np.random.Generator], tuple[Any, ...]]


def complex_numbers(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def definite(n: int, rng: np.random.Generator) -> Any:
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def singles(rng: np.random.Generator, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple((rng.random(shape) - 0.4).astype(np.float32) for shape in shapes)


def flow(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    u, v, p = (0.1 * rng.random((n, n)) for _ in range(3))
    return n, n, 20, 5, u, v, 0.1 / n**2, 2 / (n - 1), 2 / (n - 1), p, 1.0, 0.1


def channel(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    u, v, p = np.ones((n, n)), np.zeros((n, n)), np.ones((n, n))
    return 5, u, v, 0.1 / n**2, 2 / (n - 1), 2 / (n - 1), p, 1.0, 0.1, 1.0


def columns(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    shapes = ((5, 4, n), (5, 4, n), (6, 4, n), (5, 4, n), (5, 4, n))
    return (*(rng.random(shape) for shape in shapes), 0.15)


def energies(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    neighbours = np.array([[(i + 1 + j) % 4 for j in range(2)] for i in range(4)], np.int32)
    return (
        neighbours,
        complex_numbers(rng, 4, 2, 2, 2, 2),
        complex_numbers(rng, 2, n, 4, 2, 2),
        complex_numbers(rng, 2, 2, 4, 2, 2, 2),
        np.zeros((2, n, 4, 2, 2), complex),
    )


def lattice(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    cylinder = np.zeros((n, n + 2), bool)
    cylinder[1:3, 2:4] = True
    return n + 2, n, 0.6, 20, 1 + 0.01 * rng.normal(size=(n, n + 2, 9)), cylinder


PROGRAMS: dict[Callable[..., Any], Arguments] = {
    loops.adi: lambda n, rng: (20, n, rng.normal(size=(n, n))),
    loops.cholesky2: lambda n, rng: (definite(n, rng),),
    loops.correlation: lambda n, rng: (n, float(n + 3), rng.normal(size=(n + 3, n))),
    loops.deriche: lambda n, rng: (0.25, rng.random((n, n + 2))),
    loops.doitgen: lambda n, rng: (
        *(n, n + 1, 5, rng.normal(size=(n, n + 1, 5)), rng.normal(size=(5, 5))),
    ),
    loops.durbin: lambda n, rng: (0.5 ** np.arange(1, n + 1) + 0.01 * rng.random(n),),
    loops.floyd_warshall: lambda n, rng: (10 * rng.random((n, n)),),
    loops.ludcmp: lambda n, rng: (definite(n, rng), rng.normal(size=n)),
    loops.nussinov: lambda n, rng: (n, rng.integers(0, 4, n)),
    loops.seidel_2d: lambda n, rng: (20, n, rng.normal(size=(n, n))),
    loops.cavity_flow: flow,
    loops.channel_flow: channel,
    loops.vadv: columns,
    others.azimint_naive: lambda n, rng: (rng.random(50 * n), rng.random(50 * n), n),
    others.azimint_hist: lambda n, rng: (rng.random(50 * n), rng.random(50 * n), n),
    others.compute: lambda n, rng: (20 * rng.random((n, n)), rng.random((n, n)), 4.0, 3.0, 9.0),
    others.crc16: lambda n, rng: (rng.integers(0, 256, n, np.uint8),),
    others.go_fast: lambda n, rng: (rng.random((n, n)),),
    others.mandelbrot: lambda n, rng: (-1.75, 0.25, -1.0, 1.0, n, n, 30),
    others.softmax: lambda n, rng: singles(rng, (2, 3, n, n)),
    others.mlp: lambda n, rng: singles(rng, (8, n), (n, 6), (6,), (6, 5), (5,), (5, 3), (3,)),
    others.scattering_self_energies: energies,
    others.stockham_fft: lambda n, rng: (
        *(64, 4, 3, complex_numbers(rng, 64), np.zeros(64, complex)),
    ),
    others.lattice_boltzmann: lattice,
    others.kmeans: lambda n, rng: (rng.normal(size=(5 * n, 2)), 3, 20, rng.normal(size=(3, 2))),
    others.arc_distance: lambda n, rng: tuple(rng.random(n) for _ in range(4)),
}
HEAVY = {others.scattering_self_energies, loops.cavity_flow, loops.channel_flow, loops.adi}
JUMPS = {others.azimint_naive: (1,), others.azimint_hist: (1,)}  # arguments that decide by steps
SIZES = 19, 24  # both are beyond what is unrolled


def sizes_of(function: Callable[..., Any]) -> tuple[int, int]:
    return (19, 20) if function in HEAVY else SIZES


def arguments_of(function: Callable[..., Any], n: int) -> tuple[Any, ...]:
    return PROGRAMS[function](n, np.random.default_rng(n))


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)


def results(function: Callable[..., Any], args: tuple[Any, ...]) -> Iterator[Any]:
    """What a call returns, and the arrays that it may have written."""
    given = copied(args)
    made = function(*given)
    returned = made if isinstance(made, tuple) else () if made is None else (made,)
    yield from (np.asarray(one) for one in (*returned, *given))


def totalled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A number made of all that the function returns and writes."""

    def total(*args: Any) -> Any:
        made, number = function(*args), 0.0
        for one in (*made, *args) if isinstance(made, tuple) else (made, *args):
            if one is not None and not isinstance(one, (int, float)):
                if one.dtype.kind == "f":
                    number = number + np.sum(np.sin(one) * one)
                elif one.dtype.kind == "c":
                    number = number + np.sum(np.sin(np.real(one))) + np.sum(np.imag(one) ** 2)
        return number

    return total


@pytest.mark.parametrize("function", PROGRAMS)
def test_values(function: Callable[..., Any]) -> None:
    lines = set()
    for n in sizes_of(function):
        args = arguments_of(function, n)
        compiled = st.compile(function, dynamic=False)
        pairs = zip(results(compiled, args), results(function, args), strict=True)
        for found, expected in pairs:
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            rtol = 2e-5 if expected.dtype == np.float32 else 1e-9
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9)
        lines.add(len(str(compiled.source(*args)).splitlines()))
    assert max(lines) - min(lines) <= 2, lines  # a number more or less in a long line


@pytest.mark.parametrize("function", PROGRAMS)
def test_gradients(function: Callable[..., Any]) -> None:
    """Derivatives along a random direction in each array, against central differences."""
    n, _ = sizes_of(function)
    args = arguments_of(function, n)
    arrays = [
        at for at, arg in enumerate(args) if isinstance(arg, np.ndarray) and arg.dtype.kind in "fc"
    ]
    if not arrays:
        return
    total = totalled(function)
    gradients = st.grad(total, wrt=tuple(arrays), copy=True)(*args)
    for at, gradient in zip(arrays, gradients, strict=True):
        array = args[at]
        step = 1e-2 if array.dtype == np.float32 else 1e-6
        direction = np.random.default_rng(1).normal(size=array.shape)

        def moved(by: float, at: int = at, array: Any = array, direction: Any = direction) -> float:
            new = (array + by * direction).astype(array.dtype)
            return float(total(*copied(args[:at]), new, *copied(args[at + 1 :])))

        expected = (moved(step) - moved(-step)) / (2 * step)
        found = float(np.sum(np.real(gradient) * direction))
        assert abs(found - expected) <= (1e-5 if step < 1e-3 else 3e-2) * (1 + abs(expected))
