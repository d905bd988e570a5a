"""Random programs of arrays whose lengths change from call to call.

Each statement is run by NumPy as it is drawn, with arguments of several lengths at once: it is kept
if it runs with all of them. What has the same shape with all lengths is added and multiplied; a
vector is halved, strided, paired with itself, folded into rows, transformed, padded, written by
parts and gone through by loops whose steps depend on its length.
"""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of

LENGTHS = ((8, 5), (12, 7), (20, 6), (16, 9))  # of x and a, and of w
ODD = ((13, 5), (9, 8))  # programs that run with these as well are called with them
LIMIT = 1e4
WIDEST = 700  # elements of one array

VECTORS = [
    "np.sin({u})", "{u} * {v}", "{u} + {v}", "{u} - 0.5 * {v}", "{u}[::-1]", "{u} * np.sum({v})",
    "{u}[:len({u}) // 2]", "{u}[len({u}) // 2:]", "{u}[::2]", "{u}[1::2]", "{u}[::3]", "{u}[::-2]",
    "{u}[1:]", "{u}[:-1]", "{u}[2:-1]", "{u}[1:-1:2]", "np.diff({u})", "np.cumsum({u}) / len({u})",
    "np.concatenate([{u}, {v}])", "np.roll({u}, 1)", "np.roll({u}, len({u}) // 2)",
    "np.sort({u})", "np.pad({u}, (1, 2))", "np.pad({u}, 1, mode='edge')",
    "np.pad({u}, (2, 1), mode='reflect')", "np.convolve({u}, K, 'same')", "np.convolve({u}, K)",
    "np.convolve({u}, K, 'valid')", "np.repeat({u}, 2)", "np.tile({u}, 2)",
    "np.outer({u}, K).ravel()",
    "{u} * np.linspace(0.0, 1.0, len({u}))", "{u} / (1 + np.arange(len({u})))",
    "np.where(np.arange(len({u})) % 2 == 0, {u}, 0.5 * {u})", "np.zeros(len({u}) // 2)",
    "np.real(np.fft.ifft(np.fft.fft({u}) * 0.5))", "np.fft.irfft(np.fft.rfft({u}), n=len({u}))",
    "np.abs(np.fft.rfft({u})) ** 2 / len({u})", "{m}.ravel()", "{m}.sum(axis=0)",
    "{m}.mean(axis=1)",
    "{m} @ K", "{u} @ {m}", "{m}[:, 1]", "{m}[::2, 0]", "np.max({m}, axis=1)", "{m}[len({m}) // 2]",
    "{u}.reshape(-1, 2)[:, 0]", "{u}.reshape(2, -1)[1]", "np.split({u}, 2)[1]",
    "np.array_split({u}, 3)[{i}]", "{u}.reshape(len({u}) // 2, 2).sum(axis=1)",
    "{u}[np.arange(len({u}))[::-1]]", "np.ediff1d({u})", "{u}[{u} > 0.2]", "helped({u}, {s})",
    "np.sum({u}[:, None] * {v}[None, :], axis=1) / len({v})",
    "np.take({u}, np.arange(len({v})) % 3)",
    "np.eye(len({u}))[1] * {u}", "np.tril(np.outer({u}, {u}))[-1]", "{u}[:min(len({u}), len({v}))]",
    "np.array([np.sin({u}[0]), {s}, {u}[-1]])", "np.full(len({u}), {s})", "({u} > 0.1) * {u}",
    "np.cumsum({u})[::2] / len({u})", "np.fft.fftshift({u})", "np.interp({u}, K2, K3)",
]  # fmt: skip
MATRICES = [
    "np.outer({u}, K)", "{m} * {s}", "{m}[::-1]", "{m}[:len({m}) // 2]", "{m}[::2]",
    "{m} * {u}[:, None]",
    "np.tanh({m})", "np.concatenate([{m}, {m}])", "{m}[1:] - {m}[:-1]", "{m} @ K[:, None] * K",
    "np.stack([{u}, {u}, 2.0 * {u}], axis=1)", "{u}.reshape(-1, 2)", "{u}[:, None] - K",
    "np.sort({m}, axis=0)", "np.cumsum({m}, axis=0) / len({m})", "{m} - {m}.mean(axis=0)",
    "np.lib.stride_tricks.sliding_window_view({u}, 3)",
    "np.lib.stride_tricks.sliding_window_view({u}, 3)[::2]", "{m}.T.reshape(-1, 3)",
    "{m}[:len({m}) // 2 * 2].reshape(-1, 2, 3).mean(axis=1)", "np.roll({m}, 1, axis=0)",
]  # fmt: skip
NUMBERS = [
    "np.sum({u})", "np.mean({u} * {u})", "{u}[0] * {u}[-1]", "{u}[len({u}) // 2]", "np.max({u})",
    "np.sum({m} ** 2) / {m}.size", "{u} @ {v}", "np.var({u}, ddof=1)", "np.median({u})",
    "np.std(np.append({u}, 1.0))",
    "np.linalg.norm(np.append({u}, 1.0)) / len({u})", "np.trace(np.outer({u}, {u})) / len({u})",
    "np.tanh({s})",
    "{s} * (len({u}) % 3)", "{s} / len({u})", "{s} + 0.01 * (len({u}) // 2)",
    "np.prod(np.tanh({u}))",
    "np.sum(np.outer({u}, {v}).ravel()[::3]) / len({u})", "sum(v * v for v in {u}) / len({u})",
    "({s} if len({u}) % 2 else 0.5 * {s})", "np.sum({u}[len({u}) // 3 :])", "np.trapezoid({u})",
    "({s} if np.sum({u}) > 0.5 else {s} * {s})", "np.quantile({u}, 0.3)", "np.mean({m})",
]  # fmt: skip
WRITES = [
    "{u}[::2] = {v}", "{u}[::2] *= 0.5", "{u}[1::2] += {v}", "{u}[:len({u}) // 2] = {v}",
    "{u}[len({u}) // 2:] *= {s}", "{u} += {v}", "{u}[0] = {s}", "{u}[len({u}) // 2] += {s}",
    "{u}[1:] += {u}[:-1] * 0.5", "{u}[1:-1] = 0.5 * ({u}[2:] + {u}[:-2])", "{u}[-1] = {u}[0]",
    "{m}[::2] *= 0.5", "{m}[:, 1] = {v}", "{m}[len({m}) // 2:] += 0.25",
    "{u}.reshape(2, -1)[1] *= 0.5",
    "{m}.reshape(-1)[::2] += 0.1", "{u}[{u} > 0.5] *= 0.5",
]  # fmt: skip
LOOPS = [
    "for i in range(len({u})):\n    s = np.tanh(s + {u}[i])",
    "for i in range(len({u}) // 2):\n    s = s * 0.5 + {u}[i] * {u}[len({u}) - 1 - i]",
    "for i in range(0, len({u}), 2):\n    s = 0.9 * s + {u}[i]",
    "for v in {u}:\n    s = np.sin(s + v)",
    "for v in reversed({u}):\n    s = np.sin(s + v)",
    "for i, v in enumerate({u}):\n    s = 0.5 * s + v * i / len({u})",
    "for i in range(1, len({u})):\n    {u}[i] = 0.5 * {u}[i] + 0.3 * {u}[i - 1]",
    "for i in range(len({u})):\n    if {u}[i] > 0.3:\n        s = 0.5 * s + {u}[i]",
    "for i in range(len({u}) // 2):\n    s = 0.5 * s + np.sum({u}[i : len({u}) - i]) / len({u})",
    "for row in {m}:\n    s = np.tanh(s + row @ K)",
    "t = 0\nwhile t < len({u}):\n    s = 0.7 * s + {u}[t]\n    t += 2",
]


def helped(u: Any, s: Any) -> Any:
    v = u * s
    v[: len(v) // 2] += 0.5
    return v


K = np.array([0.5, -0.3, 0.2])
HELPERS = {
    "np": np, "helped": helped, "K": K, "K2": np.linspace(-2, 2, 9), "K3": np.cos(np.arange(9.0)),
}  # fmt: skip


class Writer:
    """A program being written: what its names hold, for each of the lengths."""

    def __init__(self, choices: Random) -> None:
        self.choices = choices
        calls = [arguments(Random(1), pair) for pair in LENGTHS]
        self.frames = [dict(zip("xwas", args, strict=True)) for args in calls]
        self.lines: list[str] = []
        self.vectors, self.matrices, self.owned = ["x", "w", "x"], ["a"], list[str]()

    def source(self) -> str:
        for _ in range(self.choices.randint(3, 9)):
            for _ in range(20):
                if self.statement():
                    break
        total = " + ".join(f"np.sum({name} * np.cos({name}))" for name in self.results())
        body = "".join(f"    {line}\n" for text in self.lines for line in text.split("\n"))
        return f"def program(x, w, a, s):\n{body}    return s + {total}\n"

    def results(self) -> list[str]:
        names = [*self.vectors, *self.matrices]
        return [*dict.fromkeys([names[-1], self.vectors[-1], self.choices.choice(names)])]

    def fill(self, template: str) -> str:
        pick = self.choices.choice
        u, m = pick(self.vectors[-3:] + self.vectors), pick(self.matrices)
        alike = [v for v in self.vectors if self.shapes(v) == self.shapes(u)]
        v = pick(alike if self.choices.random() < 0.7 else self.vectors)
        return template.format(u=u, v=v, m=m, s="s", i=self.choices.randrange(3))

    def shapes(self, name: str) -> list[tuple[int, ...]]:
        return [np.shape(frame[name]) for frame in self.frames]

    def statement(self) -> bool:
        kind, name = self.choices.random(), f"v{len(self.lines)}"
        if kind < 0.4:
            done = self.made(f"{name} = {self.fill(self.choices.choice(VECTORS))}", name, 1)
        elif kind < 0.5:
            done = self.made(f"{name} = {self.fill(self.choices.choice(MATRICES))}", name, 2)
        elif kind < 0.7:
            done = self.run(f"s = 0.5 * s + {self.fill(self.choices.choice(NUMBERS))}")
        elif kind < 0.9:
            done = self.run(self.fill(self.choices.choice(WRITES)))
        else:
            done = self.run(self.fill(self.choices.choice(LOOPS)))
        return done

    def made(self, text: str, name: str, ndim: int) -> bool:
        if not self.run(text):
            return False
        if any(np.ndim(frame[name]) != ndim for frame in self.frames):
            self.lines.pop()
            return False
        (self.vectors if ndim == 1 else self.matrices).append(name)
        return True

    def run(self, text: str) -> bool:
        """Run a statement with all lengths; False if NumPy refuses it with one of them."""
        before = [{k: np.copy(v) if k in "xwa" else v for k, v in f.items()} for f in self.frames]
        copied = [dict(frame) for frame in self.frames]
        try:
            with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
                warnings.simplefilter("error")
                for frame in copied:
                    exec(text, {**HELPERS}, frame)
        except Exception:
            return False
        for frame, old in zip(copied, before, strict=True):
            values = [v for k, v in frame.items() if k not in ("i", "t", "row")]
            if any(np.size(v) > WIDEST or np.any(np.abs(v) > LIMIT) for v in values):
                return False
            if any(not np.array_equal(frame[k], old[k]) for k in "xwa"):
                return False  # it writes into an argument
        self.frames = copied
        self.lines.append(text)
        return True


def arguments(choices: Random, lengths: tuple[int, int]) -> tuple[Any, ...]:
    n, m = lengths
    rng = np.random.default_rng(choices.randrange(2**32))
    return rng.uniform(-1, 1, n), rng.uniform(-1, 1, m), rng.uniform(-1, 1, (n, 3)), 0.5


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of calls with several
    lengths."""
    choices = Random(seed)
    while True:
        text = Writer(choices).source()
        calls = [arguments(choices, pair) for pair in (*LENGTHS, *ODD)]
        good = [args for args in calls if runs(text, (args,))]
        if len(good) >= len(LENGTHS):
            return text, tuple(good)


def runs(text: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program within bounds and without writing to arguments."""
    try:
        function = function_of(text, HELPERS)
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            for args in calls:
                given = [np.copy(arg) for arg in args[:3]]
                if not abs(function(*given, args[3])) < LIMIT:
                    return False
                if any(not np.array_equal(*pair) for pair in zip(given, args, strict=False)):
                    return False
        return True
    except Exception:
        return False
