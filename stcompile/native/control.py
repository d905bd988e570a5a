"""Blocks, loops and branches of translated functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from stcompile.native.kinds import BOOL, INT
from stcompile.native.lists import Lists
from stcompile.native.literals import in_comment
from stcompile.native.names import nodes
from stcompile.native.threads import IN_THREADS, STACK, is_shared_out
from stcompile.native.unit import Unit
from stcompile.native.values import AND, UNKNOWN, Value, cast, literal
from stcompile.wengert.dims import UnknownSizeError

_MAY_FAIL = re.compile(r"(?<!return )\bwork\b")
NUMBERS = "dynamic=False lets C have numbers in the place of all lengths"
UNROLLED = "UNROLLED"  # the macro before a loop that becomes its steps
FEW = 16  # terms of a sum
_SETS_ERROR = re.compile(r"&work->error|work->error = ")
_LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue
RAISED = "@return;"  # where a function that is not the main one ends by an error
ADDED = "added"  # the function for a term of a sum that is added in any order


class Control(Lists):
    """Translates the statements of one function in the order that they have."""

    is_main = False

    def __init__(
        self, unit: Unit, node: ast.FunctionDef, leaves: Mapping[str, Value] | None
    ) -> None:
        super().__init__(unit, node, leaves)
        self.said = node.lineno if leaves is None else node.body[0].lineno
        self.declared: set[str] = set()
        self.may_fail = False  # a function that the present statement calls

    @property
    def ended(self) -> str:
        """The statement that ends the function after an error."""
        return "return work->error;" if self.is_main else RAISED

    # --- blocks --------------------------------------------------------------------------------

    def _comments(self, line: int) -> None:
        for at in range(self.said, line):
            if at in self.unit.comments:
                text = self.unit.comments[at].strip("# ").rstrip("- ")
                if text.startswith("- ") or "--- " in self.unit.comments[at]:
                    text = text.strip("- ").capitalize()
                self.say(f"/* {in_comment(text)} */")
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
        before, outer, self.may_fail = len(self.text.lines), self.may_fail, False
        if isinstance(node, ast.For | ast.While | ast.If):
            self.factored = {}
        try:
            method(node)
        except UnknownSizeError as error:
            self.refuse(f"the number of {error} is not known", NUMBERS)
        if not self.unit.says_numbers and not isinstance(node, _LEAVING):
            self._end_after_error(before)
        self.may_fail = outer
        if not self._is_fresh(node):
            self.factored = {}

    def _is_fresh(self, node: ast.stmt) -> bool:
        """True for a statement that gives a new name a value, and changes no array."""
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return False
        names = (one.func for one in nodes([node.value], ast.Call))
        is_own = any(ast.unparse(name) in self.unit.definitions for name in names)
        return self.assigned[node.targets[0].id] == 1 and not is_own

    def _end_after_error(self, before: int) -> None:
        """End the function if an error is known: where a function that was called may have found
        it, so that nobody reads what it has not written; and in the function that others call
        after each of its own statements, so that no argument is changed afterwards."""
        is_own = self.is_main and self.text.level == 1
        if self.may_fail or (is_own and any(map(_SETS_ERROR.search, self.text.lines[before:]))):
            self.say("if (work->error)")
            self.say(f"    {self.ended}")

    def _inside(self, statements: Sequence[ast.stmt], key: int) -> None:
        outer, self.here = self.here, (*self.here, key)
        with self.text.block():
            self.block(statements)
        self.here = outer

    def _For(self, node: ast.For) -> None:
        self.places = {}
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
        own = self.unit.called(node.target.id)
        self.declared.add(node.target.id)
        self.env[node.target.id] = Value(INT, own, is_counter=True)
        start, sign = first.code, "<" if step > 0 else ">"
        end, move = last.within(7), f"{own}++" if step == 1 else f"{own} += {step}"
        if is_reversed:
            start, sign, end, move = f"{last.code} - 1", ">=", first.code, f"{own}--"
        elif step < 0:
            move = f"{own}--" if step == -1 else f"{own} -= {-step}"
        steps = last.static if len(given) == 1 and isinstance(last.static, int) else None
        pragmas = [*self._pragmas(node, steps)]
        for pragma in pragmas:
            self.say(pragma)
        self.say(f"for (int64_t {own} = {start}; {own} {sign} {end}; {move}) {{")
        if is_shared_out(node):
            self.shared_out = 0
        self._inside(node.body, id(node))
        at = self.text.last - 1 - len(pragmas)
        self.say("}")
        if is_shared_out(node):
            self._share_out(at + len(pragmas))
        self.unit.looped(self, node, at)
        self.places = {}

    def _share_out(self, at: int) -> None:
        """Let the steps of the loop at a line run in several threads, if none has arrays in the
        workspace, which all threads have in common."""
        stack, self.shared_out = self.shared_out, None
        text = "\n".join(self.text.lines[at:]).replace("&work->error", "")
        if stack is not None and stack <= STACK and not _MAY_FAIL.search(text):
            self.unit.stack = max(self.unit.stack or 0, stack)
            self.text.lines.insert(at, self.text.margin + IN_THREADS)

    def _pragmas(self, node: ast.For, steps: int | None) -> Iterator[str]:
        """A word to the compiler that the terms of a sum may be added several at a time. Few terms
        are added one after another, without a loop: the last ones were often computed just before,
        and a vector of them would have to wait for memory. Other innermost loops of very few steps
        are none, too: the compiler would ask before each of their runs whether arrays overlap."""
        if any(isinstance(one, ast.For | ast.While) for s in node.body for one in ast.walk(s)):
            return
        for one in node.body:
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
                call, (target,) = one.value, one.targets
                is_sum = isinstance(call.func, ast.Name) and call.func.id == ADDED
                if is_sum and isinstance(target, ast.Name) and len(node.body) == 1:
                    self.unit.has_sums = True
                    own = self.unit.called(target.id)
                    is_short = steps is not None and steps <= FEW
                    yield UNROLLED if is_short else f"IN_ANY_ORDER({own})"
                    return
        if steps is not None and steps <= self.unit.unrolled and not is_shared_out(node):
            self.unit.has_sums = True
            yield UNROLLED

    def _While(self, node: ast.While) -> None:
        before = len(self.text.lines)
        test = cast(self.number(node.test), BOOL)
        if len(self.text.lines) != before:
            self.refuse("a condition that calls for an array has no translation")
        self.say(f"while ({test.code}) {{")
        self._inside(node.body, id(node))
        at = self.text.last - 1
        self.say("}")
        if any(_MAY_FAIL.search(line) for line in self.text.lines[at:]):  # else it might never end
            self.text.lines[at] = f"{self.text.margin}while ({test.within(AND)} && !work->error) {{"

    def _If(self, node: ast.If) -> None:
        test = self.number(node.test)
        if test.static is not UNKNOWN:
            self.block(node.body if test.static else node.orelse)
            return
        self.say(f"if ({cast(test, BOOL).code}) {{")
        self._inside(node.body, id(node))
        if node.orelse:
            self.say("} else {")
            self._inside(node.orelse, id(node) + 1)
        self.say("}")
