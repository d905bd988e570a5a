"""Training steps of up to 10,000 ranks on paper: their schedules, replayed with models of networks.

    python examples/scaling.py --figure docs/images/scaling.svg

Two networks are trained: the convolutional one of the examples, whose gradients are 142 kB, and six
dense layers of 4096 units, whose gradients are 403 MB. Each is compiled for the rows of a rank, and
its Wengert list is replayed: what is computed is counted, and for the first network scaled to a
step that was measured (--seconds). Weak scaling: each rank has as many rows, however many
ranks there are. Strong scaling: all ranks share as many rows.
"""

from __future__ import annotations

import argparse
import functools
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.extras import require
from stcompile_programs.networks import mnist_cnn
from stcompile_programs.scaling import Network, Replay, Schedule, replay, schedule_of

RANKS = (*(2**k for k in range(14)), 10_000)
NETWORKS = {
    "InfiniBand": Network(latency=2e-6, bandwidth=12.5e9),  # 100 Gbit/s
    "Ethernet": Network(latency=30e-6, bandwidth=1.25e9),  # 10 Gbit/s
}
SECONDS = 3.0e-3  # of a step of the CNN on 100 rows, one thread: examples/benchmarks/ranks.py
UNITS, LAYERS = 4096, 6


class Paper:
    """A communicator for steps that are compiled and not made."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, value: Any) -> list[Any]:
        return [value]

    def Allreduce(self, here: Any, array: Any) -> None:
        raise NotImplementedError

    Iallreduce = Allreduce


def dense(params: Any, x: Any, y: Any) -> Any:
    """Six layers of 4096 units, and ten classes: 10⁸ parameters."""
    h = x
    for w in params["W"]:
        h = np.tanh(h @ w)
    return st.nn.softmax_cross_entropy(h @ params["V"], y)


@dataclass(frozen=True)
class Model:
    """A network, the rows of a rank in weak scaling, and those of all ranks in strong scaling."""

    name: str
    rows: int
    batch: int
    overlap: str | bool
    seconds: float | None = None  # measured, of ``rows`` rows; None: as counted

    @functools.cache  # noqa: B019  # there are two of them
    def schedule(self, rows: int, overlap: str | bool | None = None) -> Schedule:
        """The schedule of a rank with this number of rows."""
        asked = self.overlap if overlap is None else overlap
        found = self._counted(rows, asked)
        if self.seconds is None:
            return found
        return found.scaled(self.seconds * found.seconds / self._counted(self.rows, asked).seconds)

    @functools.cache  # noqa: B019
    def _counted(self, rows: int, overlap: str | bool) -> Schedule:
        loss, arguments = self._arguments(rows)
        step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=Paper(), overlap=overlap)
        return schedule_of(step.program(*arguments))

    def _arguments(self, rows: int) -> tuple[Any, tuple[Any, ...]]:
        """The loss, and arrays of its shapes: nothing reads or writes them."""
        labels = np.zeros(rows, np.int64)
        if self.name == "CNN":
            he = mnist_cnn.INITIALISERS["he"]
            flat = mnist_cnn.CHANNELS[-1] * mnist_cnn.size_after(28, "valid") ** 2
            cnn = mnist_cnn.initial_params(np.random.default_rng(0), flat, 10, np.float32, he)
            x = np.empty((rows, 784), np.float32)
            return mnist_cnn.loss.function, (cnn, x, labels, (28, 28), "valid")
        square, last = (UNITS, UNITS), (UNITS, 10)
        w = [np.empty(square, np.float32) for _ in range(LAYERS)]
        params = {"W": w, "V": np.empty(last, np.float32)}
        return dense, (params, np.empty((rows, UNITS), np.float32), labels)

    def weak(self, network: Network, ranks: int, overlap: str | bool | None = None) -> Replay:
        return replay(self.schedule(self.rows, overlap), network, ranks)

    def strong(self, network: Network, ranks: int, overlap: str | bool | None = None) -> Replay:
        return replay(self.schedule(math.ceil(self.batch / ranks), overlap), network, ranks)


def models(seconds: float = SECONDS) -> tuple[Model, Model]:
    return Model("CNN", 100, 16_384, "40kB", seconds), Model("dense, 10⁸", 64, 16_384, True)


# --- what is shown -------------------------------------------------------------------------------


def tables(found: Sequence[Model]) -> str:
    """Weak and strong scaling, where the exchange dominates, buckets and batches, as Markdown."""
    lines = ["| network | exchange | ranks | weak: ms | efficiency | strong: ms | times as fast |"]
    lines.append("|---|---|---|---|---|---|---|")
    for model in found:
        for name, network in NETWORKS.items():
            one = model.strong(network, 1).seconds
            for ranks in (2, 64, 1024, 10_000):
                weak, strong = model.weak(network, ranks), model.strong(network, ranks)
                cells = f"{ms(weak)} | {weak.efficiency:.0%} | {ms(strong)}"
                lines.append(
                    f"| {model.name} | {name} | {ranks:,} | {cells} | {one / strong.seconds:,.0f} |"
                )
    lines += ["", "| network | exchange | strong scaling: waits longer than it computes from |"]
    lines.append("|---|---|---|")
    for model in found:
        for name, network in NETWORKS.items():
            slow = (r for r in RANKS if model.strong(network, r).efficiency < 0.5)
            first = next(slow, None)
            lines.append(f"| {model.name} | {name} | {f'{first:,} ranks' if first else '–'} |")
    small, large = found
    ethernet = NETWORKS["Ethernet"]
    lines += ["", "| 1,024 ranks, Ethernet | buckets | ms | efficiency |", "|---|---|---|---|"]
    for model, sizes in ((small, (False, "40kB", "1kB")), (large, (False, "150MB", True))):
        for size in sizes:
            step = model.weak(ethernet, 1024, size)
            buckets = len(model.schedule(model.rows, size).buckets)
            lines.append(f"| {model.name} | {buckets} | {ms(step)} | {step.efficiency:.0%} |")
    lines += [
        "",
        "| 1,024 ranks, Ethernet | rows a rank | µs a row | efficiency |",
        "|---|---|---|---|",
    ]
    for model in found:
        for rows in (model.rows // 4, model.rows, 4 * model.rows):
            step = replay(model.schedule(rows), ethernet, 1024)
            each = f"{1e6 * step.seconds / rows:,.0f}"
            lines.append(f"| {model.name} | {rows} | {each} | {step.efficiency:.0%} |")
    return "\n".join(lines)


def ms(found: Replay) -> str:
    return f"{1e3 * found.seconds:,.3g}" if found.seconds < 1 else f"{1e3 * found.seconds:,.0f}"


def figure(found: Sequence[Model]) -> bytes:
    """Weak and strong scaling of each network as SVG, which is the same every time."""
    matplotlib = require("matplotlib", "train", "a figure")
    drawn = require("matplotlib.figure", "train", "a figure").Figure((9, 6), layout="constrained")
    panels = drawn.subplots(2, len(found), squeeze=False)
    for column, model in enumerate(found):
        weak, strong = panels[:, column]
        one = model.strong(NETWORKS["Ethernet"], 1).seconds
        for colour, (name, network) in zip(("C0", "C1"), NETWORKS.items(), strict=True):
            for overlap, style in ((None, "-"), (False, "--")):
                label = name + (", overlap" if overlap is None else ", at the end")
                look = {"label": label, "color": colour, "linestyle": style}
                shares = [model.weak(network, r, overlap).efficiency for r in RANKS]
                weak.plot(RANKS, shares, **look)
                gains = [one / model.strong(network, r, overlap).seconds for r in RANKS]
                strong.plot(RANKS, gains, **look)
        strong.plot(RANKS, RANKS, color="grey", linewidth=0.8, label="ideal")
        weak.set(title=f"{model.name}: {model.rows} rows a rank", ylim=(0, 1.05))
        strong.set(title=f"{model.name}: {model.batch:,} rows in all", yscale="log")
        for panel, quantity in (
            (weak, "share of computing"),
            (strong, "times as fast as one rank"),
        ):
            panel.set(xscale="log", xlabel="ranks", ylabel=quantity)
            panel.grid(alpha=0.3)
    panels[0, 0].legend()
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "stcompile"}):
        drawn.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="a step of the CNN on 100 rows takes"
    )
    parser.add_argument("--figure", type=Path, help="write the figure to this SVG file")
    arguments = parser.parse_args(argv)
    found = models(arguments.seconds)
    print(tables(found))
    if arguments.figure:
        arguments.figure.parent.mkdir(parents=True, exist_ok=True)
        arguments.figure.write_bytes(figure(found))


if __name__ == "__main__":
    main()
