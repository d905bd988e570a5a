"""The guards around equations that may raise errors at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stcompile.analysis.errors import LINALG, Kinds, raised_by
from stcompile.base.errors import StcompileError
from stcompile.wengert.ir import Equation, every_equation

_TEXTS = {
    "cholesky": "Matrix is not positive definite",
    **dict.fromkeys(("inv", "solve"), "Singular matrix"),
    **dict.fromkeys(("eigh", "eigvalsh", "eig", "eigvals"), "Eigenvalues did not converge"),
    **dict.fromkeys(("svd", "svdvals", "pinv"), "SVD did not converge"),
    "lstsq": "SVD did not converge in Linear Least Squares",
}


@dataclass(eq=False)
class Guard:
    """A ``try`` or a ``with`` around the code being staged, in a frame, on a line. ``handle`` takes
    an error that is known at compile time; it says whether the error ends here, and with which
    signal. ``leave`` runs the code for the end without an error. ``catches`` gives the handler at
    which errors of a class end, if there is one: it is asked about errors that only the running
    program knows."""

    frame: Any
    line: int
    handle: Callable[[StcompileError], tuple[bool, Any]]
    leave: Callable[[], Any] | None = None
    catches: Callable[[type[BaseException]], object] | None = None
    nesting: int = 0  # of the list of equations that it was entered in
    splits: int = 0  # before it


def text_of(primitive: str, kind: type[BaseException]) -> str | None:
    """The text of an error of a primitive, if that is always the same."""
    return _TEXTS.get(primitive) if kind in LINALG else None


def failing(equations: Sequence[Equation]) -> Iterator[tuple[Equation, Kinds]]:
    """The equations that may raise, with the classes of the errors; those within branches and loops
    as well. ``raise`` itself is left out: the guards that its error passes are staged at the
    statement."""
    for equation in every_equation(equations):
        kinds = () if equation.primitive == "raise" else raised_by(equation)
        if kinds:
            yield equation, kinds


def first_caught(kinds: Kinds, guards: Sequence[Guard]) -> tuple[Guard, type] | None:
    """The innermost handler that may catch an error of ``kinds``, and the class of the error."""
    for kind in kinds:
        for guard in reversed(guards):
            if guard.catches is not None and guard.catches(kind):
                return guard, kind
    return None
