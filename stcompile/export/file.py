"""The text of an exported file: its title, the generated code, and its self-test."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from types import ModuleType
from typing import Any, Literal

from stcompile.base import trees
from stcompile.base.errors import ExportError
from stcompile.base.options import Options
from stcompile.base.strides import memory_order
from stcompile.base.thresholds import POOLS
from stcompile.code.literals import literal, name
from stcompile.code.render import render
from stcompile.codegen_templates.skeleton import calls, differences, draws, gradient, step
from stcompile.emit.function import READABLE, Emitted, emit
from stcompile.emit.layout import INDENT, WIDTH
from stcompile.emit.outer_names import scipy_modules
from stcompile.emit.workspace import FACTORY
from stcompile.export.examples import example
from stcompile.export.quoted import Quote
from stcompile.export.saved import Saved, called_with
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import replaced
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import type_of

# The modules that the self-test of each kind of function is made of.
_SKELETONS: Mapping[str, tuple[ModuleType, ...]] = {
    "check_gradient": (draws, calls, differences, gradient),
    "check_step": (draws, calls, differences, gradient, step),
}
NUMBA = "numba"
WITHOUT_NUMBA = """
try:
    from numba import {names}
except ImportError:  # then the kernels run as plain Python: slowly, and right

    def njit(**options):
        return lambda kernel: kernel
"""
WITHOUT_PRANGE = """
    prange = range
"""
MODULES = ("collections", "dataclasses", "sys")  # modules that the self-test may name


@dataclass(frozen=True)
class Unit:
    """A staged call, ready to be emitted as a function of ``arguments``."""

    staged: Staged
    arguments: Sequence[str]
    title: str
    update: str = ""
    options: Options = READABLE

    def emitted(self, saved: Saved, taken: Collection[str]) -> Emitted:
        """The source, for a module in which these names are ``taken``. It calls only NumPy, and
        SciPy if the user's function does."""
        return emit(
            self.staged,
            self.arguments,
            self.title,
            self.update,
            replace(self.options, blas=False),
            saved.defaults(self.staged),
            taken,
            saved.constant,
        )


@dataclass(frozen=True)
class Export:
    """The parts of a file: the function ``main``, the ``values`` of the arguments that it is
    exported with, by name, and the user's functions as ``quotes``.

    The self-test is the function ``test`` of the skeleton. It gets the ``references`` (the
    functions to compare with; None where the test needs none), and the arguments that ``wrt``
    names, which may be ``several``. ``state`` names the arguments that an optimiser keeps.
    ``lengths`` are lines about lengths that were to have names and have none.
    """

    main: Unit
    values: Mapping[str, Any]
    quotes: Sequence[Quote]
    test: Literal["check_gradient", "check_step"]
    references: Sequence[Unit | None]
    wrt: Sequence[str]
    several: bool
    state: Sequence[str] = ()
    lengths: Sequence[str] = ()


@dataclass
class Module:
    """The statements of a module, and its imports apart from them."""

    imports: list[ast.stmt] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Append the statements of a module unchanged, except its docstring and the imports from
        its own folder, whose modules are in the file as well."""
        lines = text.splitlines()
        kept = set(range(len(lines)))
        for at, node in enumerate(ast.parse(text).body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                kept -= set(range(node.lineno - 1, node.end_lineno or node.lineno))
                if not (isinstance(node, ast.ImportFrom) and node.level):
                    self.imports.append(node)
            elif at == 0 and isinstance(node, ast.Expr):
                kept -= set(range(node.lineno - 1, node.end_lineno or node.lineno))
        found = "\n".join(line for at, line in enumerate(lines) if at in kept)
        self.body += ["", "", found.strip("\n")]

    def names(self) -> Iterator[str]:
        """The names that the module defines or imports."""
        for node in (*ast.parse("\n".join(self.body)).body, *self.imports):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from (alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.Assign):
                yield from (t.id for t in node.targets if isinstance(t, ast.Name))


def file_text(export: Export) -> str:
    """The text of the file."""
    external = externals_of(export.main.staged.program)
    if external:
        raise ExportError(
            f"{' and '.join(function.shown for function in external.values())} cannot be written "
            "into a file: it calls an object of this process"
        )
    saved = Saved()
    test = Module()
    for skeleton in _SKELETONS[export.test]:
        test.add(inspect.getsource(skeleton))
    taken = {"example", FACTORY, *MODULES, *test.names()}
    emitted = export.main.emitted(saved, taken)
    own = emitted.name
    code = Module()
    code.add(emitted.source)
    if emitted.workspace and emitted.lengths:
        code.add(_of_each_length(emitted, export.main.title))
    elif emitted.workspace:
        made = "# One set of buffers: for one thread at a time."
        code.body += ["", "", made, f"{own} = {FACTORY}()"]
    references = []
    for unit in export.references:
        reference = unit.emitted(saved, {*taken, own}) if unit is not None else None
        references.append(reference.name if reference else None)
        test.add(reference.source if reference else "")
    drawn = example(export.values, export.wrt, export.state)
    test.body += ["", "", *_example(drawn)]
    test.body += ["", "", *_entry(export, own, references, saved.generators)]
    constants = [line for s in saved.statements for line in render(s, width=WIDTH)]
    parts = [
        *docstring("\n".join(_description(export, emitted))),
        *imports_of([*code.imports, *test.imports, *used("\n".join(test.body))]),
        *_quoted(export.quotes),
        *(["", "# Arrays that the functions read.", *constants] if constants else []),
        *code.body,
        "",
        "",
        _rule("self-test"),
        *test.body,
    ]
    return "\n".join(spaced(parts)) + "\n"


def _of_each_length(emitted: Emitted, title: str) -> str:
    """The function that has buffers for each of the lengths that came last."""
    arguments = ", ".join(emitted.arguments)
    numbers = ", ".join(
        f"{trees.show_path(emitted.arguments[at], path)}.shape[{axis}]"
        for at, path, axis in emitted.lengths
    )
    return f'''
import functools

# One set of buffers for each of the lengths that came last: for one thread at a time.
workspaces = functools.lru_cache(maxsize={POOLS})({FACTORY})


def {emitted.name}({arguments}, **captured):
    """{title}"""
    return workspaces({numbers})({arguments}, **captured)
'''


# --- the head of the file ------------------------------------------------------------------------


def docstring(text: str) -> list[str]:
    """The lines of a module's docstring."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return [*f'"""{escaped}'.split("\n"), '"""']


def _description(export: Export, emitted: Emitted) -> Iterator[str]:
    unit = export.main
    yield unit.title
    yield ""
    yield from _paragraph(f"{emitted.name}({', '.join(emitted.arguments)})", INDENT)
    yield ""
    yield from _paragraph(
        "The arguments: all of them, with these shapes and dtypes, and in C order unless it says "
        "otherwise. Nothing is checked."
    )
    yield ""
    rows = list(_argument_rows(export, emitted))
    width = max((len(shown) for shown, _ in rows), default=0)
    for shown, what in rows:
        yield f"    {shown:{width}}  {what}"
    yield ""
    if emitted.hidden:
        yield from _paragraph(
            "What was captured is a keyword argument whose default is the value that it had: "
            f"{', '.join(emitted.hidden)}."
        )
        yield ""
    numbers = ", ".join(emitted.symbols.values())
    if numbers:
        lows = (f"{own} from {symbol.low} on" for symbol, own in emitted.symbols.items())
        yield from _paragraph(f"Any lengths will do: {', '.join(lows)}.")
        yield ""
    if export.lengths:
        yield from export.lengths
        yield ""
    if emitted.workspace:
        yield from _paragraph(
            "The buffers are made once: call it from one thread at a time. "
            f"`{FACTORY}({numbers})` makes another such function, with buffers of its own, for "
            "another one."
        )
    else:
        yield "It has no buffers: any number of threads may call it."
    yield ""
    made = f'Written by stcompile {_version()} at level "{unit.options.level}".'
    yield from _paragraph(
        f"{made} It needs {_needed(emitted)} and nothing else.{_kernels(emitted)} Run as a "
        "program, this file compares its derivatives with finite differences of the value."
    )


def _needed(emitted: Emitted) -> str:
    return "NumPy and SciPy" if scipy_modules(emitted.tree) else "NumPy"


def _kernels(emitted: Emitted) -> str:
    """The sentence about functions for Numba, if there are any."""
    if all(step.equation.primitive != "kernel" for step in emitted.tree.steps):
        return ""
    return (
        " Kernels are compiled by Numba when they are called first; where it is missing they are "
        "plain Python."
    )


def _paragraph(text: str, indent: int = 0) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=2 * margin)


def _argument_rows(export: Export, emitted: Emitted) -> Iterator[tuple[str, str]]:
    """Each leaf of the arguments, with its description."""
    changed = {*export.wrt, *export.state} if export.test == "check_step" else set()
    known = {
        (leaf.argument, leaf.path): replaced(
            leaf.variable.type.dims, lambda dim: renamed(dim, emitted.symbols)
        )
        for leaf in export.main.staged.leaves
    }
    called = dict(zip(export.main.arguments, emitted.arguments, strict=True))
    for argument, value in export.values.items():
        for path, leaf in trees.leaves(value):
            shown = trees.show_path(called[argument], path)
            if (argument, path) not in known:
                given = repr(leaf) if trees.is_plain_key(leaf) else type(leaf).__name__
                yield shown, f"fixed in the code: {given}"
                continue
            kind = type_of(leaf)
            what = str(kind)
            if kind.kind == "array":
                what = f"{kind.dtype} array of shape {known[argument, path]}"
                order = memory_order(leaf)
                if order != tuple(range(leaf.ndim)):
                    what += f", {'not contiguous' if order is None else f'axes in order {order}'}"
            elif kind.kind == "scalar":
                what = f"NumPy {kind.dtype}"
            yield shown, what + (", changed in place" if argument in changed else "")


def imports_of(found: Iterable[ast.stmt]) -> Iterator[str]:
    """All imports in the order of a style guide, each module once."""
    modules: set[str] = set()
    members: dict[str, set[str]] = {}
    for node in found:
        if isinstance(node, ast.ImportFrom):
            members.setdefault(str(node.module), set()).update(a.name for a in node.names)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names if alias.name != "numpy"}
    yield from ["", "from __future__ import annotations", ""]
    yield from (f"import {module}" for module in sorted(modules))
    third = sorted(module for module in members if module.split(".")[0] == "scipy")
    for module in sorted(members.keys() - {"__future__", NUMBA, *third}):
        yield _from(module, members[module])
    yield from ["", "import numpy as np"]
    yield from (_from(module, members[module]) for module in third)
    if NUMBA in members:
        names = ", ".join(sorted(members[NUMBA]))
        yield from WITHOUT_NUMBA.format(names=names).splitlines()
        yield from WITHOUT_PRANGE.splitlines() if "prange" in members[NUMBA] else ()


def _from(module: str, names: Iterable[str]) -> str:
    return f"from {module} import {', '.join(sorted(names))}"


def used(text: str) -> Iterator[ast.stmt]:
    """The imports of the modules that the code of the self-test names."""
    for module in MODULES:
        if f"{module}." in text:
            yield ast.Import([ast.alias(module)])


def _quoted(quotes: Sequence[Quote]) -> Iterator[str]:
    """The user's functions as comments."""
    if quotes:
        yield ""
        yield _rule("made from")
    for quote in quotes:
        yield "#"
        for line in quote.lines:
            yield f"# {line}".rstrip()


def _rule(title: str) -> str:
    return f"# --- {title} ".ljust(WIDTH - 1, "-")


# --- the self-test -------------------------------------------------------------------------------


def _example(drawn: ast.expr) -> list[str]:
    returned = render(ast.Return(drawn), width=WIDTH, indent=INDENT)
    head = "def example(rng: np.random.Generator) -> Named:"
    return [head, '    """Random arguments like those that this was exported with."""', *returned]


def _entry(
    export: Export, own: str, references: Sequence[str | None], generators: Sequence[str]
) -> list[str]:
    """The lines that run the self-test."""
    functions = [literal(None) if r is None else name(r) for r in references]
    facts = {"wrt": list(export.wrt), "several": export.several}
    if export.test == "check_step":
        facts["state"] = list(export.state)
    call = called_with(
        export.test,
        [name(own), *functions, name("example")],
        **facts,
        generators=ast.List([name(g) for g in generators], ast.Load()),
    )
    leave = ast.Expr(ast.Call(ast.Attribute(name("sys"), "exit", ast.Load()), [call], []))
    return ['if __name__ == "__main__":', *render(leave, width=WIDTH, indent=INDENT)]


def spaced(parts: Sequence[str]) -> Iterator[str]:
    """The lines, with at most two empty lines in a row."""
    empty = 0
    for line in "\n".join(parts).split("\n"):
        empty = 0 if line else empty + 1
        if empty <= 2:
            yield line


def _version() -> str:

    return version("stcompile")
