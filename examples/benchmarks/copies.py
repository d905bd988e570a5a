"""Copies of arrays that the writes of a program make, and products that are not stored.

A write that cannot happen in place copies the whole array first. A product that is added to an
array, and not read elsewhere, is one operation with the addition (``axpy``; of two vectors
``ger``), and is not stored, as in the bounds of the cost of gradients (Griewank and Walther 2008,
chapter 3). `examples.benchmarks.costs` counts by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from stcompile.analysis.liveness import Moments
from stcompile.analysis.regions import Region, Repeat, Step, Tree, regions_of, unfold
from stcompile.analysis.storage import Writes, plan_writes
from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.primitives.control import Ports

COPY: Final = 2  # a copy reads each element, and writes it


@dataclass(frozen=True)
class Copies:
    """The equations, by identity, that copy an array before they write to it (``writes``); for
    loops that copy the first values of carried variables, the positions of their results
    (``loops``); for equations in loops, the names of the loops' counters in the lengths of axes
    (``counters``); the equations whose results are not stored, since an addition takes them as they
    are made (``unstored``), and the equations that read such results (``unread``)."""

    writes: frozenset[int]
    loops: Mapping[int, tuple[int, ...]]
    counters: Mapping[int, tuple[Symbol | None, ...]]
    unstored: frozenset[int]
    unread: frozenset[int]

    @classmethod
    def of(cls, program: Program) -> Copies:
        tree = unfold(program)
        planned = plan_writes(tree, Moments(tree))
        sources = {step.at: step.source for step in tree.steps}
        writes = {id(sources[at]) for at, inplace in planned.inplace.items() if not inplace}
        repeats = [item for _, item in tree.items() if isinstance(item, Repeat)]
        loops = {id(repeat.source): _copied(repeat, planned) for repeat in repeats}
        return cls(frozenset(writes), loops, dict(_counters(tree.region, ())), *_added(tree))


def _added(tree: Tree) -> tuple[frozenset[int], frozenset[int]]:
    """The equations of products that only an addition to an array reads, and of their signs; and
    the equations, additions or signs, that read a result that is not stored."""
    made: set[int] = set()
    readers: set[int] = set()
    for region, item in tree.items():
        if not isinstance(item, Step) or not _is_product(item.equation):
            continue
        chain = [item]
        while (user := _only_reader(chain[-1], region, tree)) is not None:
            chain.append(user)
            if user.equation.primitive != "negative":
                break
        *products, last = chain
        is_added = last.equation.primitive == "accumulate"
        if is_added and last.equation.inputs[1] == products[-1].equation.output:
            made.update(id(step.source) for step in products)
            readers.update(id(step.source) for step in chain[1:])
    return frozenset(made), frozenset(readers)


def _is_product(equation: Equation) -> bool:
    """True for products of elements, in which nothing is summed."""
    if equation.primitive == "contract":
        return not equation.params["contracted"]
    return equation.primitive == "multiply"


def _only_reader(step: Step, region: Region, tree: Tree) -> Step | None:
    uses = tree.uses.get(step.equation.output, ())
    user = uses[0].user if len(uses) == 1 and uses[0].region is region else None
    return user if isinstance(user, Step) else None


def _counters(
    region: Region, around: tuple[Symbol | None, ...]
) -> Iterator[tuple[int, tuple[Symbol | None, ...]]]:
    for item in region.items:
        if isinstance(item, Step):
            yield id(item.source), around
        inside = (*around, item.binds) if isinstance(item, Repeat) else around
        for inner in regions_of(item):
            yield from _counters(inner, inside)


def _copied(repeat: Repeat, writes: Writes) -> tuple[int, ...]:
    """The positions, among the results of a loop, of the values that it copies before its first
    step."""
    ports = Ports.of(repeat.source)
    pairs = zip(ports.body_carry, ports.carried, strict=True)
    changing = (place for place, (before, after) in enumerate(pairs) if before != after)
    carries = zip(changing, repeat.carry, strict=True)
    return tuple(place for place, carry in carries if carry.variable in writes.copied)
