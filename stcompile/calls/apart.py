"""The arguments of a call, with the objects that it differentiates by taken apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from stcompile.base import trees
from stcompile.base.errors import ExportError
from stcompile.base.fields import Same
from stcompile.base.opening import Opening, joined_places
from stcompile.calls.arguments import Arguments, Wrt, chosen, is_apart, split
from stcompile.wengert.staged import Leaf, Staged


def paths_of(arguments: Arguments, wrt: Wrt) -> dict[str, list[trees.Path]]:
    """The paths that ``wrt`` chooses, by argument."""
    found: dict[str, list[trees.Path]] = {}
    for which in chosen(wrt):
        name = arguments.name_of(which)
        if name is not None:
            found.setdefault(name, []).append(split(which)[1])
    return found


def apart(arguments: Arguments, wrt: Wrt, state: Collection[tuple[type, str]] = ()) -> Arguments:
    """The arguments, with `Fields` for the objects that ``wrt`` leads to, and without the
    attributes that are ``state`` (see `Opening`); `ArgumentsError` for an object that cannot be
    taken apart."""
    wanted = paths_of(arguments, wrt)
    try:
        opening = Opening(state)
        if not any(opening.has_objects(arguments.values[name]) for name in wanted):
            return arguments
        values = {
            name: opening.opened(name, value, wanted.get(name, ()))
            for name, value in arguments.values.items()
        }
    except RecursionError:  # told of where the signature is made
        return arguments
    return replace(arguments, values=values)


def check_example(at: Arguments, wrt: Wrt, staged: Staged) -> None:
    """Refuse to write a file for a call whose arguments cannot be written as an example."""
    if any(split(which)[1] for which in chosen(wrt)):
        raise ExportError(
            f"the gradient by a part of an argument, wrt={wrt!r}, is not exported",
            hint="let `wrt` name the argument",
        )
    if not is_apart(at.values):
        return
    leaves = (leaf for value in at.values.values() for _, leaf in trees.leaves(value))
    others = [trees.show_path(name, path) for name, path, _ in staged.beside]
    if others or any(isinstance(leaf, Same) for leaf in leaves):
        what = f"reads {others[0]}" if others else "has an array or an object in two places"
        raise ExportError(
            f"an object {what}, which the file cannot write as an example",
            hint="export a function of its arrays",
        )


def places_in(at: Arguments, wrt: Wrt) -> Iterator[tuple[str, trees.Path]]:
    """The places of the parts of arguments that ``wrt`` chooses. An object or array that stands in
    several places has the first of them."""
    numbered = joined_places(at.values)
    for which in chosen(wrt):
        name, rest = at.name_of(which), split(which)[1]
        assert name is not None
        place: tuple[str, trees.Path] = name, ()
        for step in rest:
            place = place[0], (*place[1], step)
            found = trees.follow(at.values[place[0]], place[1])
            place = numbered[found.number] if isinstance(found, Same) else place
        yield place


def is_chosen(leaf: Leaf, at: Arguments, places: Sequence[tuple[str, trees.Path]]) -> bool:
    """True for a leaf of the arguments that there is a derivative by."""
    if not any(leaf.argument == n and leaf.path[: len(p)] == p for n, p in places):
        return False
    type_ = leaf.variable.type
    return type_.inexact if is_apart(at.values[leaf.argument]) else type_.kind != "object"
