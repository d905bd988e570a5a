"""The arguments of a call, with the objects that it differentiates by taken apart."""

from __future__ import annotations

from dataclasses import replace

from stcompile.base import trees
from stcompile.base.opening import Opening
from stcompile.calls.arguments import Arguments, Wrt, chosen, split


def paths_of(arguments: Arguments, wrt: Wrt) -> dict[str, list[trees.Path]]:
    """The paths that ``wrt`` chooses, by argument."""
    found: dict[str, list[trees.Path]] = {}
    for which in chosen(wrt):
        name = arguments.name_of(which)
        if name is not None:
            found.setdefault(name, []).append(split(which)[1])
    return found


def apart(arguments: Arguments, wrt: Wrt) -> Arguments:
    """The arguments, with `Fields` for the objects that ``wrt`` leads to; `ArgumentsError` for an
    object that cannot be taken apart."""
    wanted = paths_of(arguments, wrt)
    try:
        opening = Opening()
        if not any(opening.has_objects(arguments.values[name]) for name in wanted):
            return arguments
        values = {
            name: opening.opened(name, value, wanted.get(name, ()))
            for name, value in arguments.values.items()
        }
    except RecursionError:  # told of where the signature is made
        return arguments
    return replace(arguments, values=values)
