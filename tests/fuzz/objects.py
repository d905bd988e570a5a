"""Random classes, functions that use their objects, and changes between calls, as source text.

A program has a family of classes, three deep, with properties, descriptors, ``__getattr__``,
``__setattr__`` and the rest of Python's data model drawn at random; a dataclass and a namedtuple;
an object from outside, and a dataclass as an argument. Between calls the classes and the objects
are changed. Whatever plain Python then gives is what the compiled function has to give.

>>> program(seed=1).source.startswith("class Meta(type):")
True
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import linecache
import random
import threading
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

MODULES = (collections, dataclasses, functools, threading, types)
_FILES = itertools.count()
TRIALS = 12
ERRORS = (AttributeError, TypeError, LookupError, ValueError, RecursionError, ArithmeticError)

MEMBERS = [
    "gain = {c}",
    "count = {n}",
    "def value(self, v):\n    return v * self.gain + self.a",
    "def value(self, v):\n    return super().value(v) * {c} + self.count",
    "def value(self, v):\n    return self.half(v) - super().value(self.a) * {c}",
    "@property\ndef p(self):\n    return self._p * {c}",
    "@property\ndef p(self):\n    return self._p + {c}\n"
    "@p.setter\ndef p(self, v):\n    self._p = v * self.gain if v is not None else {c}",
    "@property\ndef p(self):\n    return super().p * {c}\n"
    "@p.setter\ndef p(self, v):\n    self._p = v if isinstance(v, float) else {c}",
    "def __getattr__(self, name):\n    if name[:1] == '_':\n        raise AttributeError(name)\n"
    "    return self.a * {c} + len(name)",
    "def __setattr__(self, name, v):\n    object.__setattr__(self, name, v * {c})",
    "def __setattr__(self, name, v):\n    super().__setattr__(name, v + {c} if name == 'a' else v)",
    "@functools.cached_property\ndef once(self):\n    return self.a * {c}",
    "d = Scaled({c})",
    "def __init__(self, a):\n    self.a = a * {c}\n    self._p = a",
    "def __init__(self, a):\n    super().__init__(a)\n    self.a = self.a + {c}",
    "def __new__(cls, a):\n    self = super().__new__(cls)\n    object.__setattr__(self, 'm', a)\n"
    "    return self",
    "def __add__(self, v):\n    return v * {c} + self.a",
    "def __radd__(self, v):\n    return v - self.a * {c}",
    "def __call__(self, v):\n    return self.value(v) * {c}",
    "def __neg__(self):\n    return type(self)(-self.a)",
    "def __len__(self):\n    return {n}",
    "def __float__(self):\n    return float(self.a) * {c}",
    "def __eq__(self, other):\n    return self.gain == other.gain",
    "@classmethod\ndef made(cls, v):\n    return cls(v * cls.gain)",
    "@classmethod\ndef made(cls, v):\n    return super().made(v * {c})",
    "@staticmethod\ndef half(v):\n    return v * {c}",
    "def touch(self, v):\n    if v > {c}:\n        self.a = v * 0.5\n    else:\n        self.b = v",
    "def touch(self, v):\n    self.p = v\n    self.a = self.p + self.a * 0.5",
]

FAMILY = """\
class Meta(type):
    def __call__(cls, a):
        made = super().__call__(a)
        {meta}
        return made


class Scaled:
    def __init__(self, k):
        self.k = k

    def __get__(self, one, cls=None):
        return self if one is None else one.a * self.k

    {setter}


class A{metaclass}:
    __array_ufunc__ = None
    m = {c}
    gain = {c}
    count = {n}
    d = Scaled({c})

    def __init__(self, a):
        self.a = a
        self._p = a * {c}

    def value(self, v):
        return v * self.gain

    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, v):
        self._p = v

    @functools.cached_property
    def once(self):
        return self.a + {c}

    @classmethod
    def made(cls, v):
        return cls(v)

    @staticmethod
    def half(v):
        return v * 0.5

    def touch(self, v):
        self.b = v

    def __call__(self, v):
        return v

    def __add__(self, v):
        return v + self.gain

    def __radd__(self, v):
        return v * self.gain

    def __neg__(self):
        return type(self)(-self.a)

    def __float__(self):
        return float(self.a)

    def __len__(self):
        return 2
"""

RECORDS = """\
@dataclasses.dataclass{options}
class D:
    u: float
    w: float = {c}
    items: list = dataclasses.field(default_factory=list)
    k: dataclasses.InitVar[float] = {c}

    def __post_init__(self, k):
        object.__setattr__(self, "u", self.u * k)
        {post}


class E(D):
    bias = {c}

    def total(self, v):
        return self.u * v + self.w + self.bias


class N(collections.namedtuple("N", "f g", defaults=({c},))):
    def __new__(cls, f, g={c}):
        return super().__new__(cls, f * {c}, g)

    @property
    def fg(self):
        return self.f * self.g


class Slotted:
    __slots__ = ("s", "t")
    k = {c}

    def __init__(self, s):
        self.s = s * self.k
"""

AROUND = """\
pool = [held, E({c}), N({c}), [{c}], Slotted({c})]
net = types.SimpleNamespace(items=pool, last={last}, lists={"a": pool[3], "b": [{c}]})
local = threading.local()
local.k = {c}
data = np.ones({n})
"""

VALUES = [
    "{o}.value({a})", "{o}.p * {a}", "{o}.a + {a}", "{o}.d * 0.3", "{o}.once", "{o}({a})",
    "{o} + {a}", "{o}.half({a})", "{o}.gain * {a}", "{o}.count * {a}", "len({o}) * {a}",
    "getattr({o}, 'b', {a})", "hasattr({o}, 'b') + {a}", "{o}.made({a}).a",
    "{k}.made({a}).value({b})",
    "{k}.gain + {a}", "float({o})", "(-{o}).a", "{a} + {o}", "isinstance({o}, {k}) * {a}",
    "{o}.other * 0.1", "type({o}).gain * {a}", "super({k}, {o}).value({a})", "{a} * ({o} == {q})",
    "vars({o})['a'] * {a}", "{o}.m",
]  # fmt: skip
RECORD_VALUES = [
    "D({a}).u * {b}", "E({a}, w={b}).total({b})", "N({a}).fg * 1.0",
    "dataclasses.replace(E({a}), w={b}, k={c}).total({a})",
    "N({a}).fg + {b}", "N({a}, {b})._replace(f={b}).fg", "Slotted({a}).s", "E({a}, k={b}).u",
    "arg.total({a})", "arg.u * {a}", "arg.extra * {a}", "arg.bias + {a}", "arg.items[0] * {a}",
    "held.extra * {a}", "held.value({a})", "held.p", "held.a * {a}", "held({a})", "held.d",
    "held + {a}", "held.made({a}).a", "hasattr(held, 'late') + {a}", "len(held) * {a}",
    "getattr(held, 'late', {c}) * {a}", "sum([{a}, *D({b}).items])",
    "sum(k * {a} for k, one in enumerate(net.items) if one is net.last)", "len(data) * {a}",
    "(net.lists['a'] is net.lists['b']) + {a}", "getattr(local, 'k', {c}) * {a}", "local.k * {a}",
    "(hasattr(local, 'j') + 0.5) * {a}", "data.shape[0] * data.itemsize * {a}",
    "getattr(pool[4], 't', {c}) * {a}", "(pool[1] is net.last) * {a} + pool[1].u",
]  # fmt: skip
WRITES = [
    "held.a = np.tanh({a})", "held.p = {a}", "held.touch({a})", "held.b = {b}", "held.n += 1",
    "held.seen = x", "held.log.append({a})", "held.kept['n'] = {b}", "held.late = None",
    "held.last = [{a}, x * {c}]", "arg.u = {a}", "arg.extra = {b}", "arg.items.append({a})",
    "pool[4].s = {a}", "pool[4].t = x", "pool[1].w = {a}", "net.last = held", "del held.extra",
    "net.lists['b'].append({a})", "net.lists['a'][0] = {b}", "local.k = {a}", "held.once",
    "held.total += x", "held.count = {n}", "held.n = held.n * 2 + 1",
]  # fmt: skip
CHANGES = [
    "{k}.gain = {c}", "{k}.count = {n}", "{k}.d = Scaled({c})", "Scaled.__dict__", "del {k}.gain",
    "{k}.value = lambda self, v: v * {c} + self.gain", "held.value = lambda v: v * {c}",
    "{k}.p = property(lambda self: self.a * {c}, lambda self, v: None)", "held.a = {c}",
    "{k}.half = staticmethod(lambda v: v - {c})", "held.extra = {c}", "held.extra = {n}",
    "held.extra = np.float64({c})", "arg.u = {c}", "arg.extra = {c}", "arg.extra = {n}",
    "arg.extra = np.float64({c})", "arg.late = {c}", "E.bias = {c}", "D.bias = {c}",
    "E.total = lambda self, v: self.u * v * {c}", "arg.total = lambda v: v * {c}",
    "held.late = {c}",
    "{k}.__add__ = lambda self, v: v * {c}", "{k}.__call__ = lambda self, v: v + {c}",
    "{k}.__radd__ = lambda self, v: v * {c}", "{k}.__len__ = lambda self: {n}",
    "{k}.made = classmethod(lambda cls, v: cls(v * {c}))", "held.__class__ = {k}",
    "{k}.__getattr__ = lambda self, name: {c}", "del held.value", "del arg.extra", "del {k}.p",
    "{k}.__init__ = lambda self, a: setattr(self, 'a', a * {c})", "Slotted.k = {c}",
    "{k}.__setattr__ = lambda self, name, v: object.__setattr__(self, name, v)",
    "Scaled.__get__ = lambda self, one, cls=None: self.k * {c}", "{k}.b = {c}", "{k}.a = {c}",
    "A.made.__func__.__code__ = (lambda cls, v: cls(v * {c})).__code__", "arg.items = [{c}]",
    "held.__dict__['value'] = lambda v: v + {c}", "A.value.__code__ = (lambda self, v: v).__code__",
    "net.last = pool[{n}]", "pool[0] = net.last", "net.lists['b'] = net.lists['a']",
    "local.k = {c}", "local.j = {c}", "del local.k", "data = np.ones({n})", "pool[4].t = {c}",
    "data = np.ones({n}, np.float32)", "net.items = [*pool, pool[1]]", "del pool[4].t",
]  # fmt: skip


@dataclass(frozen=True)
class Program:
    """The text of a module, and that of the changes between its calls."""

    source: str
    changes: tuple[str, ...]


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.numbers = ["x[0]", "x[1]", "s"]
        self.objects: list[str] = []
        self.made = 0

    def text(self, template: str) -> str:
        pick = self.random.choice
        found = template
        while "{" in found and (start := self.find(found)) is not None:
            kind = found[start + 1]
            value = {
                "a": lambda: pick(self.numbers),
                "b": lambda: pick(self.numbers),
                "c": lambda: f"{self.random.uniform(0.3, 1.7):.2f}",
                "n": lambda: str(self.random.randint(1, 4)),
                "k": lambda: pick(["A", "B", "C"]),
                "o": lambda: pick(self.objects),
                "q": lambda: pick(self.objects),
            }[kind]()
            found = found[:start] + value + found[start + 3 :]
        return found

    @staticmethod
    def find(text: str) -> int | None:
        places = [i for k in "abcnkoq" if (i := text.find("{" + k + "}")) >= 0]
        return min(places, default=None)

    def family(self) -> list[str]:
        pick = self.random.choice
        parts = {
            "meta": pick(["made.b = a", "pass"]),
            "setter": pick(["def __set__(self, one, v):\n        one.a = v * self.k", "k2 = 2.0"]),
            "metaclass": pick(["", "", "(metaclass=Meta)"]),
        }
        text = FAMILY
        for name, part in parts.items():
            text = text.replace("{" + name + "}", part)
        found = [self.text(text)]
        for name, base in (("B", "A"), ("C", "B")):
            members = self.random.sample(MEMBERS, self.random.randint(1, 5))
            body = "\n\n".join(self.text(member) for member in members)
            inside = "\n".join("    " + line if line else "" for line in body.splitlines())
            found.append(f"class {name}({base}):\n{inside}\n")
        options = pick(["", "", "(frozen=True)", "(kw_only=False)"])
        more = 'object.__setattr__(self, "extra", self.u + 1.0)'
        post = pick([more, "self.items.append(self.w)"])
        text = RECORDS.replace("{options}", options).replace("{post}", post)
        found.append(self.text(text))
        state = "".join(
            f"object.__setattr__(held, {name!r}, {value})\n"
            for name, value in (("n", 0), ("log", []), ("kept", {}), ("total", "np.zeros(2)"))
        )
        found.append(self.text("held = {k}({c})\nheld.extra = {c}\n") + state)
        found.append(self.text(AROUND).replace("{last}", pick(["held", "pool[1]", "pool[4]"])))
        return found

    def number(self) -> str:
        template = self.random.choice(VALUES if self.random.random() < 0.6 else RECORD_VALUES)
        return self.text(template)

    def name(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def statement(self, depth: int = 1) -> None:
        indent, kind = "    " * depth, self.random.randint(0, 11)
        if kind <= 3:
            name = self.name("v")
            self.add(f"{indent}{name} = np.tanh({self.number()})")
            self.numbers += [name] if depth == 1 else []
        elif kind <= 6:
            target = self.text("{o}." + self.random.choice(["a", "b", "p", "extra", "d"]))
            self.add(f"{indent}{target} = np.tanh({self.number()})")
        elif kind == 7:
            self.add(indent + self.text("{o}.touch({a})"))
        elif kind > 9:
            self.add(indent + self.text(self.random.choice(WRITES)))
        elif depth < 3:
            count = self.random.choice([3, 20])
            head = [self.text("if {a} > {c} - 0.7:"), f"for k in range({count}):"]
            self.add(indent + self.random.choice(head))
            for _ in range(self.random.randint(1, 2)):
                self.statement(depth + 1)
        else:
            self.add(f"{indent}pass")

    def function(self) -> str:
        for _ in range(self.random.randint(1, 2)):
            name = self.name("o")
            self.add(f"    {name} = " + self.text("{k}({a})"))
            self.objects.append(name)
        for _ in range(self.random.randint(2, 6)):
            self.statement()
        total = " + ".join(self.number() for _ in range(3))
        return "def program(x, s, arg):\n" + "\n".join(self.lines) + f"\n    return {total}\n"


def program(seed: int) -> Program:
    """A program that plain Python runs before anything is changed, if there is one soon."""
    made = [_program(seed * TRIALS)]
    while not runs(made[-1].source) and len(made) < TRIALS:
        made.append(_program(seed * TRIALS + len(made)))
    return made[-1]


def runs(source: str, changes: tuple[str, ...] = ()) -> bool:
    """True if plain Python runs the function before anything is changed."""
    try:
        names = namespace(source)
        names["program"](np.array([0.83, -0.41]), 0.57, argument(names))
    except ERRORS:
        return False
    return True


def _program(seed: int) -> Program:
    writer = Writer(seed)
    parts = [*writer.family(), writer.function()]
    count = writer.random.randint(3, 7)
    changes = [writer.text(writer.random.choice(CHANGES)) for _ in range(count)]
    return Program("\n\n".join(parts), tuple(changes))


def executed(text: str, names: dict[str, Any]) -> None:
    """Run a text that its functions' sources are found in."""
    file = f"<objects {next(_FILES)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)


def namespace(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {
        "__name__": __name__,
        **{module.__name__: module for module in MODULES},
        "np": np,
    }
    executed(source, names)
    return names


def argument(names: dict[str, Any]) -> Any:
    """The dataclass that the function is given."""
    made = names["E"](0.9, items=[0.4])
    object.__setattr__(made, "extra", 0.6)
    return made
