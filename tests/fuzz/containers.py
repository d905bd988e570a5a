"""Containers in random programs: lists, dicts, tuples and objects that hold numbers and arrays.

A container keeps its structure whatever path is taken: it gets further items in the block that made
it only, or loses them again before the block ends. Its places are read and assigned to as names
are: they are among the scalars and vectors of the scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.control import Scope, Writer

LETTERS = {"numbers": "l", "arrays": "h", "dict": "d", "object": "o", "tuple": "t"}
SEVERAL = ("numbers", "arrays")  # the kinds that may have any number of items

MADE = {
    "dict": [
        '{{"p": {a}, "q": {b}, "v": {u}}}', "dict(p={b} * {c}, q={a}, v={u})", "bag({b}, {u})",
        "dict(zip('pqv', ({a}, {c} * {b}, {u})))",
    ],
    "object": ["Pair({a}, {b}, {u})", "Point({b}, {a}, {u})", "Pair(p={b}, v={u}, q={c} * {a})"],
    "tuple": ["({a}, {b}, {u})", "({c} * {a}, 0.5, {u})"],
}  # fmt: skip
CHANGES = {
    "numbers": [
        "{n}.append({n}.pop(0) * 0.9)", "{n}.insert(0, {n}.pop() + {c})", "{n}.reverse()",
        "{n}[0], {n}[-1] = {n}[-1], {n}[0]", "{n}[:] = [z * 0.8 + {c} for z in {n}]",
        "shift({n}, {a})", "lift({n}, {a})", "{n} = [z * 0.9 for z in {n}]", "{n} = list({n})",
        "{n} = [{a}, *{n}[1:]]", "{n} = {n}[1:] + [{a}]", "{n}.sort()", "{n} = sorted({n})",
        "{n}.sort(key=lambda z: -z)", "{n}[0] = (z4 := {a}) * z4", "{n}[-1] += {a} * 0.2",
        "{n}[0] = {a}",
    ],
    "arrays": [
        "{n}.append({n}.pop(0))", "{n}.reverse()", "{n}[0], {n}[-1] = {n}[-1], {n}[0]",
        "{n} = [z * 0.9 for z in {n}]", "{n} = [{w} * 0.5, *{n}[1:]]", "{n}.insert(0, {n}.pop())",
        "{n}[0] = {n}[-1] * 0.7 + {a}", "{n}[-1] = np.sin({n}[0])",
    ],
    "dict": [
        "{n}.update(p={a})", '{n}["p"], {n}["q"] = {n}["q"], {n}["p"]', "{n} = dict({n}, q={a})",
        '{n} = {{**{n}, "p": {a} * {c}}}', "bump({n}, {a})", "{n} = {n}.copy()",
        '{n}["q"] = {n}.pop("q") * 0.9', '{n}["v"] = {n}["v"] * {a}', "{n} = bag({n}['q'], {w})",
        '{n} |= {{"q": {a}}}',
    ],
    "object": [
        "{n}.p, {n}.q = {n}.q, {n}.p", "turn({n}, {a})", "{n}.move({a})",
        "{n}.p = {n}.norm() * {c}", "{n}.v = {n}.v * {a}",
        "{n} = Pair({n}.q, {n}.p, {n}.v * 0.9)", "{n} = {n}.moved({a})",
        "{n}.q += {n}.p * 0.3", "turn({n}, {n}.q)",
    ],
    "tuple": [
        "{n} = ({n}[1], {n}[0], {n}[2])", "{n} = turned({n}, {a})", "{n} = ({a}, *{n}[1:])",
        "{n} = ({n}[0] * 0.9, {n}[1] + {c}, {n}[2] * {a})",
    ],
}  # fmt: skip
WRITES = {
    "arrays": ["for z in {n}:\n{indent}    z *= 0.9", "put({n}[-1], {a})", "{n}[-1][{i}] = {a}"],
    "dict": ['put({n}["v"], {a})', '{n}["v"][1:] += {n}["p"] * 0.1'],
    "object": ["put({n}.v, {a})", "{n}.v[{i}] = {n}.p"],
}
READS = {
    "numbers": [
        "sum({n}) * 0.1", "max({n})", "min({n})", "{n}[-1] * {n}[0]", "np.mean(np.array({n}))",
        "sum([z * z for z in {n}]) * 0.1", "len({n}) * {a} * 0.1", "np.max(np.stack({n}))",
        "sum(z * y for z, y in zip({n}, x))", "sum({n}[1:]) * {c}",
    ],
    "arrays": [
        "np.sum(np.stack({n})) * 0.1", "sum({n})[1] * 0.3", "sum([z @ x for z in {n}]) * 0.1",
        "{n}[0] @ {n}[-1] * 0.2", "np.max(np.concatenate({n}))",
    ],
    "dict": [
        "sum([np.sum(z) for z in {n}.values()]) * 0.1", '{n}.get("p", 0.0) * {c}',
        '{n}["p"] * {n}["q"] if "p" in {n} else 0.0',
    ],
    "object": ["{n}.norm() * 0.1", "{n}.p * {n}.q", "max({n}.p, {n}.q, {a})"],
    "tuple": ["{n}[0] * {n}[1]", "sum({n}[:2]) * 0.5"],
}  # fmt: skip

HELPERS = {
    "shift": [
        "def shift(items, a):\n    items.append(a * 0.5)\n    return items.pop(0)",
        "def shift(items, a):\n    last = items.pop()\n    if a > {c}:\n"
        "        items.insert(0, last)\n    else:\n        items.append(a * last)",
    ],
    "lift": [
        "def lift(items, a):\n    for k in range(len(items)):\n        if a > items[k]:\n"
        "            items[k] = a\n            return\n        items[k] += 0.1",
        "def lift(items, a):\n    for k, z in enumerate(items):\n        if z < {c}:\n"
        "            items[k] = z * 0.5 + a\n        elif a > {c}:\n            items[k] = a",
    ],
    "bag": [
        "def bag(a, v):\n    return {{'p': a, 'q': a * {c}, 'v': v * 0.9}}",
        "def bag(a, v):\n    made = {{}}\n    made['p'] = a\n    made['q'] = {c} - a\n"
        "    if a > {c}:\n        made['p'] = a * 0.5\n        made['v'] = v + a\n    else:\n"
        "        made['v'] = v * {c}\n    return made",
    ],
    "bump": [
        "def bump(bag, a):\n    if bag['p'] < a:\n        bag['p'] = a\n"
        "        bag['v'] = bag['v'] * 0.9\n    else:\n        bag['q'] = bag['q'] + {c}",
        "def bump(bag, a):\n    for k in range({long}):\n"
        "        bag['p'] = bag['p'] * 0.9 + a * 0.1\n        if bag['p'] > {c}:\n"
        "            bag['q'] = bag['p'] * 0.5\n    return bag",
        "def bump(bag, a):\n    k = 0\n    while k < 3 and bag['p'] > {c}:\n        k += 1\n"
        "        bag['p'], bag['q'] = bag['q'] * 0.8 - 0.1, bag['p'] + a * 0.1",
    ],
    "turn": [
        "def turn(it, a):\n    if a > {c}:\n        it.p, it.q = it.q, it.p * 0.9\n    else:\n"
        "        it.v = it.v * 0.5 + a",
        "def turn(it, a):\n    for k in range({short}):\n        if it.p > {c}:\n"
        "            it.p = it.p * a\n            return it.q\n        it.q = it.q + a * 0.3\n"
        "    return it.p",
    ],
    "turned": [
        "def turned(three, a):\n    p, q, v = three\n    if p > q:\n        return q, p, v\n"
        "    return p * {c}, a, v * 0.9",
        "def turned(three, a):\n    p, *others = three\n    if a > {c}:\n        p = p * a\n"
        "    return (others[0], p, others[1])",
    ],
    "Point": [
        "class Point:\n    def __init__(self, p, q, v):\n        self.p = p\n        self.q = q\n"
        "        self.v = v\n\n    def move(self, a):\n        if self.p < a:\n"
        "            self.p += a * 0.5\n        else:\n            self.v = self.v * {c}\n\n"
        "    def moved(self, a):\n        other = Point(self.q, self.p, self.v * 0.9)\n"
        "        other.move(a)\n        return other\n\n    def norm(self):\n"
        "        return self.p * self.p + np.sum(self.v) * 0.1",
        "@dataclasses.dataclass(slots=True)\nclass Point:\n    p: float\n    q: float\n"
        "    v: np.ndarray\n\n    def move(self, a):\n        self.p, self.q = self.q * 0.9, a\n\n"
        "    def moved(self, a):\n        return dataclasses.replace(self, q=a, v=self.v * {c})\n\n"
        "    def norm(self):\n        return self.p * self.q if self.p > {c} else self.v[0]",
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Held:
    """A container that a name, or a place of another container, holds."""

    name: str
    kind: str
    size: int  # of a list
    depth: int  # of the block that made it: there it may grow
    owned: bool  # its arrays are the program's own

    @property
    def scalars(self) -> tuple[str, ...]:
        if self.kind in SEVERAL:
            return tuple(map(self.place, range(self.size))) if self.kind == "numbers" else ()
        return (self.place(0), self.place(1))

    @property
    def vectors(self) -> tuple[str, ...]:
        if self.kind in SEVERAL:
            return tuple(map(self.place, range(self.size))) if self.kind == "arrays" else ()
        return (self.place(2),)

    def place(self, index: int) -> str:
        by_index = [*"pqv"]
        if self.kind == "dict":
            return f'{self.name}["{by_index[index]}"]'
        return (
            f"{self.name}.{by_index[index]}" if self.kind == "object" else f"{self.name}[{index}]"
        )

    def fits(self, other: Held) -> bool:
        """True if one may take the place of the other."""
        return (self.kind, self.size, self.owned) == (other.kind, other.size, other.owned)


def assignable(names: Sequence[str]) -> list[str]:
    """The names and places that are not of a tuple."""
    return [name for name in names if not name.startswith("t")]


class Containers:
    """Writes the statements about containers of a program."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.pick, self.chance, self.add = writer.pick, writer.chance, writer.add

    def hold(self, scope: Scope, held: Held) -> Scope:
        """The scope with a container: its places may be read."""
        writeable = held.owned and held.kind != "tuple"
        return replace(
            scope,
            held=(*scope.held, held),
            scalars=(*scope.scalars, *held.scalars),
            vectors=(*scope.vectors, *held.vectors),
            owned=(*scope.owned, *held.vectors) if writeable else scope.owned,
        )

    def text(self, template: str, scope: Scope, name: str = "") -> str:
        return self.writer.fill(template, scope, n=name, indent="    " * self.writer.indent)

    def array(self, scope: Scope, owned: bool) -> str:
        return self.writer.vector(scope) if owned or self.chance(0.5) else self.pick(*scope.vectors)

    def value(self, scope: Scope, held: Held) -> str:
        """A new container like one."""
        if held.kind == "numbers":
            made = [self.pick("{a}", "{a} * {c}", "{b} + {c}", "0.5") for _ in range(held.size)]
            text = self.text(f"[{', '.join(made)}]", scope)
            if held.size == 4 and self.chance(0.5):
                text = self.text(self.pick("list({v})", "[z * {c} for z in {v}]"), scope)
            return text if self.chance(0.9) else f"[0.0] * {held.size}"
        if held.kind == "arrays":
            items = ", ".join(self.array(scope, held.owned) for _ in range(held.size))
            return f"[{items}]"
        template = self.pick(*MADE[held.kind])
        return self.writer.fill(template, scope, u=self.array(scope, held.owned))

    def new(self, scope: Scope) -> Scope:
        """A container, or two of them in another one."""
        if self.chance(0.2):
            return self.nested(scope)
        kind = self.pick(*LETTERS)
        name = self.writer.name(LETTERS[kind])
        held = self.like(kind, name, scope)
        self.add(f"{name} = {self.value(scope, held)}")
        return self.hold(scope, held)

    def like(self, kind: str, name: str, scope: Scope) -> Held:
        size = self.pick(2, 2, 3, 4) if kind == "numbers" else 2
        return Held(name, kind, size, scope.depth, self.chance(0.7))

    def nested(self, scope: Scope) -> Scope:
        name = self.writer.name("n")
        kinds = [self.pick("numbers", "arrays", "dict", "object") for _ in range(2)]
        if self.chance(0.5):
            kinds[1] = kinds[0]
        keys = self.pick(("0", "1"), ('"a"', '"b"'))
        parts = [
            self.like(kind, f"{name}[{key}]", scope) for kind, key in zip(kinds, keys, strict=True)
        ]
        one, other = (self.value(scope, part) for part in parts)
        as_dict = f"{{{keys[0]}: {one}, {keys[1]}: {other}}}"
        self.add(f"{name} = {f'[{one}, {other}]' if keys[0] == '0' else as_dict}")
        for part in parts:
            scope = self.hold(scope, part)
        return scope

    def some(self, scope: Scope, *kinds: str) -> Held | None:
        found = [held for held in scope.held if not kinds or held.kind in kinds]
        return self.pick(*found) if found else None

    def change(self, scope: Scope) -> Scope:
        """A change of what is in a container, by a helper or a method perhaps."""
        held = self.some(scope)
        if held is None:
            return self.new(scope)
        templates = CHANGES[held.kind]
        if held.owned and held.kind in WRITES and self.chance(0.4):
            templates = WRITES[held.kind]
        self.add(self.text(self.pick(*templates), scope, held.name))
        return scope

    def read(self, scope: Scope) -> Scope:
        """A number from all of a container."""
        held = self.some(scope)
        if held is None:
            return self.new(scope)
        name = self.writer.name("a")
        if held.kind == "tuple" and self.chance(0.5):
            other = self.writer.name("a")
            self.add(f"{name}, {other}, _ = {held.name}")
            return replace(scope, scalars=(*scope.scalars, name, other))
        if held.kind == "numbers" and self.chance(0.3):
            rest = replace(held, name=self.writer.name("l"), size=held.size - 1, depth=scope.depth)
            self.add(f"{name}, *{rest.name} = {held.name}")
            return self.hold(replace(scope, scalars=(*scope.scalars, name)), rest)
        self.add(f"{name} = {self.text(self.pick(*READS[held.kind]), scope, held.name)}")
        return replace(scope, scalars=(*scope.scalars, name))

    def rebind(self, scope: Scope) -> Scope:
        """A second name, a name for another container of the same structure, or an exchange."""
        held = self.some(scope)
        if held is None:
            return self.new(scope)
        others = [other for other in scope.held if other.fits(held) and other != held]
        way = self.pick("alias", "fresh", "exchange", "other")
        if way == "alias" or (not others and way != "fresh"):
            name = self.writer.name(LETTERS[held.kind])
            self.add(f"{name} = {held.name}")
            return self.hold(scope, replace(held, name=name))
        if way == "fresh":
            self.add(f"{held.name} = {self.value(scope, held)}")
            return scope
        other = self.pick(*others)
        if way == "exchange":
            self.add(f"{held.name}, {other.name} = {other.name}, {held.name}")
        elif self.chance(0.2):
            self.add(f"{held.name} = {other.name} if {self.writer.test(scope)} else {held.name}")
        else:
            self.add(f"{held.name} = {other.name}")
        return scope

    def grow(self, scope: Scope) -> Scope:
        """An item more: for good in the block that made the list, else until it is popped."""
        held = self.some(scope, *SEVERAL)
        if held is None:
            return self.new(scope)
        item = self.text("{a}", scope) if held.kind == "numbers" else self.array(scope, held.owned)
        append = self.pick("{}.append({})", "{}.extend([{}])", "{}.insert(0, {})", "{} += [{}]")
        if held.depth == scope.depth and self.chance(0.7):
            if self.chance(0.4):
                self.either(scope, append.format(held.name, item), held)
            else:
                self.add(append.format(held.name, item))
            grown = [replace(h, size=h.size + 1) if h == held else h for h in scope.held]
            last = (held.place(held.size),)
            if held.kind == "numbers":
                return replace(scope, held=tuple(grown), scalars=(*scope.scalars, *last))
            owned = (*scope.owned, *last) if held.owned else scope.owned
            return replace(scope, held=tuple(grown), vectors=(*scope.vectors, *last), owned=owned)
        self.add(f"{held.name}.append({item})")
        if self.chance(0.5):
            self.change(scope)
        name = self.writer.name("a" if held.kind == "numbers" else "v")
        self.add(f"{name} = {held.name}.pop({self.pick('', '', '0')})")
        if held.kind == "numbers":
            return replace(scope, scalars=(*scope.scalars, name))
        return replace(scope, vectors=(*scope.vectors, name))

    def either(self, scope: Scope, append: str, held: Held) -> None:
        """A branch that appends on both paths."""
        item = self.text("{b}", scope) if held.kind == "numbers" else self.array(scope, held.owned)
        self.add(f"if {self.writer.test(scope)}:")
        with self.writer.block():
            self.add(append)
            self.writer.changed(scope)
        self.add("else:")
        with self.writer.block():
            self.add(f"{held.name}.append({item})")

    def loop(self, scope: Scope) -> Scope:
        """A loop over the items of a container."""
        held = self.some(scope, "numbers", "arrays", "dict")
        if held is None or scope.trips * held.size > 100:
            return self.new(scope)
        k = self.writer.name("k")
        item = f"e{k}"
        if held.kind == "arrays":
            head = self.pick(f"for {item} in {held.name}:", f"for {item} in reversed({held.name}):")
            inner = replace(scope, vectors=(*scope.vectors, item))
            if held.owned:
                inner = replace(inner, owned=(*inner.owned, item))
            self.writer.loop(inner, head, held.size)
        elif held.kind == "dict":
            self.dict_loop(scope, held.name, k)
        else:
            name, a = held.name, self.pick(*scope.scalars)
            head, counters = self.pick(
                (f"for {item} in {name}:", ()),
                (f"for {item} in map(np.sin, {name}):", ()),
                (f"for {item} in ({item} * {a} for {item} in {name}):", ()),
                (f"for {k}, {item} in enumerate({name}):", (k,)),
                (f"for {k}, {item} in enumerate(reversed({name})):", (k,)),
                (f"for {k}, {item} in zip(range(2), {name}):", (k,)),
            )
            first = self.text(f"{name}[{k}] = {item} * 0.9 + {{c}}", scope) if counters else ""
            self.writer.loop(scope, head, held.size, counters, (item,), first)
        return scope

    def dict_loop(self, scope: Scope, name: str, k: str) -> None:
        """A loop over some keys of a dict, or over all that is in it."""
        key = f"e{k}"
        if self.chance(0.5):
            head, place = f"for {key} in {self.pick('p', 'q'), 'p'}:", f"{name}[{key}]"
            first = self.text(f"{place} = {place} * 0.9 + {{a}} * 0.2", scope)
            self.writer.loop(scope, head, 2, (), (place,), first)
        else:
            place = f"{name}['p' if {key} == 'q' else 'q']"
            first = self.text(f"{place} = np.sum(d{k}) * 0.2 + {{a}} * 0.1", scope)
            head = f"for {key}, d{k} in {name}.items():"
            self.writer.loop(scope, head, 3, (), (place,), first)
