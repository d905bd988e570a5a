"""Forward mode, step by step: a value and its derivative in one run.

A dual number is a value with its tangent, the derivative of the value by x. Each operation computes
both: v = x y has the tangent v_dot = x_dot y + x y_dot (Griewank & Walther 2008, ch. 3.1). So a
function needs no more than to be run on (x, 1).

Prints, for x**2 and for a function with a branch and a loop: the plain function, the trace of its
dual numbers, the generated source, and the derivative in four ways. --figure draws x**2 and its
derivative, both from one run over all points.
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st
from stcompile.ad.forward import forward
from stcompile.base.extras import require
from stcompile.base.options import Level
from stcompile.export.write import write_named
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.reports.graph.notation import operand, right_side
from stcompile.views.tape import unfold
from stcompile.wengert.evaluate import environment
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.naming import renumber

LEAST, MOST = 1e-3, 1e6  # for x: Newton's iteration takes a few steps
FORMATS = (".svg", ".png")


def square(x: Any) -> Any:
    return x**2


def square_root(x: float) -> float:
    root = x if x > 1.0 else 1.0
    while abs(root * root - x) > 1e-12 * x:
        root = 0.5 * (root + x / root)
    return root


def closed_form_of_square(x: float) -> float:
    return 2 * x


def closed_form_of_square_root(x: float) -> float:
    return 0.5 / math.sqrt(x)


FUNCTIONS: dict[Callable[[float], float], Callable[[float], float]] = {
    square: closed_form_of_square,
    square_root: closed_form_of_square_root,
}


# --- the trace of dual numbers ---------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """An operation on dual numbers; ``step`` says in which step of a loop."""

    step: str
    operation: str
    value: float
    rule: str
    tangent: float


def dual_numbers(function: Callable[[float], float], x: float) -> list[Row]:
    """The operations of ``function(x)`` with values and tangents, branches and loops unfolded.

    It is the compiler's own list of a function and its tangents, evaluated line by line; here every
    variable is an output, so that each has its tangent among the outputs.
    """
    compiled = st.compile(function)
    program = compiled.stage(compiled.bind((x,), {})).program
    line = renumber(eliminate_dead_code(unfold(program, [x]).program))
    made = {v: equation for equation in line.equations for v in equation.outputs}
    variables = (*line.inputs, *made)
    joint = forward(replace(line, outputs=variables), line.inputs)
    values, tangents = joint.outputs[: len(variables)], joint.outputs[len(variables) :]
    names: dict[Atom, str] = {}
    for variable, value, tangent in zip(variables, values, tangents, strict=True):
        names[value] = variable.name
        names.setdefault(tangent, f"{variable.name}_dot")
    known = environment(joint, x, 1.0)

    def number(atom: Atom) -> float:
        return float(known[atom] if isinstance(atom, Variable) else atom.value)

    rows = []
    for variable, value, tangent in zip(variables, values, tangents, strict=True):
        equation = made.get(variable)
        name = f"{variable.name}_dot"
        rule = names[tangent] if names[tangent] != name else _rule(tangent, joint, names)
        rows.append(
            Row(
                equation.location.note if equation else "",
                f"{variable.name} = {right_side(equation)}" if equation else variable.name,
                number(value),
                f"{name} = {rule}",
                number(tangent),
            )
        )
    return rows


def _rule(tangent: Atom, joint: Program, names: dict[Atom, str]) -> str:
    """``x_dot · (2 · x)``: how a tangent is computed; that of x is given as 1."""
    if isinstance(tangent, Constant):
        return operand(tangent)
    if tangent in joint.inputs:
        return "1"
    made = {v: equation for equation in joint.equations for v in equation.outputs}
    return _expression(made[tangent], made, names)


def _expression(equation: Equation, made: dict[Variable, Equation], names: dict[Atom, str]) -> str:
    """The right side of an equation, with unnamed values written where they are used."""
    written: dict[Variable, Atom] = {}
    for part in equation.variables:
        text = names.get(part)
        if text is None:
            inner = made[part]
            text = _expression(inner, made, names)
            is_term = equation.primitive == "add" and inner.primitive == "multiply"
            text = text if is_term else f"({text})"
        written[part] = Variable(text, part.type)
    return right_side(equation.substitute(written))


def table(rows: Sequence[Row]) -> str:
    """The rows side by side: each operation and its value, its tangent's rule and the tangent."""
    head = ("step", "operation", "value", "rule of the tangent", "tangent")
    lines = [
        head,
        *((r.step, r.operation, _number(r.value), r.rule, _number(r.tangent)) for r in rows),
    ]
    first = 0 if any(row.step for row in rows) else 1
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    aligned = ["<", "<", ">", "<", ">"]

    def shown(cells: Sequence[str], between: str) -> str:
        parts = [f"{c:{a}{w}}" for c, a, w in zip(cells, aligned, widths, strict=True)][first:]
        return between.join([" ".join(parts[:-2]), " ".join(parts[-2:])])

    rule = "─┼─".join("─" * len(part) for part in shown(head, "\n").split("\n"))
    return "\n".join([shown(head, " │ "), rule, *(shown(line, " │ ") for line in lines[1:])])


def _number(value: float) -> str:
    return f"{value:.8g}"


# --- the picture -----------------------------------------------------------------------------


def picture(file: Path) -> None:
    """Draw x**2 and its derivative, from one product with a vector of ones.

    `MissingExtraError` without matplotlib; `ExportError` if the file cannot be written.
    """
    x = np.linspace(-2.0, 2.0, 201)
    value, tangent = st.jvp(square, (x,), (np.ones_like(x),))
    matplotlib = require("matplotlib", "graph", "drawing a figure")
    figure = require("matplotlib.figure", "graph", "drawing a figure").Figure(
        figsize=(6, 4), layout="constrained"
    )
    axes = figure.subplots()
    axes.plot(x, value, label="x²")
    axes.plot(x, tangent, label="its derivative")
    axes.set_xlabel("x")
    axes.grid(alpha=0.3)
    axes.legend()
    content = io.BytesIO()
    suffix = file.suffix[1:]
    metadata = {"Date": None, "Creator": "stcompile"} if suffix == "svg" else {}
    with matplotlib.rc_context({"svg.hashsalt": "stcompile", "svg.fonttype": "none"}):
        figure.savefig(content, format=suffix, metadata=metadata)
    write_named(file, content.getvalue())


# --- the program -----------------------------------------------------------------------------


@dataclass
class Options:
    """The values of the flags."""

    at: float
    level: Level
    figure: Path | None
    json: Path | None


def parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--at",
        type=float,
        default=3.0,
        metavar="X",
        help=f"the point, from {LEAST} to {MOST:.0f} (default: 3)",
    )
    parser.add_argument(
        "--level",
        choices=("readable", "fast"),
        default="readable",
        help="of the generated code (default: readable)",
    )
    parser.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="draw x**2 and its derivative into FILE, as SVG or PNG by its ending",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    given = parser.parse_args(arguments)
    if not LEAST <= given.at <= MOST:
        parser.error(f"--at: the point is from {LEAST} to {MOST:.0f}")
    if given.figure is not None and given.figure.suffix not in FORMATS:
        parser.error(f"--figure: the file ends in {' or '.join(FORMATS)}")
    return Options(given.at, given.level, given.figure, given.json)


def section(title: str, text: object) -> None:
    print(f"--- {title} {'-' * (75 - len(title))}\n\n{text}\n")


def central_difference(function: Callable[[float], float], x: float) -> float:
    """The derivative to about ten digits: (f(x + h) - f(x - h)) / 2h, with h the cube root of the
    machine's precision relative to x, where rounding and truncation errors are balanced."""
    h = float(np.cbrt(np.finfo(float).eps)) * abs(x)
    return (function(x + h) - function(x - h)) / ((x + h) - (x - h))


def explore(function: Callable[[float], float], options: Options) -> dict[str, Any]:
    """Print a function's sections; what `--json` keeps of it."""
    x, name = options.at, function.__name__

    def with_tangent(x: float, x_dot: float) -> Any:
        return st.jvp(function, (x,), (x_dot,))

    with_tangent.__name__ = f"{name}_with_tangent"
    rows = dual_numbers(function, x)
    source = st.compile(with_tangent, level=options.level).source(x, 1.0)
    value, tangent = st.jvp(function, (x,), (1.0,), level=options.level)
    ways = {
        "dual numbers": rows[-1].tangent,
        "generated": float(tangent),
        "closed form": FUNCTIONS[function](x),
        "finite differences": central_difference(function, x),
    }
    section(name, inspect.getsource(function).rstrip())
    section(f"{name}: the trace of dual numbers", table(rows))
    section(f"{name}: the generated source", source.rstrip())
    lines = [f"value {value:.14g}", "", *(f"{way:<20}{d:>20.14f}" for way, d in ways.items())]
    section(f"{name}: the derivative at {x:g}", "\n".join(lines))
    return {
        "value": float(value),
        "derivative": {way.replace(" ", "_"): found for way, found in ways.items()},
        "trace": [asdict(row) for row in rows],
        "source": source,
    }


def run(options: Options) -> None:
    results = {function.__name__: explore(function, options) for function in FUNCTIONS}
    if options.figure is not None:
        picture(options.figure)
        print(f"drawn: {options.figure}")
    if options.json is not None:
        text = json.dumps({"at": options.at, **results}, indent=2, ensure_ascii=False)
        write_named(options.json, f"{text}\n")


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
