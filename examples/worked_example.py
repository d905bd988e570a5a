"""The worked example of most papers on automatic differentiation, step by step.

    y = ln(x1) + x1 x2 - sin(x2)        at (2, 5): y = 11.652, dy/dx1 = 5.5, dy/dx2 = 1.716

Prints the plain function, the Wengert list, the evaluation trace with the adjoints beside it, the
generated source, the gradient in three ways, and the levels of the computation graph: what of it
could be evaluated side by side. --graph draws the graph, alone and with its adjoint.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import Level
from stcompile.export.write import write_named
from stcompile.reports.graph.model import Graph

LEAST = 1e-3  # for x1: the steps of the finite differences stay well above 0


def f(x1: float, x2: float) -> Any:
    return np.log(x1) + x1 * x2 - np.sin(x2)


def closed_form(x1: float, x2: float) -> tuple[float, float]:
    """The gradient of f on paper: (1 / x1 + x2, x1 - cos x2)."""
    return 1 / x1 + x2, x1 - math.cos(x2)


def central_differences(
    function: Callable[..., float], point: tuple[float, float]
) -> tuple[float, ...]:
    """The gradient to about ten digits: (f(x + h) - f(x - h)) / 2h, with h the cube root of the
    machine's precision, where rounding and truncation errors are balanced."""
    slopes = []
    for at, x in enumerate(point):
        h = float(np.cbrt(np.finfo(float).eps)) * max(1.0, abs(x))
        above, below = list(point), list(point)
        above[at], below[at] = x + h, x - h
        slopes.append(float(function(*above) - function(*below)) / (above[at] - below[at]))
    return tuple(slopes)


@dataclass
class Options:
    """The values of the flags."""

    at: tuple[float, float]
    level: Level
    graph: Path | None
    json: Path | None


def parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--at",
        nargs=2,
        type=float,
        default=(2.0, 5.0),
        metavar=("X1", "X2"),
        help=f"the point; x1 from {LEAST} (default: 2 5)",
    )
    parser.add_argument(
        "--level",
        choices=("readable", "fast"),
        default="readable",
        help="of the generated code (default: readable)",
    )
    parser.add_argument(
        "--graph",
        type=Path,
        metavar="FILE",
        help="draw the computation graph into FILE.svg, and with its adjoint into FILE-adjoint.svg",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    given = parser.parse_args(arguments)
    x1, x2 = given.at
    if not (x1 >= LEAST and math.isfinite(x1) and math.isfinite(x2)):
        parser.error(f"--at: x1 is at least {LEAST}, and both numbers are finite")
    return Options((x1, x2), given.level, given.graph, given.json)


def section(title: str, text: object) -> None:
    print(f"--- {title} {'-' * (75 - len(title))}\n\n{text}\n")


def levels_of(graph: Graph) -> list[list[str]]:
    """The equations of each level, as text."""
    return [
        [node.text for node in level if node.kind == "equation"]
        for level in graph.levels[1 : graph.depth + 1]
    ]


def run(options: Options) -> None:
    point = options.at
    differentiated = st.differentiable(f, wrt=("x1", "x2"), level=options.level)
    section("the function", inspect.getsource(f).rstrip())
    section("the Wengert list", differentiated.wengert(*point))
    section("the evaluation trace", differentiated.trace(*point))
    section("the generated source", differentiated.source(*point).rstrip())

    value, gradient = differentiated.value_and_grad(*point)
    differentiated.check_grads(*point)
    ways = {
        "generated": tuple(map(float, gradient)),
        "closed form": closed_form(*point),
        "finite differences": central_differences(f, point),
    }
    head = f"y = {value:.3f}\n\n{'':<20}{'dy/dx1':>20}{'dy/dx2':>20}"
    rows = [f"{name:<20}{d_x1:>20.14f}{d_x2:>20.14f}" for name, (d_x1, d_x2) in ways.items()]
    section("the gradient", "\n".join([head, *rows]))

    graphs = {
        "": differentiated.graph(*point),
        "-adjoint": differentiated.graph(*point, adjoint=True),
    }
    section("the levels of the computation graph", graphs[""])
    section("the levels with the adjoint", graphs["-adjoint"])
    if options.graph is not None:
        for suffix, graph in graphs.items():
            ending = options.graph.suffix or ".svg"
            file = options.graph.with_name(f"{options.graph.stem}{suffix}{ending}")
            graph.save(file)
            print(f"drawn: {file}")
    if options.json is not None:
        results = {
            "at": list(point),
            "value": float(value),
            "gradient": {name.replace(" ", "_"): list(found) for name, found in ways.items()},
            "wengert": str(differentiated.wengert(*point)),
            "source": differentiated.source(*point),
            "levels": levels_of(graphs[""]),
            "levels_with_adjoint": levels_of(graphs["-adjoint"]),
        }
        write_named(options.json, json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 1 if something was refused."""
    try:
        run(parse(arguments))
    except st.StcompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
