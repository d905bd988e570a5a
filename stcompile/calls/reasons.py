"""Reasons why a function is compiled, in words: for the log and for `st.on_compile`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stcompile.base import trees
from stcompile.base.containers import ITEMIZED
from stcompile.base.wording import an
from stcompile.calls.arguments import Arguments
from stcompile.calls.callee import SignatureKey
from stcompile.calls.specialisation import Specialisation

SHOWN = 3  # differences that are told


def reason_for(
    key: SignatureKey,
    known: Mapping[SignatureKey, Sequence[Specialisation]],
    arguments: Arguments,
) -> str:
    """The reason why a call is compiled although others were: the most similar signature is
    compared with it, or the values that were captured."""
    if not known:
        return "the first call"
    if known.get(key):
        changed = known[key][0].changed(arguments)
        return _listed([f"{place} has changed" for place in changed])
    told = [list(_between(other, key, [*arguments.values])) for other in known]
    return _listed(min(told, key=len))


def _listed(differences: Sequence[str]) -> str:
    more = len(differences) - SHOWN
    shown = "; ".join(differences[:SHOWN])
    return f"{shown}; and {more} more" if more > 0 else shown


def _between(old: SignatureKey, new: SignatureKey, names: Sequence[str]) -> Iterator[str]:
    """The differences of two signatures."""
    if old[:2] != new[:2] or len(old[2]) != len(new[2]):
        given = [", ".join((*key[0], *(f"{name}=" for name in key[1]))) for key in (new, old)]
        yield f"it is given ({given[0]}), and was given ({given[1]})"
        return
    for name, one, other in zip(names, old[2], new[2], strict=True):
        yield from _parts(name, one, other)


def _parts(shown: str, old: Any, new: Any) -> Iterator[str]:
    if old == new:
        return
    if old[0] == new[0] == "structure" and old[1:4] == new[1:4]:
        kind = "item" if old[1] in ITEMIZED else "attribute"
        for step, one, other in zip(old[2], old[4], new[4], strict=True):
            yield from _parts(trees.show_path(shown, ((kind, step),)), one, other)
        return
    told = [_described(key) for key in (new, old)]
    if told[0] == told[1]:
        is_array = old[0] == "array"
        yield f"{shown} is {'arranged in another way' if is_array else 'another one'}"
    else:
        yield f"{shown} is {told[0]}, and was {told[1]}"


def _described(key: Any) -> str:
    tag, *rest = key
    if tag == "array":
        return f"{rest[0]} {rest[1]}"
    if tag == "static":
        return repr(rest[1])
    if tag == "object":
        value = rest[0].value
        name = getattr(value, "__qualname__", None)
        return f"`{name}`" if name else an(type(value).__name__)
    if tag == "same":
        return "one that is there before"
    if tag == "number":
        return an(rest[0].__name__)
    return f"{an(rest[0].__name__)} of {len(rest[1])}"
