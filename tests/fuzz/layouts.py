"""Random programs that ask whether something is a view: what is written through it shows.

An array is made in one of many ways, of arguments in random memory layouts; on the way it goes
through branches, loops, lists, calls. Then it is reshaped or flattened, the result is written to,
and both are summed up. Whether the array has changed depends on how it lies in memory, and so do
the last bits of the sums.
"""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

import stcompile as st
from tests.frontend.arrangements import KINDS, relaid
from tests.fuzz.generate import function_of
from tests.fuzz.structures import locked

SHAPE = (2, 3, 4)
MADE = [
    "x * 1.0", "x + y", "x * y", "np.sin(x)", "x.copy()", "np.copy(x)", "np.array(y)", "+x",
    "np.round(x * 1e-9, 1) + 0.5", "np.float64(x * y)", "np.where(x > 9.0, x, y)", "np.abs(x) + 1",
    "np.einsum('ijk,ijk->ijk', x, y)", "x[:, [0, 2, 1]]", "x[..., [1, 0, 3, 2]]", "x[[1, 0]]",
    "np.take(y, [0, 1, 1, 0], 2)", "np.cumsum(x, 1)", "np.roll(x, 1, 2)", "np.flip(x, 1) * 1.0",
    "np.zeros_like(x) + 0.5", "np.full_like(x, 0.5)", "np.broadcast_to(x[:1], x.shape) * y",
    "np.mean(x, 1, keepdims=True) * y", "np.clip(x, -9.0, 9.0)", "np.sum([x, y], 0)",
    "np.stack([x, y, x]).sum(0)", "np.concatenate([x, y], 1)[:, :3]", "np.array([x, y])[1]",
    "np.repeat(x, 1, 1)", "np.repeat(x, 2, 0)[::2]", "np.tile(y, (1, 2, 1))[:, ::2]",
    "np.delete(np.concatenate([x, y], 1), [1, 2, 4], 1)", "np.pad(x, 1)[1:-1, 1:-1, 1:-1]",
    "np.insert(x, 1, 0.5, 1)[:, 1:]", "np.asfortranarray(x * 1.0)", "np.ascontiguousarray(x) * y",
    "(x @ y.mT) @ y", "np.matmul(y.mT, x).mT @ np.ones((4, 4)) + 0 * x.sum()", "scaled(x, y)",
    "np.tensordot(x, np.ones((2, 2)), ([0], [0])).transpose(2, 0, 1)", "kept(x, y)",
    "x.mT.copy().mT", "np.choose((y > 9.0).astype(int), [x, y])",
    "x.astype(np.float64)",
    "np.moveaxis(x * 1.0, 0, 2).swapaxes(1, 2).swapaxes(0, 1)", "np.ones(x.shape) * x[:, :1]",
]  # fmt: skip
THROUGH = [
    *["a = {m}"] * 6,
    "a = {m}\nif np.sum(y) > {c}:\n    a = {n}",
    "a = {m} if np.sum(y) > {c} else ({n})",
    "a = {m}\nfor i in range(20):\n    a = a * 0.5 + {n}",
    "a = {m}\nfor i in range(20):\n    a = np.sin(a) * 0.5",
    "a = {m}\nb = ({n}) * 1.0\nfor i in range({k}):\n    a, b = b * 0.5, a",
    "a = ({m}) * 1.0\nfor i in range(20):\n    a[i % 2] += 0.1 * {n}[0]",
    "a = ({m}) * 1.0\na *= {n}",
    "a = ({m}) * 1.0\na -= 0.5 * np.exp({n})",
    "a = np.zeros({s})\na[...] = {m}",
    "a = np.zeros_like(x)\na.T[...] = ({m}).T",
    "items = []\nfor i in range(20):\n    items.append(({m}) * (i + 1.0))\na = items[{k} - 20]",
    "items = []\nfor i in range(20):\n    items.append({m} * 1.0)\na = np.stack(items[2:5])[1]",
    "items = [({m}) * 1.0 for i in range(3)]\na = np.array(items)[1]",
    "items = {{'a': ({m}) * 1.0}}\na = items['a']",
    "a = over(lambda t: {m} * t, 2.0)",
]
VIEWED = [
    "a.reshape(-1)", "a.ravel()", "np.ravel(a)", "np.reshape(a, a.shape[::-1])", "a.flatten()",
    "a.T.reshape(-1)", "a.T.ravel()", "a.swapaxes(0, 1).reshape(-1)", "np.ascontiguousarray(a)",
    "a.reshape(6, 4)", "a.reshape(2, 12)", "a[:, 1:].reshape(-1)", "a[::-1].ravel()",
    "a.mT.ravel()",
    "np.asfortranarray(a)", "a[:, ::2].reshape(-1)", "a.transpose(1, 2, 0).ravel()",
    "a[..., 0].ravel()",
    "a[:1].reshape(-1)", "np.squeeze(a[:, :1]).reshape(-1)", "a.T.reshape(4, 6)", "np.asarray(a)",
    "a.reshape(-1)[None].reshape(4, 6)", "np.einsum('ijk->kji', a).reshape(-1)", "np.float64(a)",
]  # fmt: skip
WRITTEN = [
    "v[0] = 5.0", "v *= 1.5", "v += 0.5", "v[-1] = a[0, 0, 0]", "v[::2] -= 0.25", "v[...] = 2.0",
]  # fmt: skip
SUMMED = [
    "np.sum(a) + 0.5 * np.sum(v)", "a.sum(0).sum() + v.mean()",
    "np.sum(a * a.T.T) + np.sum(np.cos(v))", "np.sum(np.copy(a)) + np.sum(v.copy())",
    "np.sum(np.sin(a), axis=(0, 2)) @ np.arange(3.0) - v.sum()",
]  # fmt: skip


def scaled(x: Any, y: Any) -> Any:
    return x * 2.0 + y


@st.checkpoint
def kept(x: Any, y: Any) -> Any:
    return np.sin(x) * y


def over(function: Any, t: Any) -> Any:
    return function(t)


HELPERS = vars(SimpleNamespace(np=np, scaled=scaled, kept=kept, over=over))


def source(choices: Random) -> str:
    """The text of a program of two arrays."""
    pick = choices.choice
    made = {"m": pick(MADE), "n": pick(MADE), "s": SHAPE}
    lines = pick(THROUGH).format(c=pick((-99.0, 99.0)), k=pick((19, 20)), **made).splitlines()
    lines += [f"v = {pick(VIEWED)}", pick(WRITTEN)]
    if pick((True, False)):
        lines += ["w = v.ravel()", "w[1:3] += 0.125"]
    body = "\n    ".join([*lines, f"return {pick(SUMMED)}"])
    return f"def program(x, y):\n    {body}\n"


def arguments(choices: Random) -> tuple[Any, ...]:
    """Two arrays in random layouts."""
    rng = np.random.default_rng(choices.randrange(2**32))
    arrays = [rng.uniform(0.2, 1.2, SHAPE) for _ in range(2)]
    return tuple(relaid(array, choices.choice(KINDS[:-1]), choices) for array in arrays)


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    choices = Random(seed)
    while True:
        text = source(choices)
        calls = arguments(choices), arguments(choices)
        if runs(text, calls):
            return text, calls


def runs(text: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program: the shapes fit, and no argument is written."""
    try:
        return all(np.ndim(function_of(text, HELPERS)(*locked(args))) == 0 for args in calls)
    except (IndexError, TypeError, ValueError):
        return False
