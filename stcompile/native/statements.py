"""Statements that give names numbers, write into arrays and call functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from stcompile.native import calls
from stcompile.native.control import ADDED, Control
from stcompile.native.kinds import INT, Array, Number, is_wider
from stcompile.native.lists import appended
from stcompile.native.literals import in_comment
from stcompile.native.selections import is_mask, set_where
from stcompile.native.unit import Made, Unit
from stcompile.native.values import Value, as_number, cast

WITHIN = "index_within"  # the function that checks an index


class Statements(Control):
    """Translates the statements of one function that are no blocks and do not end it."""

    def __init__(
        self, unit: Unit, node: ast.FunctionDef, leaves: Mapping[str, Value] | None
    ) -> None:
        super().__init__(unit, node, leaves)
        self.empty: set[str] = set()  # names that are declared with a 0

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Break(self, node: ast.Break) -> None:
        self.say("break;")

    def _Continue(self, node: ast.Continue) -> None:
        self.say("continue;")

    def _Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant):
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            self._called(value.func.id, [self.value(a) for a in value.args], [])
            return
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "warnings.warn":
            self.say(f"/* {in_comment(str(ast.literal_eval(value.args[0])))} */")
            return
        for owner, item in appended([node]):
            self._appended(ast.unparse(owner), item)
            return
        self.refuse(f"`{ast.unparse(node)}` has no translation")

    def _Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            self._unpacked(target, node.value)
        elif isinstance(target, ast.Subscript) and ast.unparse(target.slice) == "...":
            self._stored(target, node.value)
        elif isinstance(target, ast.Subscript):
            self._put(target, self.value(node.value), "=")
        else:
            assert isinstance(target, ast.Name)
            self._named(target.id, node.value)

    def _stored(self, target: ast.Subscript, node: ast.expr) -> None:
        """``array[...] = node``."""
        owner = self.value(target.value)
        value = self.value(node)
        if isinstance(value.kind, Number) and owner.dims:
            self.fill(owner, cast(value, owner.of))
        elif isinstance(value.kind, Number):
            self.say(f"{owner.code}[0] = {cast(value, owner.of).code};")
        elif value.kind == owner.array:
            self._copy(owner, value)
        else:
            self.refuse(f"`{ast.unparse(node)}` has another shape or type")

    def _put(self, target: ast.Subscript, value: Value, sign: str) -> None:
        owner = self.value(target.value)
        if self._is_masked(target):
            set_where(self, owner, self.value(target.slice), value, sign)
            return
        number = as_number(value)
        if number is None:
            self.refuse(f"a write of an array to `{ast.unparse(target)}` has no translation")
        place = self.element(owner, target.slice)
        self.say(f"{place} {sign} {cast(number, owner.of).code};")

    def _is_masked(self, target: ast.expr) -> bool:
        """True for the elements that a mask chooses."""
        if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
            return False
        return is_mask(self.value(target.value), self.value(target.slice))

    def _unpacked(self, target: ast.Tuple, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            held = []
            for part in [self.number(node) for node in value.elts]:
                name = self.fresh_name("held")
                self.say(f"const {part.number.c} {name} = {part.code};")
                held.append(Value(part.number, name))
            for left, right in zip(target.elts, held, strict=True):
                if isinstance(left, ast.Subscript):
                    self._put(left, right, "=")
                else:
                    assert isinstance(left, ast.Name)
                    self._set(left.id, right)
            return
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            self.refuse(f"`{ast.unparse(value)}` has no translation")
        names = [t.id for t in target.elts if isinstance(t, ast.Name)]
        self._called(value.func.id, [self.value(a) for a in value.args], names)

    def _named(self, name: str, node: ast.expr) -> None:
        """``name = node``."""
        if not self.is_read[name] and not self._calls(node):
            return
        if self._is_list(name, node):
            return
        made = self.made_array(node)
        if made is not None:
            kind, fill = made
            memory = self._memory(name, kind)
            if fill is not None:
                self.fill(memory, fill)
            return
        if isinstance(node, ast.Call) and ast.unparse(node.func) in self.unit.definitions:
            self._called(ast.unparse(node.func), [self.value(a) for a in node.args], [name])
            return
        value = self.value(node)
        if isinstance(value.kind, Array):
            self._bind_array(name, value, node)
        elif isinstance(value.kind, Number):
            if value.size is not None and self.assigned[name] == 1:
                self.env[name] = value
            else:
                self._set(name, value)
        else:
            self.env[name] = value

    def _calls(self, node: ast.expr) -> bool:
        """True for an expression that calls a function of the file."""
        names = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
        return any(ast.unparse(name) in self.unit.definitions for name in names)

    def _set(self, name: str, value: Value) -> None:
        """Give a name a number."""
        found = self.env.get(name)
        if found is not None and isinstance(found.kind, Array) and value.static == 0:
            return  # it stands for what nobody reads
        kind = found.kind if found is not None else value.number
        if not isinstance(kind, Number):
            self.refuse(f"`{name}` has arrays and numbers")
        if is_wider(value.number, kind):
            self._widen(name, kind, value.number)
            kind = value.number
        code = cast(value, kind).code
        if name in self.declared:
            self.say(f"{self.unit.called(name)} = {code};")
            return
        self.declared.add(name)
        if value.static == 0:
            self.empty.add(name)
        is_counter = value.is_counter and self.assigned[name] == 1
        self.env[name] = Value(kind, self.unit.called(name), is_counter=is_counter)
        if self.blocks[name] == self.here:
            const = "const " if self.assigned[name] == 1 else ""
            self.say(f"{const}{kind.c} {self.unit.called(name)} = {code};")
        else:
            self._hoisted(name, f"{kind.c} {self.unit.called(name)} = 0;")
            self.say(f"{self.unit.called(name)} = {code};")

    def _widen(self, name: str, kind: Number, to: Number) -> None:
        """Declare a name as of a wider type: it was given a 0 that nobody reads."""
        own = self.unit.called(name)
        lines = [line.strip() for line in self.text.lines]
        said = f"{kind.c} {own} = 0;"
        if name not in self.empty or said not in lines:
            self.refuse(f"`{name}` has numbers of several types")
        at = lines.index(said)
        self.text.lines[at] = self.text.lines[at].replace(said, f"{to.c} {own} = 0;")
        self.env[name] = Value(to, own)

    def _Subscript(self, node: ast.Subscript) -> Value:
        """A subscript, which may be of a call with several results."""
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            return super()._Subscript(node)
        if call.func.id not in self.unit.definitions or call.func.id == ADDED:
            return super()._Subscript(node)
        made = self.unit.function(call.func.id, arguments := [self.value(a) for a in call.args])
        if len(made.results) == 1:
            return super()._Subscript(node)
        found: Value = self.results_of(call.func.id, arguments)[self.value(node.slice).static]
        return found

    # --- calls ---------------------------------------------------------------------------------

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        if name not in self.unit.definitions:
            self.refuse(f"the function `{name}` has no translation")
        if name == ADDED:
            return self.binary(ast.Add, *arguments)
        made = self.unit.function(name, arguments)
        if len(made.results) != 1:
            self.refuse(f"`{name}` returns several values")
        kind = made.results[0]
        if isinstance(kind, Number):
            text = self._call_text(made, arguments, [])
            return Value(kind, text, is_counter=name == WITHIN)
        assert isinstance(kind, Array)
        own = self.fresh_name(f"{name}_result")  # no function has this name
        memory = self._memory(own, kind)
        self.say(f"{self._call_text(made, arguments, [memory.code])};")
        return memory

    def call_of_arrays(self, node: ast.Call) -> Value | None:
        return calls.call_of_arrays(self, node)

    def gathered(self, array: Value, indices: Sequence[Value]) -> Value:
        return calls.gathered(self, array, indices)

    def transposed(self, array: Value, axes: int) -> Value:
        return calls.transposed(self, array, axes)

    def results_of(self, name: str, arguments: Sequence[Value]) -> list[Value]:
        made = self.unit.function(name, arguments)
        names = [self.fresh_name(name) for _ in made.results]
        self.blocks.update(dict.fromkeys(names, self.here))
        self._called(name, arguments, names)
        return [self.env[own] for own in names]

    def _call_text(self, made: Made, arguments: Sequence[Value], outs: Sequence[str]) -> str:
        values = [a for a in arguments if not isinstance(a.static, int | str | tuple)]
        given = [*made.lengths, *(a.code for a in values if a.length is None), *outs]
        self.members |= made.members
        self.may_fail = self.may_fail or made.may_fail
        if made.needs_workspace:
            self.needs_workspace = True
            given.append("work")
        return f"{made.name}({', '.join(given)})"

    def _called(self, name: str, arguments: Sequence[Value], targets: Sequence[str]) -> None:
        """A call as a statement, whose results get names."""
        if name == ADDED:
            self._set(targets[0], self.call(name, arguments))
            return
        made = self.unit.function(name, arguments)
        if made.returned != "void":
            value = Value(made.results[0], self._call_text(made, arguments, []))
            if targets:
                self._set(targets[0], value)
            else:
                self.say(f"{value.code};")
            return
        outs, read = [], {a.code for a in arguments}
        held: dict[str, Value] = {}
        for target, kind in zip(targets, made.results, strict=True):
            if isinstance(kind, Array):
                memory = self._memory(target, kind)
                if memory.code in read:  # a function does not write over what it reads
                    memory = held[target] = self._memory(self.fresh_name("held"), kind)
                outs.append(memory.code)
            else:
                assert isinstance(kind, Number)
                if target not in self.declared:
                    self.declared.add(target)
                    self.env[target] = Value(kind, self.unit.called(target))
                    self._hoisted(target, f"{kind.c} {self.unit.called(target)};")
                outs.append(f"&{self.unit.called(target)}")
        self.say(f"{self._call_text(made, arguments, outs)};")
        for target, value in held.items():
            if target in self.owners - self.viewed:
                self._exchange(self.env[target], value)
            else:
                self._copy(self.env[target], value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}.get(type(node.op))
        if sign is not None and self._is_masked(node.target):
            assert isinstance(node.target, ast.Subscript)
            self._put(node.target, self.value(node.value), sign)
            return
        value, load = self.number(node.value), ast.parse(ast.unparse(node.target), mode="eval").body
        kinds = [one.kind for one in (value, self.number(load)) if isinstance(one.kind, Number)]
        is_complex = sign in ("*=", "/=") and any(kind.dtype.kind == "c" for kind in kinds)
        if sign is None or is_complex or (sign == "/=" and value.kind == INT):
            made = ast.BinOp(load, node.op, node.value)
            assign = ast.Assign([node.target], made)
            ast.copy_location(assign, node)
            ast.fix_missing_locations(assign)
            self._Assign(assign)
        elif isinstance(node.target, ast.Subscript):
            self._put(node.target, value, sign)
        else:
            assert isinstance(node.target, ast.Name)
            own = self.env[node.target.id]
            self.say(f"{own.code} {sign} {cast(value, own.number).code};")
