"""Classes whose objects are taken apart in a way of their own (`register_structure`)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError

TakeApart: TypeAlias = "Callable[[Any], tuple[Mapping[str, Any], Any]]"
PutTogether: TypeAlias = "Callable[[Any, Any], Any]"


@dataclass(frozen=True)
class Way:
    """A way to take objects of a class apart: by the ``names`` of attributes, or by functions."""

    names: tuple[str, ...] = ()
    take_apart: TakeApart | None = None
    put_together: PutTogether | None = None


_REGISTERED: Final[MutableMapping[type, Way]] = weakref.WeakKeyDictionary()
_MARKS: Final[Mapping[str, Callable[[Any], Sequence[str]]]] = {  # what other libraries leave
    "__attrs_attrs__": lambda cls: [field.name for field in cls.__attrs_attrs__],
    "__pydantic_fields__": lambda cls: [*cls.__pydantic_fields__],
}


@public
def register_structure(
    cls: type,
    parts: Sequence[str] | TakeApart,
    put_together: PutTogether | None = None,
) -> None:
    """Say what derivatives are by in the objects of a class, and of its subclasses.

    Without this it is all attributes of an object that hold floating-point arrays and numbers; of
    a class of attrs and of a model of pydantic, the fields that do. ``parts`` are the names of the
    attributes to take instead. For objects that hold their arrays in another way, ``parts`` is a
    function from an object to a dict of its parts by name and a hashable value with all else, and
    ``put_together(parts, rest)`` makes an object of both; it is compiled as a part of the program.
    Derivatives come as a `types.SimpleNamespace` of the parts. Say it before the first call.
    `ArgumentsError` if it is not a class, or if a function comes without the other.

    >>> import stcompile as st, numpy as np
    >>> class Model:
    ...     def __init__(self):
    ...         self.w, self.rate = np.ones(2), 0.1
    >>> st.register_structure(Model, ["w"])
    >>> loss = lambda model, x: model.rate * np.sum(model.w * x)
    >>> st.grad(loss, wrt="model")(Model(), np.ones(2))  # doctest: +SKIP
    namespace(w=array([0.1, 0.1]))
    """
    if not isinstance(cls, type):
        raise ArgumentsError(f"{cls!r} is no class", hint="register the class of the objects")
    if callable(parts) != (put_together is not None):
        raise ArgumentsError(
            "a function that takes objects apart goes with one that puts them together, names of "
            "attributes go alone",
            hint="st.register_structure(cls, take_apart, put_together), or (cls, ['W', 'b'])",
        )
    if callable(parts):
        _REGISTERED[cls] = Way((), parts, put_together)
        return
    names = (parts,) if isinstance(parts, str) else tuple(parts)
    _REGISTERED[cls] = Way(names)


def way_of(cls: type) -> Way | None:
    """The way in which objects of a class are taken apart; None for all attributes."""
    for base in cls.__mro__:
        if base in _REGISTERED:
            return _REGISTERED[base]
    found = (Way(tuple(names(cls))) for mark, names in _MARKS.items() if hasattr(cls, mark))
    return next(found, None)
