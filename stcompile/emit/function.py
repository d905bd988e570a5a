"""From a staged call to the source of one Python function.

The readable level: textbook code, one block for each line of the user's, in its order. A value
that is used once, on the line that made it, is written where it is used.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import stcompile.trees as trees
from stcompile.emit.inlining import block_key, inlined
from stcompile.emit.literals import literal, name
from stcompile.emit.render import render
from stcompile.emit.templates import Operand, substitute
from stcompile.frontend.stage import Group, Item, Result, Staged
from stcompile.ir import Atom, Constant, Equation, Variable
from stcompile.location import Location
from stcompile.naming import Names, base_name, is_numbered
from stcompile.storage import plan_writes
from stcompile.templates import inplace_operand, mark_of

WIDTH = 100
INLINE_WIDTH = 76  # a longer expression gets a line and a name of its own


@dataclass(frozen=True)
class Emitted:
    """The source of a module with one function, and what it allocates.

    ``allocated_bytes`` is the sum over the statements that allocate an array; ``lines`` maps the
    line numbers of the source to the user's locations. ``hidden`` are the keyword arguments for
    captured values.
    """

    name: str
    source: str
    allocated_bytes: int
    lines: Mapping[int, Location]
    hidden: tuple[str, ...]


@dataclass
class _Block:
    """Consecutive statements from one line of the user's program."""

    location: Location
    statements: list[ast.stmt] = field(default_factory=list)


def emit(staged: Staged, arguments: Sequence[str], title: str, update: str = "") -> Emitted:
    """The source of a function of ``arguments`` that computes a staged call; ``update`` describes
    its update section."""
    return _Emitter(staged, arguments, title, update).run()


class _Emitter:
    def __init__(self, staged: Staged, arguments: Sequence[str], title: str, update: str) -> None:
        self.staged = staged
        self.program = staged.program
        self.arguments = arguments
        self.title = title
        self.sections = {
            "forward": "forward",
            "adjoint": "adjoint",
            "update": f"update: {update}" if update else "update",
        }
        self.writes = plan_writes(self.program)
        self.inlined = inlined(self.program, self.writes)
        self.code: dict[Variable, ast.expr] = {}
        self.names = Names([*arguments, "math", "dataclasses"])
        self.blocks: list[_Block] = []
        self.allocated = 0
        self.groups = self._groups()
        outputs = [o for equation in self.program.equations for o in equation.outputs]
        variables = (*self.program.inputs, *outputs)
        self.by_name = {variable.name: variable for variable in variables}
        self.bases = Counter(base_name(variable.name) for variable in variables)

    def run(self) -> Emitted:
        prologue = self._prologue()
        for position, equation in enumerate(self.program.equations):
            self._equation(position, equation)
        returned = self._result(self.staged.result)
        lines, locations = self._lines(prologue, returned)
        source = "\n".join(lines) + "\n"
        hidden = tuple(ast.unparse(self.code[h.variable]) for h in self.staged.hidden)
        return Emitted(self.program.name, source, self.allocated, locations, hidden)

    # --- names ---------------------------------------------------------------------------------

    def _groups(self) -> dict[Variable, str]:
        """The names that variables wish for. Those that share storage by writes in place share
        one: the first that the user or the adjoint named."""
        leader: dict[Variable, Variable] = {}
        for position, equation in enumerate(self.program.equations):
            if self.writes.inplace.get(position):
                target = equation.inputs[inplace_operand(equation.primitive)]
                assert isinstance(target, Variable)
                leader[equation.output] = leader.get(target, target)
        wishes: dict[Variable, str] = {}
        for variable, first in leader.items():
            for candidate in (first, variable):
                if not is_numbered(candidate.name):
                    wishes.setdefault(first, candidate.name)
        return wishes

    def _named(self, variable: Variable) -> str:
        wish = self.groups.get(variable, variable.name)
        wish = self._adjoint_name(wish) or wish
        if is_numbered(wish):
            return self.names.unnamed()
        alone = self.bases[base_name(wish)] == 1  # h.1 is h where no other h is left
        return self.names.like(base_name(wish) if alone else wish)

    def _adjoint_name(self, wish: str) -> str | None:
        """``d_h_2`` for the adjoint of the variable that became ``h_2``."""
        if not wish.startswith("d_"):
            return None
        primal = self.by_name.get(wish[2:])
        code = self.code.get(primal) if primal is not None else None
        return f"d_{code.id}" if isinstance(code, ast.Name) else None

    def operand(self, atom: Atom) -> Operand:
        code = literal(atom.value) if isinstance(atom, Constant) else self.code[atom]
        return Operand(code, atom)

    # --- the parts of the function -------------------------------------------------------------

    def _prologue(self) -> list[ast.stmt]:
        """Names for the arguments' leaves that are used."""
        used = {v for e in self.program.equations for v in e.variables}
        used |= {a for a in self.program.outputs if isinstance(a, Variable)}
        targets: list[ast.expr] = []
        values: list[ast.expr] = []
        for leaf in self.staged.leaves:
            if not leaf.path:
                self.code[leaf.variable] = name(leaf.argument)
            elif leaf.variable in used:
                own = self.names.like(leaf.variable.name)
                self.code[leaf.variable] = name(own)
                shown = trees.show_path(leaf.argument, leaf.path)
                targets.append(ast.Name(own, ast.Store()))
                values.append(ast.parse(shown, mode="eval").body)
        for hidden in self.staged.hidden:
            self.code[hidden.variable] = name(self.names.like(hidden.variable.name))
        return [
            ast.Assign([target], value, lineno=0)
            for target, value in zip(targets, values, strict=True)
        ]

    def _equation(self, position: int, equation: Equation) -> None:
        operands = [self.operand(atom) for atom in equation.inputs]
        primitive = equation.primitive
        if mark_of(primitive) == "write":
            self._write(position, equation, operands)
            return
        code = substitute(primitive, operands, equation.params)
        block = self._block(equation.location)
        if code.value is None:
            block.statements += map(_augmented, code.statements)
            return
        output = equation.output
        if position in self.inlined and len(ast.unparse(code.value)) <= INLINE_WIDTH:
            self.code[output] = code.value
        else:
            self._assign(block, output, code.value)
        if mark_of(primitive) == "fresh":
            self.allocated += output.type.nbytes

    def _write(self, position: int, equation: Equation, operands: list[Operand]) -> None:
        block = self._block(equation.location)
        output = equation.output
        at = inplace_operand(equation.primitive)
        if not self.writes.inplace[position]:
            self.allocated += output.type.nbytes
            if equation.primitive == "accumulate" and equation.params["op"] == "add":
                summed = substitute("add", operands, {})  # no copy: the sum is a new array
                assert summed.value is not None
                self._assign(block, output, summed.value)
                return
            copied = substitute("copy", [operands[at]], {})
            assert copied.value is not None
            self._assign(block, output, copied.value)
        else:
            self.code[output] = operands[at].code
        operands[at] = Operand(self.code[output], output)
        code = substitute(equation.primitive, operands, equation.params)
        block.statements += map(_augmented, code.statements)

    def _assign(self, block: _Block, output: Variable, value: ast.expr) -> None:
        own = self._named(output)
        self.code[output] = name(own)
        block.statements.append(ast.Assign([ast.Name(own, ast.Store())], value, lineno=0))

    def _block(self, location: Location) -> _Block:
        if not self.blocks or block_key(self.blocks[-1].location) != block_key(location):
            self.blocks.append(_Block(location))
        return self.blocks[-1]

    def _result(self, result: Result) -> ast.expr:
        """The expression of what the function returns."""
        if isinstance(result, Item):
            if result.like:
                return ast.parse(result.like, mode="eval").body
            return self.operand(result.atom).code if result.atom else literal(result.value)
        parts = [self._result(part) for part in result.parts]
        if result.kind == "dict":
            return ast.Dict([literal(key) for key in result.keys], parts)
        if result.kind == "list":
            return ast.List(parts, ast.Load())
        if result.kind == "tuple":
            return ast.Tuple(parts, ast.Load())
        return self._replaced(result, parts)

    def _replaced(self, result: Group, parts: list[ast.expr]) -> ast.expr:
        """A namedtuple or a dataclass: the argument's own with other fields."""
        like = ast.parse(result.like, mode="eval").body
        changed = [
            ast.keyword(str(key), code)
            for key, code, part in zip(result.keys, parts, result.parts, strict=True)
            if not (isinstance(part, Item) and part.atom is None)
        ]
        if result.kind == "namedtuple":
            return ast.Call(ast.Attribute(like, "_replace", ast.Load()), [], changed)
        return ast.Call(ast.Attribute(name("dataclasses"), "replace", ast.Load()), [like], changed)

    # --- text ----------------------------------------------------------------------------------

    def _lines(
        self, prologue: list[ast.stmt], returned: ast.expr
    ) -> tuple[list[str], dict[int, Location]]:
        body: list[str] = []
        locations: dict[int, Location] = {}
        for statement in prologue:
            body += render(statement, width=WIDTH, indent=4)
        sections = {block.location.section for block in self.blocks if block.statements}
        section = None
        starts: list[tuple[int, Location]] = []
        for block in self.blocks:
            if not block.statements:
                continue
            if len(sections) > 1 and block.location.section != section:
                section = block.location.section
                body.append(_rule(self.sections[section]))
            comment = _comment(block.location)
            if comment:
                body.append(comment)
            for statement in block.statements:
                rendered = render(statement, width=WIDTH, indent=4)
                starts += [(len(body) + at, block.location) for at in range(len(rendered))]
                body += rendered
        body += render(ast.Return(returned), width=WIDTH, indent=4)
        head = self._head(body)
        for start, location in starts:
            locations[len(head) + start + 1] = location
        return [*head, *body], locations

    def _head(self, body: list[str]) -> list[str]:
        text = "\n".join(body)
        modules = ["dataclasses"] if "dataclasses.replace(" in text else []
        modules += ["math"] if "math." in text else []
        head = [f"import {module}" for module in modules]
        head += [""] if head else []
        head += ["import numpy as np", "", ""]
        signature = ", ".join(self.arguments)
        if self.staged.hidden:
            hidden = ", ".join(self._hidden())
            signature += (", " if signature else "") + f"*, {hidden}"
        head.append(f"def {self.program.name}({signature}):")
        return [*head, f'    """{self.title}"""']

    def _hidden(self) -> Iterator[str]:
        """Captured values as keyword arguments: numbers with their present value as default."""
        for hidden in self.staged.hidden:
            own = ast.unparse(self.code[hidden.variable])
            if hidden.variable.type.kind == "array":
                yield own
            else:
                yield f"{own}={ast.unparse(literal(hidden.read()))}"


def _comment(location: Location) -> str:
    """``# model.py:14  h = np.tanh(x @ W + b)    (t = 1)``"""
    shown = location.shown
    if shown is None or not shown.line:
        return ""
    place = f"{os.path.basename(shown.file)}:{shown.statement}"
    note = f"    ({shown.note})" if shown.note else ""
    room = WIDTH - len(f"    # {place}  ") - len(note)
    text = shown.text if len(shown.text) <= room else shown.text[: room - 1] + "…"
    return f"    # {place}  {text}{note}"


def _augmented(statement: ast.stmt) -> ast.stmt:
    """``x[i] = x[i] + v`` as ``x[i] += v``, and ``p[...] = p - v`` as ``p -= v``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return statement
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Subscript):
        return statement
    whole = isinstance(target.slice, ast.Constant) and target.slice.value is ...
    place = target.value if whole else target
    if ast.unparse(place) != ast.unparse(value.left):
        return statement
    if whole and isinstance(target.value, ast.Name):
        return ast.AugAssign(ast.Name(target.value.id, ast.Store()), value.op, value.right)
    return ast.AugAssign(target, value.op, value.right)


def _rule(title: str) -> str:
    return f"    # --- {title} ".ljust(80, "-")
