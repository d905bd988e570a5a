"""`try` and `with` in random programs: what is raised, caught, cleaned up, entered and left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.control import Scope, Writer

RAISES = [
    'raise KeyError("k")', "raise ValueError({c})", "a{n} = {{}}['k']", "a{n} = [0.5][{n}]",
    "a{n} = int('no')", "a{n} = None.p", "a{n} = missing * 2", "a{n}, b{n} = [{a}]",
    "import no_such_module", "assert False, 'no'", "failed({a})",
]  # fmt: skip
ERRORS = [
    "KeyError", "ValueError", "(KeyError, IndexError)", "LookupError", "Exception",
    "(AttributeError, NameError)", "(ImportError, AssertionError)", "ArithmeticError",
]  # fmt: skip
MANAGERS = [
    'np.errstate(all="ignore")', "contextlib.nullcontext({a}) as {scalar}",
    "contextlib.nullcontext({v}) as {vector}", "contextlib.suppress({error})",
    "lent({v}, {a}) as {vector}", "Within({a}) as {within}", "Within({a}) as {within}",
    "Within({b}) as {within}, lent({v}, {c}) as {vector}",
    "contextlib.suppress({error}), lent({v}, {a})",
]  # fmt: skip
HELPERS = {
    "failed": [
        "def failed(a):\n    if a > {c}:\n        raise KeyError('large')\n    return a * 0.5",
        "def failed(a):\n    try:\n        return a * 0.9\n    finally:\n"
        "        raise ValueError('no')",
        "def failed(a):\n    raise LookupError('none') from KeyError('k')",
    ],
    "lent": [
        "@contextlib.contextmanager\ndef lent(v, a):\n    t = v * a\n    try:\n        yield t\n"
        "    finally:\n        t *= 0.5",
        "@contextlib.contextmanager\ndef lent(v, a):\n    t = v + a\n    try:\n        yield t\n"
        "    except KeyError:\n        t[0] = {c}",
        "@contextlib.contextmanager\ndef lent(v, a):\n    for k in range({long}):\n"
        "        a = a * 0.9 + {c}\n    yield v * a",
    ],
    "Within": [
        "class Within:\n    def __init__(self, a):\n        self.a = a\n        self.left = {c}\n\n"
        "    def __enter__(self):\n        self.a = self.a * 0.9\n        return self\n\n"
        "    def __exit__(self, kind, error, trace):\n        self.left = self.a + 0.1",
        "class Within:\n    def __init__(self, a):\n        self.a = a\n"
        "        self.left = a * {c}\n\n"
        "    def __enter__(self):\n        return self\n\n"
        "    def __exit__(self, kind, error, trace):\n        if self.a > {c}:\n"
        "            self.left = self.a\n"
        "        return kind is not None and issubclass(kind, KeyError)",
    ],
}


class Blocks:
    """Writes the statements that raise, catch, enter and leave."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.pick, self.chance, self.add = writer.pick, writer.chance, writer.add

    def raising(self, scope: Scope) -> None:
        """A line that raises, on some path perhaps."""
        number = str(len(self.writer.lines) + 4)  # of names, and of an item that is not there
        line = self.writer.fill(self.pick(*RAISES), scope, n=number)
        if self.chance(0.5):
            self.add(line)
            return
        self.add(f"if {self.writer.test(scope)}:")
        with self.writer.block():
            self.add(line)

    def body(self, scope: Scope, chance: float) -> None:
        with self.writer.block():
            inner = self.writer.body(replace(scope, depth=scope.depth + 1), 2)
            if self.chance(chance):
                self.raising(inner)
                self.writer.body(inner, 1)

    def attempt(self, scope: Scope) -> Scope:
        """`try` with its handlers."""
        self.add("try:")
        self.body(scope, 0.7)
        handlers = self.pick(0, 1, 1, 1, 2)
        for _ in range(handlers):
            bound = " as error" if self.chance(0.3) else ""
            self.add(f"except {self.pick(*ERRORS)}{bound}:")
            self.body(scope, 0.05)
        if handlers and self.chance(0.3):
            self.add("else:")
            self.body(scope, 0.05)
        if not handlers or self.chance(0.3):
            self.add("finally:")
            with self.writer.block():
                self.writer.changed(scope)
        return scope

    def managed(self, scope: Scope) -> Scope:
        """`with`; what is bound may be read in the block, and afterwards."""
        names = {kind: self.writer.name(kind[0]) for kind in ("scalar", "vector", "within")}
        names["scalar"] = self.writer.name("a")
        template = self.pick(*MANAGERS)
        self.add(f"with {self.writer.fill(template, scope, error=self.pick(*ERRORS), **names)}:")
        if "{scalar}" in template:
            scope = replace(scope, scalars=(*scope.scalars, names["scalar"]))
        if "{vector}" in template:
            scope = replace(scope, vectors=(*scope.vectors, names["vector"]))
        if "{within}" in template:
            places = f"{names['within']}.a", f"{names['within']}.left"
            scope = replace(scope, scalars=(*scope.scalars, *places))
        self.body(scope, 0.3)
        return scope
