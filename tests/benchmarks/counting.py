"""What the works and the programs of the loop suite cost, in counts that no machine has a part in.

They are compiled at the sizes that are measured, but nothing is run: arrays are counted from the
lists, and calls and statements from the generated code, so that Numba compiles nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from examples.benchmarks.costs import costs
from examples.benchmarks.engines.plain import FUNCTIONS
from examples.benchmarks.engines.stcompile import LOSSES
from examples.benchmarks.images import Images
from examples.benchmarks.loops import PROGRAMS
from examples.benchmarks.loops.program import LoopProgram
from examples.benchmarks.works import WORKS, Work
from stcompile.base.errors import StcompileError
from stcompile.base.options import Level, Options
from stcompile.calls.dispatch import Dispatcher
from stcompile.optim import SGD
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.train_step import TrainStep

HERE = Path(__file__).parent / "ledger"
HEAD = """\
# Counts of value and gradient, or of a training step: `tests/benchmarks/test_ledger.py`.
# touched: elements of arrays read and written; flops: of products of matrices; calls: of NumPy and
# BLAS, and operators, outside of kernels; statements: of kernels; bytes: of all arrays that are
# made; equations: of the list.
"""
Call = tuple[Dispatcher[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Counts:
    """The counts of a line of the ledger; less is better."""

    touched: int
    flops: int
    calls: int
    statements: int
    bytes: int
    equations: int


COLUMNS = tuple(column.name for column in fields(Counts))


# --- what is compiled -----------------------------------------------------------------------------


class _RandomImages(Images):
    """Images of the same sizes, whatever is at hand."""

    mnist = StcompileError("the ledger does not read images")


def _work(work: Work, options: Options) -> Call:
    inputs = work.make(work.sizes, np.random.default_rng(0), _RandomImages())
    if work.kind == "gradient":
        gradient = Gradient(FUNCTIONS[work.name], tuple(range(len(inputs.params))), True, options)
        return gradient, (*inputs.point(), *inputs.constants())
    step = TrainStep(LOSSES[work.name], SGD(inputs.learning_rate), "params", options)
    batch = (array[0] for array in inputs.data.values())
    return step, (inputs.params, *batch, *inputs.numbers.values())


def _loop(program: LoopProgram, options: Options) -> Call:
    arguments = program.arguments(program.middle)
    wrt = program.argnums(arguments)
    if program.jacobian:
        return Jacobian(program.loss, wrt, options=options), tuple(arguments.values())
    return Gradient(program.loss, wrt, True, options), tuple(arguments.values())


def _scaled_columns(options: Options) -> Call:
    """The Gaussian mixture, with factors of columns beside the roots of precisions."""

    def mixture(means: Any, logs: Any, lower: Any, x: Any) -> Any:
        centred = x - means[:, None, :]
        scaled = centred @ lower.transpose(0, 2, 1) + centred * np.exp(logs)[:, None, :]
        terms = np.sum(logs, axis=1)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
        largest = np.max(terms, axis=0)
        return np.sum(largest + np.log(np.sum(np.exp(terms - largest), axis=0)))

    rng = np.random.default_rng(0)
    shapes = (25, 10), (25, 10), (25, 10, 10), (1000, 10)
    arguments = tuple(0.3 * rng.normal(size=shape) for shape in shapes)
    return Gradient(mixture, (0, 1, 2), True, options), arguments


def calls(level: Level) -> Iterator[tuple[str, Callable[[], Call]]]:
    """All that is counted, by name."""
    options = Options(level, blas=True)
    for name, work in WORKS.items():
        yield f"work/{name}", lambda work=work: _work(work, options)
    for name, program in PROGRAMS.items():
        yield f"loop/{name}", lambda program=program: _loop(program, options)
    yield "work/scaled_columns", lambda: _scaled_columns(options)


# --- counts ---------------------------------------------------------------------------------------


def counts(compiled: Dispatcher[..., Any], arguments: tuple[Any, ...]) -> Counts:
    """What a call costs, from its list and its text."""
    made = compiled.specialise(compiled.bind(arguments, {}))
    emitted, spent = made.emitted, costs(made.staged.program)
    called, stated = count_text(emitted.source, emitted.name)
    nbytes = emitted.buffer_bytes + emitted.allocated_bytes
    return Counts(spent.touched, spent.flops, called, stated, nbytes, spent.equations)


def count_text(source: str, name: str) -> tuple[int, int]:
    """The calls and operators of a generated function, those in a loop over a known range as often
    as it runs, and the statements of all kernels but their docstrings."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    (main,) = (function for function in functions if function.name == name)
    kernels = [f for f in functions if any("njit" in ast.unparse(d) for d in f.decorator_list)]
    within = (n for f in kernels for s in f.body for n in ast.walk(s))
    stated = sum(isinstance(n, ast.stmt) and not _is_docstring(n) for n in within)
    return sum(map(_operations, main.body)), stated


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _operations(node: ast.AST) -> int:
    inner = sum(map(_operations, ast.iter_child_nodes(node)))
    if isinstance(node, ast.For):
        before = _operations(node.iter)
        return before + _steps(node.iter) * (inner - before)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return inner
    is_operator = isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign)
    return inner + (is_operator or _is_call(node))


def _is_call(node: ast.AST) -> bool:
    """True for calls, but for those of Python's own functions."""
    if not isinstance(node, ast.Call):
        return False
    return not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))


def _steps(iterated: ast.expr) -> int:
    """The length of a range of numbers, or 1."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        if iterated.func.id == "reversed":
            return _steps(iterated.args[0])
        numbers = [a.value for a in iterated.args if isinstance(a, ast.Constant)]
        if iterated.func.id == "range" and len(numbers) == len(iterated.args):
            return len(range(*numbers))  # type: ignore[arg-type]
    return 1


# --- the files ------------------------------------------------------------------------------------


def path(level: str) -> Path:
    return HERE / f"{level}.txt"


def written(rows: Mapping[str, Counts]) -> str:
    """The text of a ledger."""
    head = "".join(f"{column:>14}" for column in COLUMNS)
    lines = [f"{'':30}{head}"]
    for name, row in sorted(rows.items()):
        lines.append(f"{name:30}" + "".join(f"{count:14}" for count in astuple(row)))
    return HEAD + "\n".join(lines) + "\n"


def read(text: str) -> dict[str, Counts]:
    """The rows of a ledger."""
    lines = [line.split() for line in text.splitlines() if not line.startswith(("#", " "))]
    return {name: Counts(*map(int, numbers)) for name, *numbers in lines}


def differences(noted: Mapping[str, Counts], found: Mapping[str, Counts]) -> list[str]:
    """What is more or less than it was, a line each, the former first."""
    more, less = [], []
    for name in sorted({*noted, *found}):
        if name not in noted or name not in found:
            more.append(f"{name} is {'new' if name in found else 'gone'}")
            continue
        for column in COLUMNS:
            before, now = getattr(noted[name], column), getattr(found[name], column)
            if before != now:
                times = f" ({now / before:.3f} times as much)" if before else ""
                line = f"{name}: {column} {before} -> {now}{times}"
                (more if now > before else less).append(line)
    return [*(f"MORE {line}" for line in more), *(f"less {line}" for line in less)]
