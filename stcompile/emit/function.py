"""Emit the source of a Python function for a staged call.

The readable level: textbook code, a block for each line of the user's, in its order. A value that
is used once, on the line that made it, is written where it is used. The fast level: values are
written into buffers, which a factory around the function makes once.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.analysis.regions import Tree, unfold
from stcompile.analysis.storage import Storage
from stcompile.base import trees
from stcompile.base.containers import OF_COLLECTIONS
from stcompile.base.deferred import deferred
from stcompile.base.location import Location
from stcompile.base.options import Options
from stcompile.code.beside import called_in, text_of
from stcompile.code.literals import literal
from stcompile.code.render import render
from stcompile.codegen_templates import by_shape
from stcompile.emit.constants import LongConstant, Save, defaults_of, give_constants
from stcompile.emit.layout import (
    INDENT,
    WIDTH,
    Line,
    body_lines,
    comment_on,
    heading,
    started,
    statements_in,
    without_unread,
)
from stcompile.emit.names import NAMESPACE, Naming
from stcompile.emit.outer_names import (
    global_names,
    has_own,
    mpi_names,
    names_in,
    scipy_modules,
    with_names,
)
from stcompile.emit.products import MODULE, blas_names
from stcompile.emit.results import Results
from stcompile.emit.statements import Statements
from stcompile.emit.steps import KernelFunction
from stcompile.emit.workspace import FACTORY, Workspace, together
from stcompile.plan.buffers import Plan
from stcompile.plan.decide import make_schedule
from stcompile.wengert.dims import Symbol, named_by
from stcompile.wengert.ir import Program, Variable
from stcompile.wengert.naming import Names, base_name
from stcompile.wengert.primitives.effects import effect_modules
from stcompile.wengert.staged import Leaf, Staged

READABLE = Options("readable")
LENGTHS = ("n", "m", "k", "p", "q")  # names of lengths
IMPORTED = "from numba import njit"
kernels_of = deferred("stcompile.emit.kernels", "kernels_of")
kernel_lines = deferred("stcompile.emit.kernels", "kernel_lines")
whole = deferred("stcompile.emit.numbers", "Whole")


@dataclass(frozen=True)
class Emitted:
    """The source of a module with a function of ``arguments``, and the bytes that it allocates.

    ``allocated_bytes`` is the sum over the statements that allocate an array, a loop's times the
    number of its steps; ``lines`` maps the line numbers of the source to the user's locations, and
    ``statements`` the line numbers where a statement starts to its code, which knows the items that
    it computes (`stcompile.emit.origins`). ``hidden`` are the keyword arguments for captured
    values. ``workspace`` is the name of a factory in the module: ``workspace()`` returns the
    function with buffers of its own. None: the function is in the module itself, as ``name``. The
    parameters of the factory are ``lengths``: the position of an argument, a path in it, and an
    axis of the array at that path.

    The variables of ``tree`` have ``names``, and buffers by the ``plan``, of ``buffer_bytes`` in
    all. Other variables are in the storage described by ``storage``, except for the ``unmade``
    variables, which are stored nowhere, or only in an argument. ``saved`` are constant arrays that
    the module needs under these names. ``kernels`` are called at these positions of the tree.
    """

    name: str
    arguments: Sequence[str]
    source: str
    allocated_bytes: int
    lines: Mapping[int, Location]
    statements: Mapping[int, ast.stmt]
    hidden: tuple[str, ...]
    workspace: str | None
    lengths: tuple[tuple[int, trees.Path, int], ...]
    symbols: Mapping[Symbol, str]  # the names of lengths
    tree: Tree
    plan: Plan
    buffer_bytes: int
    storage: Storage
    names: Mapping[Variable, str]
    unmade: Collection[Variable]
    saved: Mapping[str, np.ndarray[Any, Any]]
    kernels: Mapping[int, KernelFunction]


def emit(
    staged: Staged,
    arguments: Sequence[str],
    title: str,
    update: str = "",
    options: Options = READABLE,
    defaults: Mapping[Variable, str] = MappingProxyType({}),
    taken: Collection[str] = (),
    save: Save | None = None,
) -> Emitted:
    """The source of a function of ``arguments`` that computes a staged call; ``update`` describes
    its update section. ``defaults`` are names, outside the function, of captured values, and
    ``taken`` further names of the module it is for. ``save`` keeps a constant array in the module
    and gives its name.

    The arguments have the names that the user gave them. If an argument has the name of a function
    that the code calls, such as ``range``, the code uses another name for that function,
    ``range_1``. The emitted function, too, is renamed if need be.
    """
    known = global_names(staged.program, options)
    names = Names([staged.program.name, *arguments, *taken])
    clashes = [own for own in arguments if own in known]
    inside = {own: names.like(own) for own in clashes}
    own = staged.program.name
    if own in known or own in taken:
        inside[own] = names.like(own)
    made = _Emitter(staged, arguments, title, update, options, defaults, inside, save).run()
    if not inside:
        return made
    called = names_in(made.source)
    if own in inside and own not in (*called, *taken):
        del inside[own]
        made = _Emitter(staged, arguments, title, update, options, defaults, inside, save).run()
    free = Names([*called, *made.arguments, *arguments, *taken])
    aliases = {own: free.like(own) for own in clashes if own in called}
    return _with_own_arguments(made, arguments, aliases)


def _with_own_arguments(
    made: Emitted, arguments: Sequence[str], aliases: Mapping[str, str]
) -> Emitted:
    """Rename the arguments of the function, which was made with other names, to ``arguments``, and
    add aliases for everything that the code calls by one of these names; functions that stand
    beside it are renamed."""
    back = {new: own for new, own in zip(made.arguments, arguments, strict=True) if new != own}
    lines = with_names(made.source, {**aliases, **back}).split("\n")
    numpy = next(
        at for at, line in enumerate(lines) if line.endswith((" as np", f" as {NAMESPACE}"))
    )
    at = lines.index("", numpy)
    beside = {own for own in aliases if f"\ndef {own}(" in f"\n{made.source}"}
    more = [f"{alias} = {own}" for own, alias in aliases.items() if own not in beside]
    lines[at:at] = ["", *more] if more else []
    shift = len(more) + 1 if more else 0
    return replace(
        made,
        arguments=tuple(arguments),
        source="\n".join(lines),
        lines={line + shift: location for line, location in made.lines.items()},
        statements={line + shift: code for line, code in made.statements.items()},
        names={variable: back.get(own, own) for variable, own in made.names.items()},
    )


class _Emitter:
    def __init__(
        self,
        staged: Staged,
        arguments: Sequence[str],
        title: str,
        update: str,
        options: Options,
        defaults: Mapping[Variable, str],
        renamed: Mapping[str, str],
        save: Save | None,
    ) -> None:
        self.staged = staged
        self.effects: list[ast.stmt] = []
        self.renamed = renamed
        self.name = self._called(staged.program.name)
        self.arguments = tuple(map(self._called, arguments))
        self.title = title
        self.sections = {
            "forward": "forward",
            "adjoint": "adjoint",
            "exchange": "exchange",
            "update": f"update: {update}" if update else "update",
        }
        tree, self.constants = give_constants(unfold(staged.program))
        known = global_names(staged.program, options)
        free = Names([self.name, FACTORY, *self.arguments, *known])
        made, self.saved = defaults_of(self.constants, save or (lambda wish, _: free.like(wish)))
        self.defaults = {**defaults, **made}
        contiguous = {leaf.variable for leaf in staged.leaves if leaf.contiguous}
        contiguous.update(constant.variable for constant in self.constants)
        self.schedule = make_schedule(tree, contiguous, options)
        self.tree = self.schedule.tree
        taken = [*self.arguments, FACTORY, *known, *defaults.values(), *self.saved]
        if self.schedule.is_fast:
            taken.append(self.name)  # the buffers are in the scope around the function
        self.naming = Naming(self.schedule, taken)
        self.options = options
        self.statements = self._statements()
        self.results = Results(self.tree, self.naming, self.statements, renamed)
        self.lengths = self._named_lengths()
        self.statements.symbols.update(self.lengths)
        self.kernels: Mapping[int, KernelFunction] = {}
        if any(step.equation.primitive == "kernel" for step in self.tree.steps):
            self.kernels = kernels_of(self.schedule, self.naming.names, known, self.lengths)
        self.statements.kernels = self.kernels

    def _statements(self) -> Statements:
        if self.options.form == "whole":
            written: Statements = whole(self.schedule, self.naming)
            return written
        if not self.options.xp:
            return Statements(self.schedule, self.naming)
        from stcompile.emit.elsewhere import Elsewhere

        return Elsewhere(self.schedule, self.naming)

    def run(self) -> Emitted:
        prologue = self._prologue()
        self.statements.region(self.tree.region)
        returned = self.results.of(self.staged.result)
        self.effects = self.results.effects(self.staged.effects)
        without_unread(self.statements.blocks, [returned, *self.effects], self.statements.sizes)
        if self.options.xp:
            prologue, returned = self._elsewhere(prologue, returned)
        schedule = self.schedule
        workspace = Workspace(schedule.plan, self.naming, self.lengths)
        workspace.hoist(self.statements.blocks)
        lengths = self._read_lengths(workspace, returned)
        if not workspace.statements:
            prologue += [self._measured(symbol) for symbol in lengths]
        lines, locations, statements = self._lines(prologue, returned, workspace, lengths)
        return Emitted(
            self.name,
            self.arguments,
            "\n".join(lines) + "\n",
            self.statements.allocated,
            locations,
            statements,
            tuple(self._hidden()),
            FACTORY if workspace.statements else None,
            tuple(self._taken(lengths)) if workspace.statements else (),
            self.lengths,
            self.tree,
            schedule.plan,
            workspace.nbytes,
            schedule.writes.storage,
            self.naming.given,
            schedule.unmade,
            {own: constant.value for own, constant in self.saved.items()},
            self.kernels,
        )

    def _elsewhere(
        self, prologue: list[ast.stmt], returned: ast.expr
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The code of the namespace instead of NumPy's."""
        from stcompile.emit.elsewhere import Elsewhere

        assert isinstance(self.statements, Elsewhere)
        arrays = [
            self.results.expression(trees.show_path(leaf.argument, leaf.path))
            for leaf in self.staged.leaves
            if leaf.variable.type.kind == "array"
        ]
        made = self.statements.finish(self.options.xp, arrays)
        returned = self.statements.rewriter.visit(returned)
        return [*prologue, *made], returned

    # --- the parts of the function -------------------------------------------------------------

    def _prologue(self) -> list[ast.stmt]:
        """The statements that give names to the leaves of the arguments that are used."""
        targets: list[ast.expr] = []
        values: list[ast.expr] = []
        for leaf in self.staged.leaves:
            if not leaf.path:
                self.naming.give(leaf.variable, self._called(leaf.argument))
            elif leaf.variable in self.schedule.read:
                targets.append(self._named(leaf.variable))
                shown = trees.show_path(leaf.argument, leaf.path)
                values.append(self.results.expression(shown))
        for hidden in self.staged.hidden:
            self._named(hidden.variable)
        for constant in self.constants:
            self.naming.give(constant.variable, self.naming.names.like(constant.called))
        return [
            ast.Assign([target], value, lineno=0)
            for target, value in zip(targets, values, strict=True)
        ]

    # --- lengths with names --------------------------------------------------------------------

    def _named_lengths(self) -> dict[Symbol, str]:
        """The names of lengths of arguments."""
        used = {base_name(hint) for hint in self.tree.hints.values()}
        found: dict[Symbol, str] = {}
        for symbol in self.staged.program.symbols:
            wish = next((letter for letter in LENGTHS if letter not in used), "n")
            used.add(wish)
            found[symbol] = self.naming.names.like(wish)
        return found

    def _read_lengths(self, workspace: Workspace, returned: ast.expr) -> list[Symbol]:
        """The lengths that the code mentions."""
        codes = [*workspace.statements, *statements_in(self.statements.blocks), returned]
        codes += self.effects
        nodes = (node for code in codes for node in ast.walk(code))
        read = {node.id for node in nodes if isinstance(node, ast.Name)}
        return [symbol for symbol, own in self.lengths.items() if own in read]

    def _axis(self, symbol: Symbol) -> tuple[Leaf, int]:
        """An array that has the length, and the axis."""
        return next(
            (leaf, axis)
            for leaf in self.staged.leaves
            for axis, dim in enumerate(leaf.variable.type.dims)
            if named_by(dim) == symbol
        )

    def _taken(self, lengths: Sequence[Symbol]) -> Iterator[tuple[int, trees.Path, int]]:
        for symbol in lengths:
            leaf, axis = self._axis(symbol)
            yield self.arguments.index(self._called(leaf.argument)), leaf.path, axis

    def _measured(self, symbol: Symbol) -> ast.stmt:
        """Assign the length of an axis to its name: ``n = x.shape[0]``."""
        leaf, axis = self._axis(symbol)
        array = (
            self.naming.called(leaf.variable)
            if leaf.variable in self.naming.given
            else self.results.expression(trees.show_path(leaf.argument, leaf.path))
        )
        shape = ast.Attribute(array, "shape", ast.Load())
        length = ast.Subscript(shape, literal(axis), ast.Load())
        return ast.Assign([ast.Name(self.lengths[symbol], ast.Store())], length, lineno=0)

    def _called(self, own: str) -> str:
        """The name of the function or of an argument in the code."""
        return self.renamed.get(own, own)

    def _named(self, variable: Variable) -> ast.Name:
        self.naming.give(variable, self.naming.names.like(variable.name))
        return self.naming.called(variable)

    # --- text ----------------------------------------------------------------------------------

    def _lines(
        self,
        prologue: list[ast.stmt],
        returned: ast.expr,
        workspace: Workspace,
        lengths: Sequence[Symbol],
    ) -> tuple[list[str], dict[int, Location], dict[int, ast.stmt]]:
        statements = workspace.statements
        outer = INDENT if statements else 0
        indent = outer + INDENT
        if statements:
            prologue = together(prologue, WIDTH - indent)
            statements = together(statements, WIDTH - INDENT)
        before = _rendered(prologue, indent)
        body = body_lines(self.statements.blocks, self.sections, indent)
        after = _rendered([ast.Return(returned)], indent)
        if self.effects:
            rule = heading("attributes", indent)
            after = [*_plain([rule]), *_rendered(self.effects, indent), *after]
        made = _rendered(statements, INDENT)
        beside = _helpers(self.staged.program, body)
        if self.kernels or self.options.form == "whole":
            text = "\n".join(line for line, *_ in body)
            beside += kernel_lines(self.kernels, self.sections, self.options.fastmath, text)
        head = self._imports([line for line, *_ in (*made, *before, *body, *after, *beside)])
        factory = self._factory(workspace, lengths) if statements else []
        signature = [" " * outer + line for line in self._signature()]
        written: list[Line] = [
            *_plain(head),
            *beside,
            *_plain(factory),
            *made,
            *_plain(["", *signature] if statements else signature),
            *before,
            *body,
            *after,
            *_plain(["", f"    return {self.name}"] if statements else []),
        ]
        texts, locations, starts = zip(*written, strict=True)
        return (
            list(texts),
            {at: location for at, location in enumerate(locations, 1) if location},
            {at: statement for at, statement in enumerate(starts, 1) if statement},
        )

    def _factory(self, workspace: Workspace, lengths: Sequence[Symbol]) -> list[str]:
        """The first lines of the factory."""
        described = f"`{self.name}` with its buffers: {workspace.nbytes:,} bytes"
        when = "made once."
        if lengths:
            described += f" if {', '.join(f'{self.lengths[s]} = {s.typical}' for s in lengths)}"
            when = f"made once for {'a length' if len(lengths) == 1 else 'some lengths'}."
        taken = ", ".join(self.lengths[symbol] for symbol in lengths)
        text = f'    """{described}, {when}"""'
        if len(text) > WIDTH:
            text = f'    """{described},\n    {when}\n    """'
        return [f"def {FACTORY}({taken}):", *text.split("\n")]

    def _imports(self, body: list[str]) -> list[str]:
        text = "\n".join(body)
        made_of = [f"collections.{kind}(" for kind in OF_COLLECTIONS]
        modules = ["collections"] if any(made in text for made in made_of) else []
        modules += ["dataclasses"] if "dataclasses.replace(" in text else []
        modules += ["math"] if "math." in text else []
        modules += ["types"] if "types.SimpleNamespace(" in text else []
        effects = {"warnings", *effect_modules(self.staged.program)}
        modules += [name for name in sorted(effects) if f"{name}." in text]
        head = [f"import {module}" for module in modules]
        head += [""] if head else []
        blas = [own for own in blas_names() if f"{own}(" in text]
        xp = self.options.xp
        head.append(f"import {xp} as {NAMESPACE}" if xp else "import numpy as np")
        head += [IMPORTED + ", prange" * ("prange(" in text)] if "@njit(" in text else []
        scipy = scipy_modules(self.tree)
        head += ["from mpi4py import MPI"] if mpi_names(self.staged.program) else []
        head += [f"from scipy import {', '.join(scipy)}"] if scipy else []
        head += [f"from {MODULE} import {', '.join(blas)}"] if blas else []
        made = [line for own, constant in self.saved.items() for line in _made_in(own, constant)]
        return [*head, *([""] if made else []), *made, "", ""]

    def _signature(self) -> list[str]:
        signature = ", ".join(self.arguments)
        hidden = ", ".join(self._keywords())
        if hidden:
            signature += (", " if signature else "") + f"*, {hidden}"
        lines = [f"def {self.name}({signature}):"]
        if len(lines[0]) > WIDTH:
            lines = [f"def {self.name}(", f"{' ' * INDENT}{signature}", "):"]
        return [*lines, f'    """{self.title}"""']

    @property
    def _without_default(self) -> tuple[str, ...]:
        """The kinds of captured values without a value in the signature: a scalar of another
        namespace is an array there."""
        return ("array", "object", "scalar") if self.options.xp else ("array", "object")

    def _hidden(self) -> Iterator[str]:
        """The names of captured values."""
        for hidden in self.staged.hidden:
            yield self.naming.called(hidden.variable).id

    def _keywords(self) -> Iterator[str]:
        """Captured values as keyword arguments: numbers with their present value as default."""
        for hidden, own in zip(self.staged.hidden, self._hidden(), strict=True):
            if hidden.variable in self.defaults:
                yield f"{own}={self.defaults[hidden.variable]}"
            elif hidden.variable.type.kind in self._without_default:
                yield own
            else:
                yield f"{own}={ast.unparse(literal(hidden.read()))}"
        for constant in self.constants:
            own = self.naming.called(constant.variable).id
            yield f"{own}={self.defaults[constant.variable]}"


def _rendered(statements: Sequence[ast.stmt], indent: int) -> list[Line]:
    """The lines of statements that belong to no line of the user's."""
    return [
        line
        for statement in statements
        for line in started(render(statement, width=WIDTH, indent=indent), None, statement)
    ]


def _plain(lines: Sequence[str]) -> list[Line]:
    return [(line, None, None) for line in lines]


def _made_in(own: str, constant: LongConstant) -> list[str]:
    """A comment on a constant array that is kept beside the function."""
    value = constant.value
    shown = f"# {own}: the {value.dtype} array of shape {value.shape} of this line"
    return [shown, comment_on(constant.location, 0)]


def _helpers(program: Program, body: Sequence[Line]) -> list[Line]:
    """The functions of `codegen_templates.by_shape` that the lines of a body call."""
    if not has_own(program):
        return []
    called = called_in("\n".join(line for line, *_ in body), by_shape.HELPERS)
    return _plain([line for own in called for line in (*text_of(by_shape.HELPERS[own]), "", "")])
