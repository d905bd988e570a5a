"""Versions of arrays, the elements that are written to them, and what putting them back costs."""

# ruff: noqa: E501
from __future__ import annotations

import textwrap
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from stcompile.ad.restoring import Restoring, _makers, _versions, _written, pairs_of
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program

A = "f64[4,3]"
OPERANDS = f"p: bool, k: int, r: i64[5], m: b8[4], n: b8[4,3], x: {A}, y: {A}, z: {A}"
GIVEN = "p, k, r, m, n"
WRITES = (
    ("update({v}, 1.0; drop=(), length=(2, 3), start=((3,), (0,)), step=(-2, 1))", 6),
    ("update({v}, 1.0, k; drop=(0,), length=(1, 2), start=((0, 1), (0, 0)), step=(1, 2))", 2),
    (
        "accumulate({v}, 1.0, k, k; drop=(0, 1), length=(1, 1), op='slice', start=((0, 1, 0), (0, 0, 1)), step=(1, 1))",
        1,
    ),
    ("index_update({v}, 1.0, k; at=('index',))", 3),
    ("index_update({v}, 1.0, k, r; at=('index', 'index'))", 5),
    ("index_update({v}, 1.0, m; at=(('mask', 2, 1),))", 6),
    ("accumulate({v}, 1.0, r; at=('index',), op='index')", 15),
    ("accumulate({v}, 1.0, k, k; at=('index', 'index'), op='distinct')", 1),
)
OTHERS = (
    "sin({v})",
    "copy({v})",
    "index_update({v}, 1.0, n; at=(('mask', None, 2),))",
    "slice({v}; drop=(), length=(4, 3), start=((3,), (0,)), step=(-1, 1))",
)


class Version(NamedTuple):
    root: str
    written: int


Known = dict[str, Version]


class Drawn:
    """A list of writes to arrays, and of other equations, in loops and in branches."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.count = rng, 0
        self.stacks: list[str] = []  # of the values of all steps

    def name(self) -> str:
        self.count += 1
        return f"a{self.count}"

    def block(self, known: Known, depth: int) -> str:
        """Some equations; the versions that they make go to ``known``."""
        lines = []
        for _ in range(self.rng.randint(1, 4)):
            old, kind = self.rng.choice([*known]), self.rng.random()
            if kind < 0.5 or not depth:
                text, size = self.rng.choice(WRITES)
                new = self.name()
                known[new] = Version(known[old].root, known[old].written + size)
                lines.append(f"{new}: {A} = {text.format(v=old)}")
            elif kind < 0.6:
                new = self.name()
                known[new] = Version(new, 0)
                lines.append(f"{new}: {A} = {self.rng.choice(OTHERS).format(v=old)}")
            else:
                make = self.branches if kind < 0.75 else self.loop
                lines.append(make(known, depth - 1))
        return "\n".join(lines)

    def program(
        self, name: str, operands: str, own: str, first: str, depth: int
    ) -> tuple[str, list[Version]]:
        """A program of the arrays ``own``, the versions it returns, and first of all ``first``."""
        known = {x: Version(x, 0) for x in own}
        lines = self.block(known, depth)
        # an array's own version is what is returned at its place, but for some
        results = [
            self.rng.choice([v for v in known if known[v].root == x or self.rng.random() < 0.1])
            for x in own
        ]
        arrays = ", ".join(f"{x}: {A}" for x in own)
        body = textwrap.indent(f"{lines}\nreturn {first}{', '.join(results)}", "  ")
        return f"program {name}({operands}{arrays}) {{\n{body}\n}}", [known[v] for v in results]

    def branches(self, known: Known, depth: int) -> str:
        given = self.rng.sample([*known], 2) if len(known) > 1 else [*known] * 2
        operands = "k: int, r: i64[5], m: b8[4], n: b8[4,3], "
        then, ones = self.program("then", operands, "uv", "", depth)
        otherwise, others = self.program("otherwise", operands, "uv", "", depth)
        outputs = []
        for one, other in zip(ones, others, strict=True):
            new = self.name()
            outputs.append(f"{new}: {A}")
            known[new] = Version(new, 0)
            if one.root == other.root and one.root in "uv":
                root, written = known[given["uv".index(one.root)]]
                known[new] = Version(root, written + max(one.written, other.written))
        return f"{', '.join(outputs)} = cond({GIVEN}, {', '.join(given)}; then={then}, otherwise={otherwise})"

    def loop(self, known: Known, depth: int) -> str:
        given = self.rng.sample([*known], 2) if len(known) > 1 else [*known] * 2
        steps, is_while = self.rng.randint(2, 4), self.rng.random() < 0.3
        counter = "" if is_while else "i: int, "
        operands = f"p: bool, k: int, r: i64[5], m: b8[4], n: b8[4,3], {counter}s: f64, "
        own = "uv" if is_while or self.rng.random() < 0.5 else "uvw"
        body, found = self.program("body", operands, own, "s, ", depth)
        outputs = [f"{self.name()}: f64"]
        for at in range(len(own)):
            new = self.name()
            known[new] = Version(new, 0)
            outputs.append(f"{new}: {A}" if at < 2 else f"{new}: f64[{steps},4,3]")
            if at < 2 and found[at].root == own[at]:
                root, written = known[given[at]]
                times = 1 if is_while else steps
                known[new] = Version(root, written + times * found[at].written)
            elif at == 2:
                del known[new]
                self.stacks += [new] * (depth == 0)
        length = f"length={None if is_while else steps}"
        if is_while:
            arrays = f"u: {A}, v: {A}"
            length += f", condition=program condition({operands}{arrays}) {{\n  return p\n}}"
        xs = "" if len(own) == 2 else f", z{steps}"
        inputs = f"{GIVEN}, 1.0, {', '.join(given)}{xs}"
        return f"{', '.join(outputs)} = loop({inputs}; carry=3, constants=5, {length}, body={body})"


STACKS = ", ".join(f"z{n}: f64[{n},4,3]" for n in (2, 3, 4))


def test_versions() -> None:
    rng = Random(4)
    nested = 0
    for _ in range(150):
        drawn = Drawn(rng)
        known = {x: Version(x, 0) for x in "xyz"}
        lines = drawn.block(known, 1)
        results = rng.sample([*known], 3)
        program = parse_program(
            f"program f({OPERANDS}, {STACKS}) {{\n{lines}\nreturn {', '.join([*results, 'k', *drawn.stacks])}\n}}"
        )
        places = {v.name: at for at, v in enumerate(program.inputs)}
        wanted = {
            (places[known[v].root], at) for at, v in enumerate(results) if known[v].root in "xyz"
        }
        assert set(pairs_of(program)) == wanted
        nested += len(wanted) * lines.count("loop(")
        for at, result in enumerate(results):
            assert _written(program, at) == known[result].written
    assert nested > 50


VIEWS = (
    ("slice({v}, k; drop=(0,), length=(1, 3), start=((0, 1), (0, 0)), step=(1, 1))", "f64[3]", 3),
    ("slice({v}; drop=(), length=(2, 3), start=((3,), (0,)), step=(-2, 1))", "f64[2,3]", 6),
    ("transpose({v}; axes=(1, 0))", "f64[3,4]", 12),
)


def restoring(program: Program, fixed: Any) -> Restoring:
    sweep: Any = SimpleNamespace(tape=SimpleNamespace(steps=program.equations), states={})
    return Restoring(sweep, program.inputs, program.outputs, fixed, lambda *_: None)


def test_what_is_kept_and_what_is_put_back() -> None:
    """Putting back pays if the parts, twice, are fewer elements than what is read of versions."""
    rng, seen = Random(9), set()
    for _ in range(300):
        lines, last, parts = [], "x", 0
        sizes = {"x": 12}  # of what is kept for a read
        is_fixed = rng.random() < 0.5
        for n in range(rng.randint(1, 4)):
            if rng.random() < 0.5:
                text, dims, size = rng.choice(VIEWS)
                lines.append(f"v{n}: {dims} = {text.format(v=last)}")
                sizes[f"v{n}"] = 12 if is_fixed and last == "x" else size
                if rng.random() < 0.3 and dims != "f64[3]":
                    text = "slice({v}; drop=(0,), length=(1, 2), start=((1,), (0,)), step=(1, 1))"
                    lines.append(f"w{n}: f64[2] = {text.format(v=f'v{n}')}")
                    sizes[f"w{n}"] = 12 if is_fixed and last == "x" else 2
            text, size = rng.choice(WRITES)
            lines.append(f"x{n}: {A} = {text.format(v=last)}")
            last, parts = f"x{n}", parts + size
            sizes[last] = 12
        lines.append(f"c: {A} = copy({last})")
        body = "\n  ".join(lines)
        program = parse_program(f"program f({OPERANDS}) {{\n  {body}\n  return {last}\n}}")
        variables = {v.name: v for e in program.equations for v in e.outputs}
        variables |= {v.name: v for v in program.inputs}
        read = rng.sample([*sizes], rng.randint(1, len(sizes)))
        kept = sum(sizes[name] for name in read)
        read += rng.sample(["c", "y", "r"], 2)
        versions = _versions(_makers(program.equations), variables[last])
        assert versions[0].name == "x"
        own = restoring(program, {variables["x"]} if is_fixed else ())
        pays = own._pays(versions, {variables[name] for name in read})
        assert pays == (2 * parts < kept)
        seen.add(max(-1, min(1, 2 * parts - kept)))
    assert seen == {-1, 0, 1}
