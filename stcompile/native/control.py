"""Blocks, loops and branches of translated functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from stcompile.native.kinds import BOOL, INT
from stcompile.native.literals import in_comment
from stcompile.native.names import nodes
from stcompile.native.own_calls import ADDED, is_own
from stcompile.native.statements import SIMPLE, Statements, ended
from stcompile.native.threads import IN_THREADS, STACK, is_shared_out
from stcompile.native.values import UNKNOWN, Binds, Value, cast, literal
from stcompile.native.writer import Writer
from stcompile.wengert.dims import UnknownSizeError

_MAY_FAIL = re.compile(r"(?<!return )\bwork\b")
NUMBERS = "dynamic=False lets C have numbers in the place of all lengths"
UNROLLED = "UNROLLED"  # the macro before a loop that becomes its steps
FEW = 16  # terms of a sum
_SETS_ERROR = re.compile(r"&work->error|work->error = ")
_LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue


def block(w: Writer, statements: Sequence[ast.stmt]) -> None:
    """Translate a block."""
    for statement in statements:
        _comments(w, statement.lineno)
        _statement(w, statement)


def _comments(w: Writer, line: int) -> None:
    """Write the comments that stand before a line."""
    for at in range(w.said, line):
        if at in w.unit.comments:
            text = w.unit.comments[at].strip("# ").rstrip("- ")
            if text.startswith("- ") or "--- " in w.unit.comments[at]:
                text = text.strip("- ").capitalize()
            w.say(f"/* {in_comment(text)} */")
    w.said = max(w.said, line)


def _statement(w: Writer, node: ast.stmt) -> None:
    w.line = node.lineno
    w.unit.place(node.lineno)
    translate = STATEMENTS.get(type(node))
    if translate is None:
        w.refuse_translation(node)
    before, outer, w.may_fail = len(w.text.lines), w.may_fail, False
    if isinstance(node, ast.For | ast.While | ast.If):
        w.factored = {}
    try:
        translate(w, node)
    except UnknownSizeError as error:
        w.refuse(f"the number of {error} is not known", NUMBERS)
    if not w.unit.says_numbers and not isinstance(node, _LEAVING):
        _end_after_error(w, before)
    w.may_fail = outer
    if not _is_fresh(w, node):
        w.factored = {}


def _is_fresh(w: Writer, node: ast.stmt) -> bool:
    """True for a statement that gives a new name a value, and changes no array."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    calls = nodes([node.value], ast.Call)
    return w.assigned[node.targets[0].id] == 1 and not any(is_own(w, one.func) for one in calls)


def _end_after_error(w: Writer, before: int) -> None:
    """End the function if an error is known: where a function that was called may have found
    it, so that nobody reads what it has not written; and in the function that others call
    after each of its own statements, so that no argument is changed afterwards."""
    is_outer = w.is_main and w.text.level == 1
    lines = [*w.text.lines[before:], ""]
    ends = (line.strip() in ("if (work->error)", ended(w)) for line in lines[1:])
    is_set = any(
        _SETS_ERROR.search(line) and not end for line, end in zip(lines, ends, strict=False)
    )
    if w.may_fail or (is_outer and is_set):
        w.say("if (work->error)")
        w.say(f"    {ended(w)}")


def _inside(w: Writer, statements: Sequence[ast.stmt], key: int) -> None:
    outer, w.here = w.here, (*w.here, key)
    with w.text.block():
        block(w, statements)
    w.here = outer


# --- loops ---------------------------------------------------------------------------------------


def _for(w: Writer, node: ast.For) -> None:
    w.places = {}
    assert isinstance(node.target, ast.Name)
    own = w.unit.called(node.target.id)
    head, steps = _head(w, node, own)
    w.declared.add(node.target.id)
    w.env[node.target.id] = Value(INT, own, is_counter=True)
    pragmas = [*_pragmas(w, node, steps)]
    for line in (*pragmas, head):
        w.say(line)
    if is_shared_out(node):
        w.shared_out = 0
    _inside(w, node.body, id(node))
    at = w.text.last - 1
    w.say("}")
    if is_shared_out(node):
        _share_out(w, at)
    w.unit.looped(w, node, at - len(pragmas))
    w.places = {}


def _head(w: Writer, node: ast.For, own: str) -> tuple[str, int | None]:
    """The head of a loop, and the number of its steps if that is known."""
    call = node.iter
    assert isinstance(call, ast.Call)
    is_reversed = isinstance(call.func, ast.Name) and call.func.id == "reversed"
    if is_reversed:
        call = call.args[0]
        assert isinstance(call, ast.Call)
    given = [w.number(one) for one in call.args]
    first, last, *steps = given if len(given) > 1 else [literal(0), *given]
    step = steps[0].static if steps else 1
    if not isinstance(step, int):
        w.refuse_translation("a loop whose step is not known")
    start, sign, end = first.code, "<" if step > 0 else ">", last.within(Binds.AND)
    move = f"{own} += {step}" if step > 0 else f"{own} -= {-step}"
    move = {1: f"{own}++", -1: f"{own}--"}.get(step, move)
    if is_reversed:
        start, sign, end, move = f"{last.code} - 1", ">=", first.code, f"{own}--"
    is_known = len(given) == 1 and isinstance(last.static, int)
    head = f"for (int64_t {own} = {start}; {own} {sign} {end}; {move}) {{"
    return head, last.static if is_known else None


def _share_out(w: Writer, at: int) -> None:
    """Let the steps of the loop at a line run in several threads, if none has arrays in the
    workspace, which all threads have in common."""
    stack, w.shared_out = w.shared_out, None
    text = "\n".join(w.text.lines[at:]).replace("&work->error", "")
    if stack is not None and stack <= STACK and not _MAY_FAIL.search(text):
        w.unit.stack = max(w.unit.stack or 0, stack)
        w.text.lines.insert(at, w.text.margin + IN_THREADS)


def _pragmas(w: Writer, node: ast.For, steps: int | None) -> Iterator[str]:
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
                w.unit.has_sums = True
                own = w.unit.called(target.id)
                is_short = steps is not None and steps <= FEW
                yield UNROLLED if is_short else f"IN_ANY_ORDER({own})"
                return
    if steps is not None and steps <= w.unit.unrolled and not is_shared_out(node):
        w.unit.has_sums = True
        yield UNROLLED


def _while(w: Writer, node: ast.While) -> None:
    before = len(w.text.lines)
    test = cast(w.number(node.test), BOOL)
    if len(w.text.lines) != before:
        w.refuse_translation("a condition that calls for an array")
    w.say(f"while ({test.code}) {{")
    _inside(w, node.body, id(node))
    at = w.text.last - 1
    w.say("}")
    if any(_MAY_FAIL.search(line) for line in w.text.lines[at:]):  # else it might never end
        w.text.lines[at] = f"{w.text.margin}while ({test.within(Binds.AND)} && !work->error) {{"


def _if(w: Writer, node: ast.If) -> None:
    test = w.number(node.test)
    if test.static is not UNKNOWN:
        block(w, node.body if test.static else node.orelse)
        return
    w.say(f"if ({cast(test, BOOL).code}) {{")
    _inside(w, node.body, id(node))
    if node.orelse:
        w.say("} else {")
        _inside(w, node.orelse, id(node) + 1)
    w.say("}")


def _assert(w: Writer, node: ast.Assert) -> None:
    text = [] if node.msg is None else [node.msg]
    error = ast.Call(ast.Name("AssertionError", ast.Load()), text, [])
    raised = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Raise(error)], [])
    _if(w, ast.fix_missing_locations(ast.copy_location(raised, node)))


def _try(w: Writer, node: ast.Try) -> None:
    what = "a `try` around what fails for some numbers of the data"
    w.refuse_translation(what, "ask before it, by an `if`")


STATEMENTS: Statements = {
    **SIMPLE,
    ast.Assert: _assert,
    ast.Try: _try,
    ast.For: _for,
    ast.While: _while,
    ast.If: _if,
}
"""The translations of statements, by their classes of the syntax."""
