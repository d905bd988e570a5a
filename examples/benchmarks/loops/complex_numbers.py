"""Programs whose parameters are real and whose middle is complex."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def frequency_response(m: Array, c: Array, k: Array, force: Array, omegas: Array) -> Any:
    """The amplitude of a structure at each frequency: a complex system for each."""
    response = np.zeros(omegas.shape[0])
    for i in range(omegas.shape[0]):
        w = omegas[i]
        x = np.linalg.solve(k + 1j * w * c - w * w * m, force + 0j)
        response[i] = np.sum(np.abs(x) ** 2)
    return response


def contour_integral(blocks: Array, right: Array, points: Array, weights: Array) -> Any:
    """Two moments of an inverse along a contour, as those who look for eigenvalues sum them."""
    n, m = right.shape
    p0, p1 = np.zeros((n, m), np.complex128), np.zeros((n, m), np.complex128)
    for z, w in zip(points, weights):  # noqa: B905
        t = np.zeros((n, n), np.complex128)
        for power in range(blocks.shape[0]):
            t += z**power * blocks[power]
        x = np.linalg.solve(t, right + 0j)
        p0 += w * x
        p1 += w * z * x
    return np.abs(p0) + np.abs(p1)


def transmission(thickness: Array, index: Array, wavelengths: Array) -> Any:
    """Light through layers: a product of two by two matrices for each colour."""
    result = np.zeros(wavelengths.shape[0])
    for i in range(wavelengths.shape[0]):
        m = np.eye(2) + 0j
        for j in range(thickness.shape[0]):
            phase = 2.0 * np.pi * index[j] * thickness[j] / wavelengths[i]
            c, s = np.cos(phase), np.sin(phase)
            m = m @ np.array([[c + 0j, 1j * s / index[j]], [1j * index[j] * s, c + 0j]])
        result[i] = np.abs(2.0 / (m[0, 0] + m[0, 1] + m[1, 0] + m[1, 1])) ** 2
    return result


def _structure(rng: np.random.Generator, n: int, count: int) -> Arguments:
    k = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    m, c = np.eye(n) + 0.1 * rng.random((n, n)) / n, 0.1 * np.eye(n)
    omegas = np.linspace(0.5, 3.0, count)
    return {"m": m, "c": c, "k": k, "force": rng.normal(size=n), "omegas": omegas}


def _contour(rng: np.random.Generator, n: int, count: int) -> Arguments:
    blocks = rng.normal(size=(3, n, n)) + 3 * np.eye(n)
    points = 0.5 * np.exp(2j * np.pi * (np.arange(count) + 0.5) / count)
    return {
        "blocks": blocks, "right": rng.normal(size=(n, n // 2)), "points": points,
        "weights": points / count,
    }  # fmt: skip


def _layers(rng: np.random.Generator, layers: int, count: int) -> Arguments:
    thickness, index = 0.1 + 0.1 * rng.random(layers), 1.3 + rng.random(layers)
    wavelengths = np.linspace(0.4, 0.8, count)
    return {"thickness": thickness, "index": index, "wavelengths": wavelengths}


PROGRAMS = (
    LoopProgram(
        frequency_response, _structure, wrt=("m", "c", "k", "force"), scalar=squares, whole=True,
        grows=("n",), small={"n": 5, "count": 20}, middle={"n": 40, "count": 60},
        large={"n": 120, "count": 200},
    ),
    LoopProgram(
        contour_integral, _contour, wrt=("blocks", "right"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 6, "count": 20}, middle={"n": 50, "count": 32},
        large={"n": 150, "count": 32},
    ),
    LoopProgram(
        transmission, _layers, wrt=("thickness", "index"), scalar=squares, whole=True,
        grows=("layers", "count"), small={"layers": 17, "count": 18},
        middle={"layers": 20, "count": 60}, large={"layers": 60, "count": 500},
    ),
)  # fmt: skip
