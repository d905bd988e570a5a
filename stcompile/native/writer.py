"""Write one function in C: its lines, the values of its names, and the memory of its arrays.

Arrays that a function makes are members of a workspace, so that a call allocates nothing. A name
that is given several arrays in turn, as what a loop carries, owns memory: it exchanges it with the
name that it is given, where that is not read any more, and else copies what lies there.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

from stcompile.native.bindings import Part, Raised
from stcompile.native.kinds import Array, Kind, Number, Parameter, is_wider
from stcompile.native.lines import Lines
from stcompile.native.liveness import dead_sources
from stcompile.native.names import (
    appended,
    blocks_of,
    changed_parameters,
    lists_in,
    names_in,
    nodes,
    root_of,
    sharing_names,
    written_names,
)
from stcompile.native.sizes import size_text
from stcompile.native.threads import STACK
from stcompile.native.unit import Unit
from stcompile.native.values import NotInC, Value, as_number, cast
from stcompile.wengert.dims import Dim, Size, symbols_in

RESULT = "result"  # the beginning of labels that a name in the text is better than
COUNTER = "@"  # the position of an element in the text of what an array is filled with


class Writer:
    """The state of a function that is translated. That which is called from outside reads its
    ``leaves``, the arguments and constants by the code that stands for them in Python, and has
    ``labels`` for its results. ``expressions`` translate those of a class of the syntax each."""

    def __init__(
        self,
        unit: Unit,
        node: ast.FunctionDef,
        expressions: Expressions,
        leaves: Mapping[str, Value] | None,
        labels: Sequence[str],
    ) -> None:
        self.unit = unit
        self.node = node
        self.inline = unit.inline
        self.expressions = expressions
        self.is_main = leaves is not None
        self.is_of_callers = not self.is_main and unit.is_of_callers(node)
        self.raised: list[tuple[str, tuple[Part, ...]]] = []  # then: each by a code of the caller's
        self.leaves = leaves or {}
        self.body = node.body[1:] if ast.get_docstring(node) else node.body
        self._find_names()
        # what is written, and where
        self.text = Lines()
        self.say = self.text.say
        self.line = 0  # that is translated
        self.said = node.body[0].lineno if self.is_main else node.lineno  # comments up to it
        self.here: tuple[int, ...] = ()  # the blocks around
        self.shared_out: int | None = None  # in a loop in threads, the bytes of a step's arrays
        self.may_fail = False  # a function that the present statement calls
        self.needs_workspace = self.is_main
        self.members: set[str] = set()  # of the workspace, that it or what it calls needs
        # parameters and results
        self.parameters: list[Parameter] = []
        self.results: list[Kind] = []
        self.result_names: list[str] = []
        self.labels = labels
        # what names stand for
        self.env: dict[str, Value] = {}
        self.names = Counter[str]()  # those that no name of the function is, by their beginnings
        self.declared: set[str] = set()
        self.empty: set[str] = set()  # names that are declared with a 0
        self.stored: set[str] = set()  # names of arrays that have memory
        self.owners: set[str] = set()  # those of them that point into the workspace
        self.counts: dict[str, str] = {}  # of lists, in C
        self.begins: dict[str, str] = {}  # of lists that other lists have
        self.parts: dict[str, str] = {}  # the lists that lists have
        self.places: dict[str, tuple[str, str]] = {}  # indices and lengths by checks, of a loop
        self.chosen: dict[str, Dim] = {}  # numbers of elements that masks choose, by the masks
        self.factored: dict[str, dict[str, Value]] = {}  # results of calls that nobody read yet

    def _find_names(self) -> None:
        """Find what becomes of the names in the text."""
        body, definitions = self.body, self.unit.definitions
        self.given = [] if self.is_main else [one.arg for one in self.node.args.args]
        self.assigned = Counter([*self.given, *names_in(body, ast.Store)])
        self.is_read = Counter(names_in(body, ast.Load))
        self.shared = sharing_names(body, [*self.given, *self.leaves])
        self.written = written_names(self.node, definitions)
        self.changed = changed_parameters(self.node, definitions)
        self.blocks = blocks_of(body)
        self.outputs: dict[str, int] = {}  # arrays that are returned, by the position of the result
        self.dead = dead_sources(body)
        self.lists = lists_in(body)
        self.kept = {node.id for _, node in appended(body) if isinstance(node, ast.Name)}
        self.kept &= self.lists
        assigns = [*nodes(body, ast.Assign)]
        moves = [one for one in assigns if id(one.value) in self.dead]
        both = [one for move in moves for one in (*move.targets, move.value)]
        self.moved = {one.id for one in both if isinstance(one, ast.Name)}
        self.viewed = {root for one in assigns for root in self._viewed_by(one)}

    # --- expressions ---------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """The translation of an expression."""
        if self.leaves and isinstance(node, ast.Name | ast.Subscript | ast.Attribute):
            found = self.leaves.get(ast.unparse(node))
            if found is not None and not (isinstance(node, ast.Name) and node.id in self.env):
                return found
        self.line = getattr(node, "lineno", self.line)
        translate = self.expressions.get(type(node))
        return self.refuse_translation(node) if translate is None else translate(self, node)

    def number(self, node: ast.expr) -> Value:
        """The translation of an expression that is a number."""
        found = as_number(self.value(node))
        return self.refuse(f"`{ast.unparse(node)}` is no number") if found is None else found

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise NotInC(reason, self.line, hint)

    def refuse_translation(self, what: ast.AST | str, hint: str = "") -> NoReturn:
        """Refuse a piece of the code, or what the words stand for."""
        said = what if isinstance(what, str) else f"`{ast.unparse(what)}`"
        self.refuse(f"{said} has no translation", hint)

    # --- text ----------------------------------------------------------------------------------

    def code(self, error: str, *parts: Part) -> str:
        """The code of an error here, by its class and the parts of its message; a parameter in a
        function that stands for no line of the user's."""
        self.needs_workspace = True
        if not self.is_of_callers:
            return self.unit.code(Raised(error, parts, self.line, self.node.name))
        if (error, parts) not in self.raised:
            self.raised.append((error, parts))
        return f"code_{self.raised.index((error, parts)) + 1}"

    def call(self, name: str, of: Number, *given: str) -> None:
        """Write a call of a short function for numbers of a kind."""
        self.say(f"{self.inline(name, of)}({', '.join(given)});")

    @contextmanager
    def each(self, *lengths: Size, names: Sequence[str] = ()) -> Iterator[list[str]]:
        """Write the head of a loop over each axis; in the loops is one statement. Given are the
        names of their counters."""
        own = [*names] or [self.fresh_name("at") for _ in lengths]
        for name, length in zip(own, lengths, strict=True):
            self.say(f"for (int64_t {name} = 0; {name} < {size_text(length)}; {name}++)")
            self.text.level += 1
        yield own
        self.text.level -= len(own)

    @contextmanager
    def braces(self, head: str = "") -> Iterator[None]:
        """Write braces around statements whose declarations may go to an outer block."""
        self.say(f"{head} {{".lstrip())
        self.text.level += 1
        yield
        self.text.level -= 1
        self.say("}")

    def fresh_name(self, wish: str) -> str:
        self.names[wish] += 1
        return f"{wish}_{self.names[wish]}"

    def apart(self, wish: str) -> str:
        """A name that no name of the function is."""
        while wish in self.is_read or wish in self.assigned:
            wish += "_"
        return wish

    def hoist(self, name: str, declaration: str) -> None:
        """Declare a name in the block around all that use it."""
        self.text.hoist(len(self.blocks[name]), declaration)

    def result_name(self, at: int, wish: str) -> str:
        """The name of the parameter for a result: as in the code, or by its label."""
        label = self.labels[at] if at < len(self.labels) else wish
        if re.fullmatch(r"v\d+(_out)?", wish) or not label.startswith(RESULT):
            names = {self.unit.called(one.id) for one in nodes([self.node], ast.Name)}
            wish = f"{label}_out" if label in names - {wish} else label
        while len(self.result_names) <= at:
            self.result_names.append("")
        if not self.result_names[at]:
            taken = {*map(self.unit.called, self.env), *self.result_names}
            taken |= {leaf.code for leaf in self.leaves.values()}
            while wish in taken:
                wish += "_out"
            self.result_names[at] = wish
        return self.result_names[at]

    # --- numbers -------------------------------------------------------------------------------

    def set_number(self, name: str, value: Value) -> None:
        """Give a name a number."""
        found, own = self.env.get(name), self.unit.called(name)
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
            self.say(f"{own} = {code};")
            return
        self.declared.add(name)
        if value.static == 0:
            self.empty.add(name)
        is_counter = value.is_counter and self.assigned[name] == 1
        self.env[name] = Value(kind, own, is_counter=is_counter)
        if self.blocks[name] == self.here:
            const = "const " if self.assigned[name] == 1 else ""
            self.say(f"{const}{kind.c} {own} = {code};")
        else:
            self.hoist(name, f"{kind.c} {own} = 0;")
            self.say(f"{own} = {code};")

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

    # --- memory --------------------------------------------------------------------------------

    def memory(self, name: str, kind: Array) -> Value:
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
            own = self.result_name(self.outputs[name], self.unit.called(name))
        elif self.shared_out is not None and self._is_of_a_step(name, kind):
            own = self.unit.called(name)
        else:
            own = self._in_workspace(name, kind)
        self.env[name] = Value(kind, own)
        return self.env[name]

    def _in_workspace(self, name: str, kind: Array) -> str:
        """The name of a pointer to a new member of the workspace."""
        if {*symbols_in(tuple(self.chosen.values()))} & {*symbols_in(kind.dims[1:])}:
            self.refuse(f"`{name}` has rows whose length data decide")
        own = self.unit.called(name)
        member = self.unit.unique(own)
        self.unit.members[member] = self.unit.longest(kind)
        self.members.add(member)
        self.needs_workspace = True
        self.owners.add(name)
        own = self.apart(f"own_{own}") if name in self.leaves else own
        unlike = "(void *)" if kind.is_named and len(kind.dims) > 1 else ""
        self.text.hoist(0, f"{kind.pointer(own)} = {unlike}work->{member};")
        return own

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
            self.hoist(name, f"{kind.pointer(own)} = memory_of_{own};")
            own = f"memory_of_{own}"
        self.hoist(name, f"{kind.member(own)};")
        return True

    def fresh_memory(self, wish: str, of: Number, *dims: Size) -> Value:
        """An array in the workspace that no name of the function stands for."""
        return self.memory(self.fresh_name(wish), Array(of, dims))

    def copy(self, target: Value, source: Value) -> None:
        if target.code != source.code and target.array.size != 0:
            size = f"{target.array.count} * sizeof({target.of.c})"
            self.say(f"memcpy({target.code}, {source.code}, {size});")

    def fill(self, memory: Value, fill: Value) -> None:
        if isinstance(fill.kind, Array):
            self.copy(memory, fill)
        elif memory.array.size == 0:
            return
        elif fill.static in (0, 0j, False):
            self.say(f"memset({memory.code}, 0, {memory.array.count} * sizeof({memory.of.c}));")
        else:
            with self.each(memory.array.size) as (at,):
                pointer = f"(({memory.of.c} *){memory.code})"
                self.say(f"{pointer}[{at}] = {fill.code.replace(COUNTER, at)};")

    # --- names for arrays ----------------------------------------------------------------------

    def bind_array(self, name: str, value: Value, node: ast.expr) -> None:
        """``name = array``: another name for it; or its own memory gets what is there, by an
        exchange with that of the other name or by a copy."""
        if self._is_alias(name, node):
            self.env[name] = value
            return
        memory = self.memory(name, value.array)
        if self._can_exchange(name, node) and memory.kind == value.array:
            self.exchange(memory, value)
        else:
            self.copy(memory, value)

    def exchange(self, one: Value, other: Value) -> None:
        """Exchange the memory of two names."""
        held = self.fresh_name("held")
        self.say(f"{one.array.pointer(held)} = {one.code};")
        self.say(f"{one.code} = {other.code};")
        self.say(f"{other.code} = {held};")

    def _is_alias(self, name: str, node: ast.expr) -> bool:
        """True where ``name = node`` makes another name for an array or its elements: neither name
        is given another array while both have this array."""
        root = root_of(node)
        is_part = not isinstance(node, ast.Name) and root != "np"  # and nothing that NumPy made
        if name in self.shared or (name in self.written and is_part):
            return True
        is_fixed = self.assigned[name] == 1 and name not in self.outputs
        return is_fixed and (root is None or self.assigned[root] <= 1)

    def _viewed_by(self, node: ast.Assign) -> set[str]:
        """The name of the array for whose memory another name stands after an assignment."""
        (target,), root = node.targets, root_of(node.value)
        if not isinstance(target, ast.Name) or root is None:
            return set()
        is_same = isinstance(node.value, ast.Name) and not self._is_alias(target.id, node.value)
        return set() if is_same else {root}

    def _can_exchange(self, name: str, node: ast.expr) -> bool:
        """True if ``name = node`` may exchange memory: both names point into the workspace, no
        other name stands for what is there, and the name on the right is not read any more."""
        if not isinstance(node, ast.Name) or id(node) not in self.dead:
            return False
        both = {name, node.id}
        return both <= self.owners and not both & self.viewed


Expressions: TypeAlias = Mapping[type[ast.expr], Callable[[Writer, Any], Value]]
