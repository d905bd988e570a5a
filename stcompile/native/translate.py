"""Functions of generated code as functions of C.

A function is translated for the types of its arguments. Arrays that it makes are members of a
workspace, so that a call allocates nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stcompile.native import errors
from stcompile.native.control import ADDED
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import Array, Kind, Number, Parameter
from stcompile.native.names import flat, nodes, sharing_names
from stcompile.native.statements import Statements
from stcompile.native.unit import Made, Unit
from stcompile.native.values import UNKNOWN, Value, cast
from stcompile.wengert.dims import Size, symbols_in

RESULT = "result"  # the beginning of labels that a name in the text is better than


class Translator(Statements):
    """The translation of one function. That which is called reads its ``leaves``, the arguments and
    constants by the code that stands for them in Python, and has ``labels`` for its results."""

    def __init__(
        self,
        unit: Unit,
        node: ast.FunctionDef,
        arguments: Sequence[Value],
        leaves: Mapping[str, Value] | None = None,
        labels: Sequence[str] = (),
    ) -> None:
        super().__init__(unit, node, leaves)
        self.is_main = leaves is not None
        self.parameters: list[Parameter] = []
        self.results: list[Kind] = []
        self.result_names: list[str] = []
        self.labels = labels
        self.needs_workspace = self.is_main
        self.title = ast.get_docstring(node) or ""
        self._find_outputs()
        self._bind(arguments)
        for name, value in self.leaves.items():
            if self.assigned[name]:
                self._bind_assigned(name, value)

    def run(self, name: str) -> Made:
        self.block(self.body)
        parameters = [*self.parameters, *self._out_parameters()]
        made = Made(name, parameters, self.results, self.text.lines, self.needs_workspace)
        said = {*made.words, *re.findall(r"\w+", " ".join(one.text for one in parameters))}
        own_counts = {symbol.name for symbol in symbols_in(tuple(self.chosen.values()))}
        known = (*self.unit.lengths, *self.unit.chosen)
        lengths = [own for own in known if own in said and own not in own_counts]
        may_fail = any("work->error" in line for line in self.text.lines)
        members = frozenset(self.members)
        return replace(made, members=members, lengths=lengths, title=self.title, may_fail=may_fail)

    # --- parameters and results ----------------------------------------------------------------

    def _bind(self, arguments: Sequence[Value]) -> None:
        for name, value in zip(self.given, arguments, strict=True):
            if value.static is not UNKNOWN or value.length is not None:
                self._bind_known(name, value)
            elif isinstance(value.kind, Array):
                self._bind_parameter(name, value)
            elif isinstance(value.kind, Number):
                self.env[name] = Value(value.kind, self.unit.called(name))
                self.parameters.append(Parameter(self.unit.called(name), value.kind))
            self.declared.add(name)

    def _bind_known(self, name: str, value: Value) -> None:
        """An argument that is known, and no parameter therefore."""
        self.env[name] = value
        if self.assigned[name] > 1 and isinstance(value.kind, Number):
            self.env[name] = Value(value.kind, self.unit.called(name))
            self.say(f"{value.kind.c} {self.env[name].code} = {value.code};")

    def _bind_parameter(self, name: str, value: Value) -> None:
        """An array that the function is given. One whose name gets other arrays as well is copied,
        so that the name owns memory."""
        own = self.unit.called(name)
        if self.assigned[name] > 1 and name not in self.shared:
            if name in self.changed:
                self.refuse(f"the argument `{name}` is changed and given another array")
            own = self.fresh_name(f"given_{name}")
            self._copy(self._memory(name, value.array), Value(value.array, own))
        else:
            self.env[name] = replace(value, code=own)
        self.parameters.append(Parameter(own, value.array, value.is_const, value.is_alone))

    def _bind_assigned(self, name: str, value: Value) -> None:
        """A leaf whose name is given other values: an array is copied."""
        self.assigned[name] += 1
        self.shared = sharing_names(self.body, [n for n in self.leaves if self.assigned[n]])
        self.declared.add(name)
        if not isinstance(value.kind, Array):
            self.env[name] = value
            return
        if not value.is_const:
            self.refuse(f"the argument `{name}` is changed and given another array")
        self._copy(self._memory(name, value.array), value)

    def value(self, node: ast.expr) -> Value:
        is_read = isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and self.leaves
        found = self.leaves.get(ast.unparse(node)) if is_read else None
        is_own = isinstance(node, ast.Name) and node.id in self.env
        return found if found is not None and not is_own else super().value(node)

    def _find_outputs(self) -> None:
        """The arrays that are returned by name, which are made in the caller's memory."""
        for one in nodes(self.body, ast.Return):
            for at, part in enumerate(flat(one.value) if one.value is not None else ()):
                if isinstance(part, ast.Name):
                    self.outputs.setdefault(part.id, at)

    def _out_parameters(self) -> Iterator[Parameter]:
        if self.returns_number:
            return
        for name, kind in zip(self.result_names, self.results, strict=True):
            yield Parameter(name, kind, is_read=False)

    @property
    def returns_number(self) -> bool:
        """True if a number alone is returned, and not written where a parameter points."""
        return not self.is_main and [*map(type, self.results)] == [Number]

    def _result_name(self, at: int, wish: str) -> str:
        """The name of the parameter for a result: as in the code, or by its label."""
        label = self.labels[at] if at < len(self.labels) else wish
        if re.fullmatch(r"v\d+(_out)?", wish) or not label.startswith(RESULT):
            names = {self.unit.called(n.id) for n in ast.walk(self.node) if isinstance(n, ast.Name)}
            wish = f"{label}_out" if label in names - {wish} else label
        while len(self.result_names) <= at:
            self.result_names.append("")
        if not self.result_names[at]:
            taken = {*map(self.unit.called, self.env), *self.result_names}
            while wish in taken:
                wish += "_out"
            self.result_names[at] = wish
        return self.result_names[at]

    def _Raise(self, node: ast.Raise) -> None:
        errors.raised(self, node)
        self.say(self.ended)

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.say("return;")
            return
        parts = flat(node.value)
        values = [self._returned(part) for part in parts]
        if not self.results:
            self.results = [value.kind for value in values if value.kind is not None]
        if self.returns_number:
            self.say(f"return {cast(values[0], self.results[0].of).code};")
            return
        for at, (part, value) in enumerate(zip(parts, values, strict=True)):
            wish = self.unit.called(part.id) if isinstance(part, ast.Name) else "result"
            if isinstance(value.kind, Array):
                if self.is_main and {s.name for s in symbols_in(value.dims)} & {*self.unit.chosen}:
                    self.refuse("a result whose length data decide has no translation", CHOSEN)
                own = self._result_name(at, wish)
                if own != value.code:
                    self._copy(Value(value.kind, own), value)
            else:
                own = self._result_name(at, wish)
                self.say(f"*{own} = {value.code};")
        if self.is_main:
            self.say("return work->error;")

    def _returned(self, part: ast.expr) -> Value:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            name = part.func.id
            if name in self.unit.definitions and name != ADDED:
                arguments = [self.value(a) for a in part.args]
                made = self.unit.function(name, arguments)
                if len(made.results) == 1 and isinstance(made.results[0], Array):
                    own = self._result_name(0, "result")
                    self.say(f"{self._call_text(made, arguments, [own])};")
                    return Value(made.results[0], own)
        return self.value(part)

    def place(self, index: Value, length: Size) -> str:
        return errors.place(self, index, length)

    def whole(self, value: Value) -> Value:
        return errors.whole(self, value)


def translate(unit: Unit, node: ast.FunctionDef, arguments: Sequence[Value], name: str) -> Made:
    """The function of a definition, for arguments of these kinds."""
    return Translator(unit, node, arguments).run(name)
