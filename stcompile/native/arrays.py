"""Arrays of translated functions: where they lie, and how they are filled, copied and exchanged.

Arrays that a function makes are members of a workspace, so that a call allocates nothing. A name
that is given several arrays in turn, as what a loop carries, owns memory: it exchanges it with the
name that it is given, where that is not read any more, and else copies what lies there.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from stcompile.native.bindings import Part, Raised
from stcompile.native.expressions import Expressions
from stcompile.native.kinds import INT, Array, Number
from stcompile.native.lines import Lines
from stcompile.native.liveness import dead_sources
from stcompile.native.names import (
    blocks_of,
    changed_parameters,
    names_in,
    nodes,
    sharing_names,
    written_names,
)
from stcompile.native.sizes import size_text
from stcompile.native.threads import STACK
from stcompile.native.unit import Unit
from stcompile.native.values import UNKNOWN, Value, cast, literal
from stcompile.wengert.dims import Dim, symbols_in

COUNTER = "@"  # the position of an element in the text of what an array is filled with


class Arrays(Expressions):
    """The lines of a translated function, and the memory of its names."""

    def __init__(
        self, unit: Unit, node: ast.FunctionDef, leaves: Mapping[str, Value] | None
    ) -> None:
        self.unit = unit
        self.node = node
        self.inline = unit.inline
        self.env: dict[str, Value] = {}
        self.text = Lines()
        self.say = self.text.say
        self.needs_workspace = False
        self.body = node.body[1:] if ast.get_docstring(node) else node.body
        self.leaves = leaves or {}
        self.given = given = [] if leaves is not None else [a.arg for a in node.args.args]
        self.assigned = Counter([*given, *names_in(self.body, ast.Store)])
        self.is_read = Counter(names_in(self.body, ast.Load))
        self.shared = sharing_names(self.body, given)
        self.written = written_names(node, unit.definitions)
        self.changed = changed_parameters(node, unit.definitions)
        self.blocks = blocks_of(self.body)
        self.outputs: dict[str, int] = {}  # arrays that are returned, by the position of the result
        self.stored: set[str] = set()  # names of arrays that have memory
        self.members: set[str] = set()  # of the workspace, that it or what it calls needs
        self.owners: set[str] = set()  # those of them that point into the workspace
        self.dead = dead_sources(self.body)
        self.moved = self._moved()
        self.viewed = self._viewed()
        self.names = Counter[str]()
        self.places: dict[str, tuple[str, str]] = {}  # indices and lengths by checks, of a loop
        self.chosen: dict[str, Dim] = {}  # numbers of elements that masks choose, by the masks
        self.factored: dict[str, dict[str, Value]] = {}  # results of calls that nobody read yet
        self.here: tuple[int, ...] = ()  # the blocks around
        self.shared_out: int | None = None  # in a loop in threads, the bytes of a step's arrays

    def _result_name(self, at: int, wish: str) -> str:
        raise NotImplementedError

    # --- text ----------------------------------------------------------------------------------

    def code(self, error: str, parts: Sequence[Part]) -> str:
        """The code of an error here, by its class and the parts of its message."""
        self.needs_workspace = True
        return self.unit.code(Raised(error, tuple(parts), self.line, self.node.name))

    def fresh_name(self, wish: str) -> str:
        self.names[wish] += 1
        return f"{wish}_{self.names[wish]}"

    def _hoisted(self, name: str, declaration: str) -> None:
        """Declare a name in the block around all that use it."""
        self.text.hoist(len(self.blocks[name]), declaration)

    # --- arrays --------------------------------------------------------------------------------

    def made_array(self, node: ast.expr) -> tuple[Array, Value | None] | None:
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
        dims = self.value(node.args[0]).sizes
        if dims is None:
            self.refuse("an array of a length that is not known has no translation")
        rest = node.args[2:] if call == "full" else node.args[1:]
        dtype = self.value(rest[0]).static if rest else np.dtype(float)
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                dtype = self.value(keyword.value).static
        kind = Array(Number(np.dtype(dtype)), dims)
        if call == "empty":
            return kind, None
        fill = literal(0, kind.of) if call == "zeros" else literal(1, kind.of)
        if call == "full":
            fill = cast(self.number(node.args[1]), kind.of)
        return kind, fill

    def _counted(self, node: ast.Call) -> tuple[Array, Value | None]:
        """The kind of ``np.arange`` of known numbers, and what it is filled with."""
        values = [self.value(a) for a in node.args]
        dtypes = [self.value(k.value).static for k in node.keywords if k.arg == "dtype"]
        if any(value.length is not None for value in values):
            return self._counted_to(values, Number(np.dtype(dtypes[0])) if dtypes else INT)
        if any(value.static is UNKNOWN for value in values):
            self.refuse("an array of a length that is not known has no translation")
        whole = np.arange(*(v.static for v in values), dtype=dtypes[0] if dtypes else None)
        kind = Array(Number(whole.dtype), whole.shape)
        first = whole[0].item() if whole.size else 0
        step = (whole[1] - whole[0]).item() if whole.size > 1 else 1
        at = Value(INT, COUNTER)
        if (first, step) == (0, 1):
            return kind, cast(at, kind.of)
        known = literal(first, kind.of), literal(step, kind.of)
        moved = self.binary(ast.Mult, cast(at, kind.of), known[1])
        return kind, self.binary(ast.Add, known[0], moved)

    def _counted_to(self, values: Sequence[Value], of: Number) -> tuple[Array, Value | None]:
        """The kind of ``np.arange`` of lengths that have names, and what it is filled with."""
        first, last, *others = values if len(values) > 1 else [literal(0), *values]
        if first.size is None or last.size is None or others:
            self.refuse("an array of a length that is not known has no translation")
        moved = self.binary(ast.Add, first, Value(INT, COUNTER))
        return Array(of, (last.size - first.size,)), cast(moved, of)

    def _memory(self, name: str, kind: Array) -> Value:
        """The array that a name is given, in the caller's memory or in the workspace."""
        found = self.env.get(name)
        if found is not None and name in self.stored:
            if found.kind != kind:
                self.refuse(f"`{name}` has arrays of several shapes")
            return found
        if found is not None and isinstance(found.kind, Number):
            self.refuse(f"`{name}` has arrays and numbers")
        self.stored.add(name)
        if name in self.outputs and self.assigned[name] == 1:
            own = self._result_name(self.outputs[name], self.unit.called(name))
            self.env[name] = Value(kind, own)
            return self.env[name]
        if self.shared_out is not None and self._is_of_a_step(name, kind):
            return self.env[name]
        if {*symbols_in(tuple(self.chosen.values()))} & {*symbols_in(kind.dims[1:])}:
            self.refuse(f"`{name}` has rows whose length data decide")
        member = self.unit.unique(self.unit.called(name))
        self.unit.members[member] = self.unit.longest(kind)
        self.members.add(member)
        self.needs_workspace = True
        self.owners.add(name)
        own = self._memory_name(name)
        cast = "(void *)" if kind.is_named and len(kind.dims) > 1 else ""
        self.text.hoist(0, f"{kind.pointer(own)} = {cast}work->{member};")
        self.env[name] = Value(kind, own)
        return self.env[name]

    def _is_of_a_step(self, name: str, kind: Array) -> bool:
        """Declare an array that each step of a loop in several threads has for itself, on the stack
        of its thread, and return True, if there is room."""
        assert self.shared_out is not None
        size = kind.size if isinstance(kind.size, int) else STACK
        self.shared_out += size * kind.of.dtype.itemsize
        if self.shared_out > STACK:
            return False
        self.blocks.setdefault(name, self.here)
        own = self.unit.called(name)
        if name in self.moved:
            self.owners.add(name)
            self._hoisted(name, f"{kind.pointer(own)} = memory_of_{own};")
            own = f"memory_of_{own}"
        self._hoisted(name, f"{kind.member(own)};")
        self.env[name] = Value(kind, self.unit.called(name))
        return True

    def fresh_memory(self, wish: str, kind: Array) -> Value:
        """An array in the workspace that no name of the function stands for."""
        return self._memory(self.fresh_name(wish), kind)

    def _memory_name(self, name: str) -> str:
        """The name in C of an array that a name of the function owns."""
        own = self.unit.called(name)
        return self._apart(f"own_{own}") if name in self.leaves else own

    def _apart(self, wish: str) -> str:
        """A name that no name of the function is."""
        while wish in self.is_read or wish in self.assigned:
            wish += "_"
        return wish

    def _bind_array(self, name: str, value: Value, node: ast.expr) -> None:
        """``name = array``: another name for it; or its own memory gets what is there, by an
        exchange with that of the other name or by a copy."""
        if self._is_alias(name, node):
            self.env[name] = value
            return
        memory = self._memory(name, value.array)
        if self._can_exchange(name, node) and memory.kind == value.array:
            self._exchange(memory, value)
        else:
            self._copy(memory, value)

    def _exchange(self, one: Value, other: Value) -> None:
        """Exchange the memory of two names."""
        held = self.fresh_name("held")
        self.say(f"{one.array.pointer(held)} = {one.code};")
        self.say(f"{one.code} = {other.code};")
        self.say(f"{other.code} = {held};")

    def _is_alias(self, name: str, node: ast.expr) -> bool:
        """True where ``name = node`` makes another name for an array or its elements: neither name
        is given another array while both have this array."""
        root = _root(node)
        is_part = not isinstance(node, ast.Name) and root != "np"  # and nothing that NumPy made
        if name in self.shared or (name in self.written and is_part):
            return True
        is_fixed = self.assigned[name] == 1 and name not in self.outputs
        return is_fixed and (root is None or self.assigned[root] <= 1)

    def _moved(self) -> set[str]:
        """The names that may exchange their memory."""
        moves = [one for one in nodes(self.body, ast.Assign) if id(one.value) in self.dead]
        both = (one for move in moves for one in (*move.targets, move.value))
        return {one.id for one in both if isinstance(one, ast.Name)}

    def _viewed(self) -> set[str]:
        """The names of arrays that stand for the memory of another name."""
        found = set()
        for node in nodes(self.body, ast.Assign):
            (target,), root = node.targets, _root(node.value)
            if isinstance(target, ast.Name) and root is not None:
                is_other = not isinstance(node.value, ast.Name) or self._is_alias(
                    target.id, node.value
                )
                found |= {root} if is_other else set()
        return found

    def _can_exchange(self, name: str, node: ast.expr) -> bool:
        """True if ``name = node`` may exchange memory: both names point into the workspace, no
        other name stands for what is there, and the name on the right is not read any more."""
        if not isinstance(node, ast.Name) or id(node) not in self.dead:
            return False
        both = {name, node.id}
        return both <= self.owners and not both & self.viewed

    def _copy(self, target: Value, source: Value) -> None:
        if target.code != source.code and target.array.size != 0:
            size = f"{target.array.count} * sizeof({target.of.c})"
            self.say(f"memcpy({target.code}, {source.code}, {size});")

    def fill(self, memory: Value, fill: Value) -> None:
        if isinstance(fill.kind, Array):
            self._copy(memory, fill)
            return
        if memory.array.size == 0:
            return
        if fill.static in (0, 0j, False):
            self.say(f"memset({memory.code}, 0, {memory.array.count} * sizeof({memory.of.c}));")
            return
        at = self.fresh_name("at")
        flat_pointer = f"(({memory.of.c} *){memory.code})"
        self.say(f"for (int64_t {at} = 0; {at} < {size_text(memory.array.size)}; {at}++)")
        self.say(f"    {flat_pointer}[{at}] = {fill.code.replace(COUNTER, at)};")


def _copied(node: ast.expr) -> ast.expr | None:
    """The array that an expression copies."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "copy" and not node.args:
        return node.func.value
    is_copy = ast.unparse(node.func) in ("np.copy", "np.array") and len(node.args) == 1
    return node.args[0] if is_copy and not isinstance(node.args[0], ast.List) else None


def _root(node: ast.expr) -> str | None:
    """The name of the array that an expression is another form of, as ``a.reshape(6)`` of ``a``."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif ast.unparse(node.func) == "np.asarray":
            node = node.args[0]
        else:
            node = node.func
    return node.id if isinstance(node, ast.Name) else None
