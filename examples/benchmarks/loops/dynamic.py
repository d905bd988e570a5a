"""Dynamic programming: tables that are filled cell by cell, made smooth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram


def soft_dtw(costs: Array, gamma: float) -> Any:
    """The soft least cost of warping one series onto another."""
    n, m = costs.shape
    r = np.full((n + 1, m + 1), 1e6)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]
            least = min(a, b, c)
            total = (
                np.exp((least - a) / gamma)
                + np.exp((least - b) / gamma)
                + np.exp((least - c) / gamma)
            )
            r[i, j] = costs[i - 1, j - 1] + least - gamma * np.log(total)
    return r[n, m]


def alignment(scores: Array, gap: float) -> Any:
    """The best global alignment of two sequences, row by row."""
    n, m = scores.shape
    last = -gap * np.arange(m + 1.0)
    for i in range(n):
        row = np.zeros(m + 1)
        row[0] = -gap * (i + 1.0)
        for j in range(m):
            row[j + 1] = max(last[j] + scores[i, j], last[j + 1] - gap, row[j] - gap)
        last = row
    return last[m]


def forward_algorithm(start: Array, transitions: Array, emissions: Array, seen: Array) -> Any:
    """The log-likelihood of what was seen of a hidden Markov chain."""
    alpha = start + emissions[:, seen[0]]
    for t in range(1, seen.shape[0]):
        terms = alpha[:, None] + transitions
        top = np.max(terms, axis=0)
        alpha = top + np.log(np.sum(np.exp(terms - top), axis=0)) + emissions[:, seen[t]]
    top = np.max(alpha)
    return top + np.log(np.sum(np.exp(alpha - top)))


def viterbi(start: Array, transitions: Array, emissions: Array, seen: Array) -> Any:
    """The log-likelihood of the best path through that chain."""
    delta = start + emissions[:, seen[0]]
    for t in range(1, seen.shape[0]):
        delta = np.max(delta[:, None] + transitions, axis=0) + emissions[:, seen[t]]
    return np.max(delta)


def inside(scores: Array) -> Any:
    """The log of the sum over all binary trees above a sentence, from short spans to long."""
    n = scores.shape[0]
    table = np.zeros((n, n))
    for i in range(n):
        table[i, i] = scores[i, i]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            terms = table[i, i:j] + table[i + 1 : j + 1, j]
            top = np.max(terms)
            table[i, j] = scores[i, j] + top + np.log(np.sum(np.exp(terms - top)))
    return table[0, n - 1]


def _costs(rng: np.random.Generator, n: int) -> Arguments:
    return {"costs": rng.random((n, n)), "gamma": 0.5}


def _scores(rng: np.random.Generator, n: int) -> Arguments:
    return {"scores": rng.normal(size=(n, n)), "gap": 0.4}


def _chain(rng: np.random.Generator, n: int, states: int) -> Arguments:
    start, transitions = rng.normal(size=states), rng.normal(size=(states, states))
    emissions, seen = rng.normal(size=(states, 10)), rng.integers(0, 10, n)
    return {"start": start, "transitions": transitions, "emissions": emissions, "seen": seen}


def _spans(rng: np.random.Generator, n: int) -> Arguments:
    return {"scores": rng.normal(size=(n, n))}


PROGRAMS = (
    LoopProgram(
        soft_dtw, _costs, wrt=("costs", "gamma"), grows=("n",),
        small={"n": 18}, middle={"n": 50}, large={"n": 300},
    ),
    LoopProgram(
        alignment, _scores, wrt=("scores", "gap"), grows=("n",),
        small={"n": 18}, middle={"n": 50}, large={"n": 300},
    ),
    LoopProgram(
        forward_algorithm, _chain, wrt=("start", "transitions", "emissions"), whole=True,
        grows=("n",),
        small={"n": 20, "states": 4}, middle={"n": 300, "states": 16},
        large={"n": 3000, "states": 64},
    ),
    LoopProgram(
        viterbi, _chain, wrt=("start", "transitions", "emissions"), whole=True, grows=("n",),
        small={"n": 20, "states": 4}, middle={"n": 300, "states": 16},
        large={"n": 3000, "states": 64},
    ),
    LoopProgram(
        inside, _spans, wrt=("scores",), grows=("n",),
        small={"n": 18}, middle={"n": 40}, large={"n": 200},
    ),
)  # fmt: skip
