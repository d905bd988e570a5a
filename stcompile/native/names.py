"""Names in generated code: where they are given values and used, and what they are in C."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from stcompile.native.functions import INLINE, LIBM

APPEND = "append"
OfNode = TypeVar("OfNode", bound=ast.AST)
_WORDS = """
    auto bool case char const default do double enum extern float goto inline int long register
    restrict short signed sizeof static struct switch typedef union unsigned void volatile complex
    creal cimag false true main memcpy memset work memory work_size I NAN INFINITY HUGE_VAL NULL EOF
    CMPLX CMPLXF PRAGMA asm errno assert stdin stdout stderr offsetof linux unix near far isnan
    isinf isfinite isnormal signbit size_t ptrdiff_t wchar_t j0 j1 jn y0 y1 yn
"""
_OF_CPP = """
    and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq alignas alignof catch char8_t
    char16_t char32_t class co_await co_return co_yield concept const_cast consteval constexpr
    constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept
    nullptr operator private protected public reinterpret_cast requires static_assert static_cast
    template this thread_local throw try typeid typename using virtual
"""
TAKEN = frozenset({*_WORDS.split(), *_OF_CPP.split(), *LIBM.values(), *INLINE})
"""Names that mean something in the file, or in C++, which reads the header."""
_MACROS = re.compile(r"M_[A-Z0-9_]+|U?INT\w*_(MIN|MAX|C)|u?int\w*_t|SIZE_MAX|FP_\w+|_[A-Z_]\w*")
_LIBRARY = """
    abs access alarm bind clock close connect div drem exit fma fork free gamma ilogb index kill
    lgamma_r link listen llrint llround logb lrint lround malloc modf nan nearbyint nextafter nice
    open pause pipe poll printf puts qsort raise rand random read remainder remove remquo rename
    rewind round scalb scalbn select send signal signgam significand sleep stat step sync system
    time times truncate wait write
"""
"""Functions of the system's libraries, which a function of a program would take the place of."""
_OF_TESTS = re.compile("code|failed|memory|(given|found|expected|differ)_.*")  # in the self-test


def function_name(name: str) -> str:
    """A name in C for a function that other files call."""
    own = c_name(name)
    return f"{own}_" if own in _LIBRARY.split() or _OF_TESTS.fullmatch(own) else own


def c_name(name: str) -> str:
    """A name in C for a name in Python.

    >>> c_name("errno"), c_name("M_PI"), c_name("x"), function_name("read")
    ('errno_', 'M_PI_', 'x', 'read_')
    """
    own = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
    return f"{own}_" if own in TAKEN or _MACROS.fullmatch(own) else own


def flat(node: ast.expr) -> list[ast.expr]:
    """The leaves of what is returned."""
    if isinstance(node, ast.Tuple | ast.List):
        return [leaf for part in node.elts for leaf in flat(part)]
    if isinstance(node, ast.Dict):
        return [leaf for part in node.values for leaf in flat(part)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        is_structure = ast.unparse(node.func) in ("types.SimpleNamespace",) or node.keywords
        if is_structure and not node.args:
            return [leaf for part in node.keywords for leaf in flat(part.value)]
    return [node]


def nodes(statements: Iterable[ast.AST], kind: type[OfNode]) -> Iterator[OfNode]:
    """The nodes of a kind in a block and in the blocks within."""
    return (n for one in statements for n in ast.walk(one) if isinstance(n, kind))


def names_in(statements: Iterable[ast.AST], context: type[ast.expr_context]) -> Iterator[str]:
    """The names that are read (`ast.Load`) or given values (`ast.Store`), once for each time."""
    return (n.id for n in nodes(statements, ast.Name) if isinstance(n.ctx, context))


def names_with_arguments(node: ast.AST) -> Iterator[str]:
    """The names in a function or a part of it, those of arguments first, once for each time."""
    yield from (one.arg for one in nodes([node], ast.arg))
    yield from (one.id for one in nodes([node], ast.Name))


def sharing_names(statements: Sequence[ast.stmt], given: Sequence[str]) -> set[str]:
    """The names that can stand for one array only: they are given each other, and a single one of
    them is given anything else, once."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            name = root[name]
        return name

    sources = Counter(given)
    for name, value in (pair for n in nodes(statements, ast.Assign) for pair in _named_by(n)):
        if isinstance(value, ast.Name):
            root[find(name)] = find(value.id)
        else:
            sources[name] += 1
    count = Counter[str]()
    for name, times in sources.items():
        count[find(name)] += times
    return {name for name in root if count[find(name)] == 1}


def lists_in(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that are given empty lists."""
    pairs = ((n.targets[0], n.value) for n in nodes(statements, ast.Assign))
    empty = (target for target, v in pairs if isinstance(v, ast.List) and not v.elts)
    return {target.id for target in empty if isinstance(target, ast.Name)}


def appended(statements: Sequence[ast.stmt]) -> list[tuple[ast.expr, ast.expr]]:
    """The lists that are appended to, each with the item."""
    pairs = ((n.func, n.args) for n in nodes(statements, ast.Call))
    return [(f.value, a[0]) for f, a in pairs if isinstance(f, ast.Attribute) and f.attr == APPEND]


def root_of(node: ast.expr) -> str | None:
    """The name of the array that an expression is another form of, as ``a.reshape(6)`` of ``a``."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif ast.unparse(node.func) == "np.asarray":
            node = node.args[0]
        else:
            node = node.func
    return node.id if isinstance(node, ast.Name) else None


def written_names(node: ast.AST, definitions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """The names of arrays whose elements a piece of code sets, or lets a function that it calls
    set."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
            found.add(ast.unparse(one.value))
        called = definitions.get(ast.unparse(one.func)) if isinstance(one, ast.Call) else None
        if called is not None and isinstance(one, ast.Call):
            inner = changed_parameters(called, definitions)
            pairs = zip(called.args.args, one.args, strict=False)
            found |= {a.id for p, a in pairs if p.arg in inner and isinstance(a, ast.Name)}
    return found


def changed_parameters(
    node: ast.FunctionDef, definitions: Mapping[str, ast.FunctionDef]
) -> set[str]:
    r"""The parameters of a function whose arrays it writes into, by whatever name, before it gives
    their names other arrays.

    >>> (f,) = ast.parse("def f(a, b):\n  a[0] = 1\n  b = np.copy(b)\n  b[0] = 1").body
    >>> changed_parameters(f, {})
    {'a'}
    >>> (f,) = ast.parse("def f(a):\n  for i in range(3):\n    b = a\n    b[i] = 1\n    a = b").body
    >>> changed_parameters(f, {})
    {'a'}
    """
    names = [argument.arg for argument in node.args.args]
    walk = _Held(definitions)
    walk.block(node.body, {name: frozenset({name}) for name in names})
    return walk.written


Holders = Mapping[str, frozenset[str]]


class _Held:
    """A walk along a function with the parameters whose arrays each name may stand for; ``written``
    are those that are written into."""

    def __init__(self, definitions: Mapping[str, ast.FunctionDef]) -> None:
        self.definitions = definitions
        self.written: set[str] = set()
        self.left: list[Holders] = []  # where steps of the loops around are left early

    def block(self, statements: Sequence[ast.stmt], held: Holders) -> Holders:
        for statement in statements:
            held = self._statement(statement, held)
        return held

    def _statement(self, node: ast.stmt, held: Holders) -> Holders:
        if isinstance(node, ast.If):
            return _either(self.block(node.body, held), self.block(node.orelse, held))
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, held)
        if isinstance(node, ast.Break | ast.Continue):
            self.left[-1] = _either(self.left[-1], held)
        for name in written_names(node, self.definitions):
            self.written |= held.get(name, frozenset())
        return {**held, **{name: _stands_for(value, held) for name, value in _named_by(node)}}

    def _loop(self, node: ast.For | ast.While, held: Holders) -> Holders:
        before: Holders = {}
        start = after = held
        while start != before:
            before = start
            self.left.append({})
            after = _either(self.block(node.body, start), self.left[-1])
            self.left.pop()
            start = _either(start, after)
        return after if _is_run(node) else start


def _either(one: Holders, other: Holders) -> Holders:
    names = {*one, *other}
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in names}


def _is_run(node: ast.For | ast.While) -> bool:
    """True for a loop over a range of numbers that is not empty."""
    call = node.iter if isinstance(node, ast.For) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "range":
        return False
    try:
        return len(range(*map(ast.literal_eval, call.args))) > 0
    except ValueError:
        return False


def _stands_for(value: ast.expr, held: Holders) -> frozenset[str]:
    """The parameters of whose arrays an expression may be one, a part or another form."""
    if isinstance(value, ast.IfExp):
        return _stands_for(value.body, held) | _stands_for(value.orelse, held)
    while isinstance(value, ast.Subscript | ast.Attribute | ast.Call):
        if isinstance(value, ast.Call):
            is_same = ast.unparse(value.func) in ("np.asarray", "np.reshape", "np.transpose")
            value = value.args[0] if is_same else value.func
        else:
            value = value.value
    return held.get(value.id, frozenset()) if isinstance(value, ast.Name) else frozenset()


def _named_by(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment gives, each with the expression that gets it."""
    if not isinstance(node, ast.Assign):
        return
    (target,) = node.targets
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(parts)
    for one, value in zip(parts, values, strict=False):
        if isinstance(one, ast.Name):
            yield one.id, value


def blocks_of(statements: Sequence[ast.stmt]) -> dict[str, tuple[int, ...]]:
    """The innermost block around all uses of each name, as the keys of the blocks around it."""
    found: dict[str, tuple[int, ...]] = {}

    def visit(node: ast.AST, here: tuple[int, ...]) -> None:
        if isinstance(node, ast.Name):
            pairs = zip(found.get(node.id, here), here, strict=False)
            found[node.id] = tuple(one for one, other in pairs if one == other)
        inner = {}
        if isinstance(node, ast.For | ast.While | ast.If):
            inner = {child: id(node) for child in node.body}
            inner |= {child: id(node) + 1 for child in node.orelse}
        for child in ast.iter_child_nodes(node):
            visit(child, (*here, inner[child]) if child in inner else here)

    for statement in statements:
        visit(statement, ())
    return found
