"""Functions of generated code as functions of C.

A function is translated for the types of its arguments. Arrays that it makes are members of a
workspace, so that a call allocates nothing. A name that is given several arrays in turn, as what a
loop carries, owns memory into which the arrays are copied.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from stcompile.native.expressions import AND, UNKNOWN, Expressions, Value, literal
from stcompile.native.kinds import BOOL, INT, Array, Kind, Number
from stcompile.native.names import (
    assigned_names,
    blocks_of,
    c_name,
    flat,
    loaded,
    read_names,
    sharing_names,
)
from stcompile.native.unit import Made, Unit

STEP = 4  # spaces
ADDED = "added"  # the function for a term of a sum that is added in any order
RAISED = "@return;"  # where a function that is not the main one ends by an error
COUNTER = "@"  # the position of an element in the text of what an array is filled with


class Translator(Expressions):
    """The translation of one function. ``labels`` are names for results that have none."""

    def __init__(
        self,
        unit: Unit,
        node: ast.FunctionDef,
        arguments: Sequence[Value],
        is_main: bool = False,
        labels: Sequence[str] = (),
    ) -> None:
        self.unit = unit
        self.node = node
        self.is_main = is_main
        self.inline = unit.inline
        self.env: dict[str, Value] = {}
        self.parameters: list[str] = []
        self.results: list[Kind] = []
        self.result_names: list[str] = []
        self.labels = labels
        self.needs_workspace = is_main
        self.lines: list[str] = []
        self.starts: list[int] = [0]  # the first lines of the blocks around
        self.level = 1
        self.said = node.lineno
        self.stored: set[str] = set()
        body = node.body[1:] if ast.get_docstring(node) else node.body
        self.body = body
        self.title = ast.get_docstring(node) or ""
        self.assigned = Counter(assigned_names(body))
        self.is_read = Counter(read_names(body))
        self.shared = sharing_names(body, [a.arg for a in node.args.args])
        self.blocks = blocks_of(body)
        self.declared: set[str] = set()
        self.here: tuple[int, ...] = ()
        self.names = Counter[str]()
        self._bind(arguments)
        self._find_outputs()

    def run(self, name: str) -> Made:
        self.block(self.body)
        parameters = [*self.parameters, *self._out_parameters()]
        return Made(name, parameters, self.results, self.lines, self.needs_workspace, self.title)

    # --- parameters and results ----------------------------------------------------------------

    def _bind(self, arguments: Sequence[Value]) -> None:
        for argument, value in zip(self.node.args.args, arguments, strict=True):
            name = argument.arg
            if value.static is not UNKNOWN:
                self.env[name] = value
            elif isinstance(value.kind, Array):
                self.env[name] = Value(value.kind, c_name(name), is_const=value.is_const)
                said = value.kind.parameter(c_name(name), value.is_const)
                self.parameters.append(said if value.is_alone else said.replace("restrict ", ""))
            elif isinstance(value.kind, Number):
                self.env[name] = Value(value.kind, c_name(name))
                self.parameters.append(f"{value.kind.c} {c_name(name)}")
            self.declared.add(name)

    def _find_outputs(self) -> None:
        """The arrays that are returned by name, which are made in the caller's memory."""
        self.outputs: dict[str, int] = {}
        returns = [n for n in ast.walk(self.node) if isinstance(n, ast.Return)]
        for one in returns:
            if one.value is None:
                continue
            for at, part in enumerate(flat(one.value)):
                if isinstance(part, ast.Name):
                    if self.outputs.get(part.id, at) != at:
                        continue
                    self.outputs[part.id] = at

    def _out_parameters(self) -> Iterator[str]:
        if len(self.results) == 1 and isinstance(self.results[0], Number) and not self.is_main:
            return
        for name, kind in zip(self.result_names, self.results, strict=True):
            if isinstance(kind, Array):
                yield kind.parameter(name, False)
            else:
                assert isinstance(kind, Number)
                yield f"{kind.c} *{name}"

    def _result_name(self, at: int, wish: str) -> str:
        """The name of the parameter for a result: as in the code, or by its label."""
        if re.fullmatch(r"v\d+(_out)?", wish) and at < len(self.labels):
            names = {c_name(n.id) for n in ast.walk(self.node) if isinstance(n, ast.Name)}
            label = self.labels[at]
            wish = f"{label}_out" if label in names else label
        while len(self.result_names) <= at:
            self.result_names.append("")
        if not self.result_names[at]:
            taken = {*self.env, *self.result_names}
            while wish in taken:
                wish += "_out"
            self.result_names[at] = wish
        return self.result_names[at]

    # --- text ----------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a line."""
        self.lines.append(" " * (STEP * self.level) + text if text else "")

    def _comments(self, line: int) -> None:
        for at in range(self.said, line):
            if at in self.unit.comments:
                text = self.unit.comments[at].strip("# ").rstrip("- ")
                if text.startswith("- ") or "--- " in self.unit.comments[at]:
                    text = text.strip("- ").capitalize()
                self.say(f"/* {text} */")
        self.said = max(self.said, line)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Translate a block."""
        for statement in statements:
            self._comments(statement.lineno)
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        self.line = node.lineno
        self.unit.place(node.lineno)
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.refuse(f"`{ast.unparse(node)}` has no translation")
        method(node)

    # --- statements ----------------------------------------------------------------------------

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
        self.refuse(f"`{ast.unparse(node)}` has no translation")

    def _Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            self._unpacked(target, node.value)
        elif isinstance(target, ast.Subscript) and ast.unparse(target.slice) == "...":
            self._stored(target, node.value)
        elif isinstance(target, ast.Subscript):
            self._put(target, self.number(node.value), "=")
        else:
            assert isinstance(target, ast.Name)
            self._named(target.id, node.value)

    def _stored(self, target: ast.Subscript, node: ast.expr) -> None:
        """``array[...] = node``."""
        owner = self.value(target.value)
        assert isinstance(owner.kind, Array)
        value = self.value(node)
        if isinstance(value.kind, Number) and owner.kind.dims:
            self._fill(owner, self.cast(value, owner.kind.of))
        elif isinstance(value.kind, Number):
            self.say(f"{owner.code}[0] = {self.cast(value, owner.kind.of).code};")
        elif value.kind == owner.kind:
            self._copy(owner, value)
        else:
            self.refuse(f"`{ast.unparse(node)}` has another shape or type")

    def _put(self, target: ast.Subscript, value: Value, sign: str) -> None:
        owner = self.value(target.value)
        assert isinstance(owner.kind, Array)
        place = self.element(owner, target.slice)
        self.say(f"{place} {sign} {self.cast(value, owner.kind.of).code};")

    def _unpacked(self, target: ast.Tuple, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            if all(isinstance(t, ast.Name) for t in target.elts):
                reads = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                if not reads & {t.id for t in target.elts if isinstance(t, ast.Name)}:
                    for one, node in zip(target.elts, value.elts, strict=True):
                        assert isinstance(one, ast.Name)
                        self._named(one.id, node)
                    return
            held = []
            for part in [self.number(node) for node in value.elts]:
                assert isinstance(part.kind, Number)
                name = self._fresh("held")
                self.say(f"const {part.kind.c} {name} = {part.code};")
                held.append(Value(part.kind, name))
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

    def _fresh(self, wish: str) -> str:
        self.names[wish] += 1
        return f"{wish}_{self.names[wish]}"

    def _named(self, name: str, node: ast.expr) -> None:
        """``name = node``."""
        if not self.is_read[name] and not self._calls(node):
            return
        made = self._made(node)
        if made is not None:
            kind, fill = made
            memory = self._memory(name, kind)
            if fill is not None:
                self._fill(memory, fill)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            arguments = [self.value(a) for a in node.args]
            if node.func.id in self.unit.definitions:
                self._called(node.func.id, arguments, [name])
                return
        value = self.value(node)
        if isinstance(value.kind, Array):
            self._bind_array(name, value, node)
        elif isinstance(value.kind, Number):
            if isinstance(value.static, int) and self.assigned[name] == 1:
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
        assert isinstance(value.kind, Number)
        found = self.env.get(name)
        kind = found.kind if found is not None else value.kind
        assert isinstance(kind, Number)
        code = self.cast(value, kind).code
        if name in self.declared:
            self.say(f"{c_name(name)} = {code};")
            return
        self.declared.add(name)
        own = Value(kind, c_name(name), is_counter=value.is_counter and self.assigned[name] == 1)
        self.env[name] = own
        if self.blocks[name] == self.here:
            const = "const " if self.assigned[name] == 1 else ""
            self.say(f"{const}{kind.c} {c_name(name)} = {code};")
        else:
            self._hoisted(name, f"{kind.c} {c_name(name)} = 0;")
            self.say(f"{c_name(name)} = {code};")

    def _hoisted(self, name: str, declaration: str) -> None:
        """Declare a name in the block around all that use it."""
        depth = len(self.blocks[name])
        at = self.starts[depth] if depth < len(self.starts) else len(self.lines)
        self.lines.insert(at, " " * (STEP * (depth + 1)) + declaration)
        self.starts = [
            start + (index > depth and start >= at) for index, start in enumerate(self.starts)
        ]

    # --- arrays --------------------------------------------------------------------------------

    def _made(self, node: ast.expr) -> tuple[Array, Value | None] | None:
        """The kind of an array that an expression makes, and what it is filled with."""
        source = _copied(node)
        if source is not None:
            value = self.value(source)
            return (value.kind, value) if isinstance(value.kind, Array) else None
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return None
        call = node.func.attr
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "np"):
            return None
        if call == "arange":
            return self._counted(node)
        if call not in ("empty", "zeros", "ones", "full"):
            return None
        shape = self.value(node.args[0]).static
        dims = shape if isinstance(shape, tuple) else (shape,)
        if not all(isinstance(n, int) for n in dims):
            self.refuse("an array of a length that is not known has no translation")
        rest = node.args[2:] if call == "full" else node.args[1:]
        dtype = self.value(rest[0]).static if rest else np.dtype(float)
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                dtype = self.value(keyword.value).static
        kind = Array(Number(np.dtype(dtype)), tuple(dims))
        if call == "empty":
            return kind, None
        fill = literal(0, kind.of) if call == "zeros" else literal(1, kind.of)
        if call == "full":
            fill = self.cast(self.number(node.args[1]), kind.of)
        return kind, fill

    def _counted(self, node: ast.Call) -> tuple[Array, Value | None]:
        """The kind of ``np.arange`` of known numbers, and what it is filled with."""
        given = [self.value(a).static for a in node.args]
        dtypes = [self.value(k.value).static for k in node.keywords if k.arg == "dtype"]
        whole = np.arange(*given, dtype=dtypes[0] if dtypes else None)
        kind = Array(Number(whole.dtype), whole.shape)
        first, step = (whole[0], whole[1] - whole[0]) if whole.size > 1 else (0, 1)
        if kind.of.dtype.kind != "i":
            self.refuse("`arange` of floats has no translation")
        code = COUNTER if (first, step) == (0, 1) else f"{first} + {COUNTER} * {step}"
        return kind, Value(kind.of, f"({kind.of.c})({code})")

    def _memory(self, name: str, kind: Array) -> Value:
        """The array that a name is given, in the caller's memory or in the workspace."""
        found = self.env.get(name)
        if found is not None and name in self.stored:
            if found.kind != kind:
                self.refuse(f"`{name}` has arrays of several shapes")
            return found
        self.stored.add(name)
        if name in self.outputs and self.assigned[name] == 1:
            own = self._result_name(self.outputs[name], c_name(name))
            self.env[name] = Value(kind, own)
            return self.env[name]
        member = self.unit.unique(c_name(name))
        self.unit.members[member] = kind
        self.needs_workspace = True
        self._hoist_pointer(f"{kind.pointer(c_name(name))} = work->{member};")
        self.env[name] = Value(kind, c_name(name))
        return self.env[name]

    def _hoist_pointer(self, text: str) -> None:
        self.lines.insert(self.starts[0], " " * STEP + text)
        self.starts = [start + (at > 0) for at, start in enumerate(self.starts)]

    def _bind_array(self, name: str, value: Value, node: ast.expr) -> None:
        """``name = array``: another name for it, or a copy into the memory of the name."""
        assert isinstance(value.kind, Array)
        source = node.id if isinstance(node, ast.Name) else ""
        is_fixed = self.assigned[source] <= 1 if source else True
        is_fixed = is_fixed and self.assigned[name] == 1 and name not in self.outputs
        if is_fixed or name in self.shared:
            self.env[name] = value
            return
        memory = self._memory(name, value.kind)
        self._copy(memory, value)

    def _copy(self, target: Value, source: Value) -> None:
        assert isinstance(target.kind, Array)
        if target.code != source.code and target.kind.size:
            size = f"{target.kind.size} * sizeof({target.kind.of.c})"
            self.say(f"memcpy({target.code}, {source.code}, {size});")

    def _fill(self, memory: Value, fill: Value) -> None:
        assert isinstance(memory.kind, Array)
        if isinstance(fill.kind, Array):
            self._copy(memory, fill)
            return
        if not memory.kind.size:
            return
        if fill.static in (0, 0j, False):
            self.say(f"memset({memory.code}, 0, {memory.kind.size} * sizeof({memory.kind.of.c}));")
            return
        at = self._fresh("at")
        flat_pointer = f"(({memory.kind.of.c} *){memory.code})"
        self.say(f"for (int64_t {at} = 0; {at} < {memory.kind.size}; {at}++)")
        self.say(f"    {flat_pointer}[{at}] = {fill.code.replace(COUNTER, at)};")

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
            return Value(kind, self._call_text(made, arguments, []))
        assert isinstance(kind, Array)
        own = self._fresh(name)
        memory = self._memory(own, kind)
        self.say(f"{self._call_text(made, arguments, [memory.code])};")
        return memory

    def _call_text(self, made: Made, arguments: Sequence[Value], outs: Sequence[str]) -> str:
        given = [a.code for a in arguments if not isinstance(a.static, int | str | tuple)]
        given += outs
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
        outs = []
        for target, kind in zip(targets, made.results, strict=True):
            if isinstance(kind, Array):
                outs.append(self._memory(target, kind).code)
            else:
                assert isinstance(kind, Number)
                if target not in self.declared:
                    self.declared.add(target)
                    self.env[target] = Value(kind, c_name(target))
                    self._hoisted(target, f"{kind.c} {c_name(target)};")
                outs.append(f"&{c_name(target)}")
        self.say(f"{self._call_text(made, arguments, outs)};")

    # --- control -------------------------------------------------------------------------------

    def _inside(self, statements: Sequence[ast.stmt], key: int) -> None:
        outer, starts = self.here, self.starts
        self.here = (*outer, key)
        self.starts = [*starts, len(self.lines)]
        self.level += 1
        self.block(statements)
        self.level -= 1
        self.here = outer
        self.starts = self.starts[: len(starts)]

    def _For(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        call = node.iter
        assert isinstance(call, ast.Call)
        is_reversed = isinstance(call.func, ast.Name) and call.func.id == "reversed"
        if is_reversed:
            call = call.args[0]
            assert isinstance(call, ast.Call)
        given = [self.number(a) for a in call.args]
        first = literal(0) if len(given) == 1 else given[0]
        last = given[0] if len(given) == 1 else given[1]
        step = given[2].static if len(given) == 3 else 1
        if not isinstance(step, int):
            self.refuse("a loop whose step is not known has no translation")
        own = c_name(node.target.id)
        self.declared.add(node.target.id)
        self.env[node.target.id] = Value(INT, own, is_counter=True)
        start, sign = first.code, "<" if step > 0 else ">"
        end, move = last.within(7), f"{own}++" if step == 1 else f"{own} += {step}"
        if is_reversed:
            start, sign, end, move = f"{last.code} - 1", ">=", first.code, f"{own}--"
        elif step < 0:
            move = f"{own}--" if step == -1 else f"{own} -= {-step}"
        for pragma in self._pragmas(node):
            self.say(pragma)
        self.say(f"for (int64_t {own} = {start}; {own} {sign} {end}; {move}) {{")
        self._inside(node.body, id(node))
        self.say("}")

    def _pragmas(self, node: ast.For) -> Iterator[str]:
        """A word to the compiler that the terms of a sum may be added several at a time."""
        if any(isinstance(one, ast.For | ast.While) for s in node.body for one in ast.walk(s)):
            return
        for one in node.body:
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
                call, (target,) = one.value, one.targets
                is_sum = isinstance(call.func, ast.Name) and call.func.id == ADDED
                if is_sum and isinstance(target, ast.Name) and len(node.body) == 1:
                    self.unit.has_sums = True
                    yield f"IN_ANY_ORDER({c_name(target.id)})"

    def _While(self, node: ast.While) -> None:
        before = len(self.lines)
        test = self.cast(self.number(node.test), BOOL)
        if len(self.lines) != before:
            self.refuse("a condition that calls for an array has no translation")
        self.say(f"while ({test.code}) {{")
        self._inside(node.body, id(node))
        self.say("}")
        at = next(n for n in range(before, len(self.lines)) if "while (" in self.lines[n])
        if any("&work->error" in line for line in self.lines[at:]):  # else it might never end
            margin = self.lines[at][: -len(self.lines[at].lstrip())]
            self.lines[at] = f"{margin}while ({test.within(AND)} && !work->error) {{"

    def _If(self, node: ast.If) -> None:
        test = self.number(node.test)
        if test.static is not UNKNOWN:
            self.block(node.body if test.static else node.orelse)
            return
        self.say(f"if ({self.cast(test, BOOL).code}) {{")
        self._inside(node.body, id(node))
        if node.orelse:
            self.say("} else {")
            self._inside(node.orelse, id(node) + 1)
        self.say("}")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}.get(type(node.op))
        value = self.number(node.value)
        if sign is None or (isinstance(node.op, ast.Div) and value.kind == INT):
            load = loaded(node.target)
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
            assert isinstance(own.kind, Number)
            self.say(f"{own.code} {sign} {self.cast(value, own.kind).code};")

    def _Raise(self, node: ast.Raise) -> None:
        text = ast.unparse(node.exc) if node.exc is not None else "an error"
        kind, _, rest = text.partition("(")
        said = rest.removesuffix(")").strip("'\"")
        code = self.unit.error(f"{kind.rpartition('.')[2]}: {said}".rstrip(": "), node.lineno)
        self.needs_workspace = True
        self.say(f"work->error = work->error ? work->error : {code};")
        if self.is_main:
            self.say("return work->error;")
        else:
            self.say(RAISED)

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.say("return;")
            return
        parts = flat(node.value)
        values = [self._returned(part) for part in parts]
        if not self.results:
            self.results = [value.kind for value in values]
        alone = len(values) == 1 and isinstance(values[0].kind, Number) and not self.is_main
        if alone:
            self.say(f"return {self.cast(values[0], self.results[0]).code};")  # type: ignore[arg-type]
            return
        for at, (part, value) in enumerate(zip(parts, values, strict=True)):
            wish = c_name(part.id) if isinstance(part, ast.Name) else "result"
            if isinstance(value.kind, Array):
                own = self._result_name(at, wish)
                if own != value.code:
                    self._copy(Value(value.kind, own), value)
            else:
                own = self._result_name(at, wish + "_out" if wish in self.env else wish)
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

    # --- indices -------------------------------------------------------------------------------

    def place(self, index: Value, length: int) -> str:
        if isinstance(index.static, int):
            at = index.static if index.static >= 0 else index.static + length
            return str(at)
        index = self.cast(index, INT)
        if index.is_counter:
            return index.code
        self.needs_workspace = True
        code = self.unit.error("IndexError: an index is out of range", self.line)
        own = self.unit.inline("place", INT)
        return f"{own}({index.code}, {length}, &work->error, {code})"


def _copied(node: ast.expr) -> ast.expr | None:
    """The array that an expression copies."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "copy" and not node.args:
        return node.func.value
    is_copy = ast.unparse(node.func) in ("np.copy", "np.array") and len(node.args) == 1
    return node.args[0] if is_copy and not isinstance(node.args[0], ast.List) else None


def translate(unit: Unit, node: ast.FunctionDef, arguments: Sequence[Value], name: str) -> Made:
    """The function of a definition, for arguments of these kinds."""
    return Translator(unit, node, arguments).run(name)
