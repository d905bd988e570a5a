"""Compiled functions as functions of Numba's, which other functions under ``@njit`` call.

The function is for the shapes and static values of the arguments that it was made with. Numba
checks types; shapes and static values are compared at every call, since machine code that is given
other arrays would read beyond their ends. Captured numbers keep the values that they had when it
was made, as Numba's do.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, LanguageError, TypingError
from stcompile.base.extras import require
from stcompile.base.foreign import written_as
from stcompile.base.location import Location
from stcompile.calls.arguments import Arguments
from stcompile.calls.kernels import give_cache
from stcompile.calls.link import link, source_filename
from stcompile.calls.signature import key_of
from stcompile.calls.specialisation import Specialisation
from stcompile.code.literals import literal
from stcompile.emit.layout import INDENT
from stcompile.passes.kernels.compilable import is_taken
from stcompile.wengert.ir import Equation, Program

_CALL = (
    "compute this outside of the function and give it the result as an argument, or call the "
    'function from Python: there level="compiled" takes it'
)
_HINT = (
    "give it arrays, numbers and plain tuples of them; what needs more than Numba knows of NumPy "
    "is called from Python"
)
_FRAME = ("Failed in", "During:", "File ")  # beginnings of lines that say where Numba was
_COMPARED = (bool, int, str)  # static values that Numba can compare


def for_numba(made: Specialisation, arguments: Arguments) -> Any:
    """The function under ``@njit``, compiled for the types of the given arguments only."""
    numba = require("numba", "numba", "a function for Numba")
    _check(made)
    njit = numba.njit(error_model="numpy", nogil=True)
    function = njit(_by_position(made.function))
    checked = njit(link(_text(made, arguments), made.name, names={"compiled": function}))
    if written_as(checked) is checked:  # Numba is switched off
        return checked
    give_cache(checked, made.name)
    errors = import_module("numba.core.errors")
    try:
        kinds = tuple(map(numba.typeof, arguments.values.values()))
        checked.compile(kinds)
    except (ValueError, TypeError) as error:
        raise TypingError(f"Numba has no type for an argument: {error}", hint=_HINT) from None
    except errors.NumbaError as error:
        raise _refusal(made, error) from None
    checked.disable_compile()
    return checked


def _check(made: Specialisation) -> None:
    """Refuse writes and captured arrays, which a function for Numba cannot have."""
    if made.written:
        written = ", ".join(f"`{name}`" for name in made.written)
        raise ArgumentsError(f"it writes into {written}", hint="compile it with copy=True")
    arrays = [h for h in made.hidden if h.variable.type.kind in ("array", "object")]
    if arrays:
        captured = ", ".join(f"`{hidden.place.description}`" for hidden in arrays)
        raise ArgumentsError(
            f"it reads {captured}, which is no argument of it",
            hint="make it an argument: a function for Numba cannot see when it is another",
        )


def _by_position(function: Any) -> Any:
    """A function whose keywords can be given by position: Numba binds keywords wrongly."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    code = code.replace(co_argcount=count, co_kwonlyargcount=0)
    return types.FunctionType(code, function.__globals__, function.__name__)


def _refusal(made: Specialisation, error: Exception) -> LanguageError:
    """The error for code that Numba does not compile, at the user's line."""
    file = re.escape(source_filename(made.source, made.name))
    found = re.search(rf'{file}"?,? (?:line |\()(\d+)', str(error))
    place = made.locate(int(found[1])) if found else None
    program = made.staged.program
    if place is not None:
        place = _place_of_call(program, place)
    said = [text.strip() for text in str(error).splitlines()]
    reason = next((text for text in said if text and not text.startswith(_FRAME)), "")
    return LanguageError(
        f"Numba does not compile what is left as calls of NumPy's: {reason}",
        location=place.shown if place is not None else None,
        hint=_HINT if next(_calls(program), None) is None else _CALL,
    )


def _place_of_call(program: Program, place: Location) -> Location:
    """The location of a call; for the location of a loop or a branch, that of the first call in
    it."""
    for equation in program.equations:
        inner = [part for part in equation.params.values() if isinstance(part, Program)]
        if not is_taken(equation) and inner:
            calls = [call for part in inner for call in _calls(part)]
            if equation.location.shown == place.shown and calls:
                return calls[0].location
            for part in inner:
                found = _place_of_call(part, place)
                if found is not place:
                    return found
    return place


def _calls(program: Program) -> Iterator[Equation]:
    """The equations that stay calls of NumPy's."""
    for equation in program.equations:
        inner = [part for part in equation.params.values() if isinstance(part, Program)]
        if inner:
            yield from (call for part in inner for call in _calls(part))
        elif not is_taken(equation):
            yield equation


def _text(made: Specialisation, arguments: Arguments) -> str:
    """The text of a module with a function that compares shapes and calls the compiled function."""
    names, margin = ", ".join(arguments.values), " " * INDENT
    numbers = (ast.unparse(literal(hidden.read())) for hidden in made.hidden)
    given = ", ".join((*arguments.values, *numbers))
    body = []
    for condition, reason in _conditions(arguments):
        body += [f"if {condition}:", f"{margin}raise ValueError({reason!r})"]
    body.append(f"return compiled({given})")
    lines = [
        "import numpy as np",
        "",
        "",
        f"def {made.name}({names}):",
        *(margin + line for line in body),
    ]
    return "\n".join(lines) + "\n"


def _conditions(arguments: Arguments) -> Iterator[tuple[str, str]]:
    """Conditions that must not hold for the arguments, each with the message if it does."""
    for name, value in arguments.values.items():
        for path, leaf in trees.leaves(value):
            shown = trees.show_path(name, path)
            shape = getattr(leaf, "shape", ())
            if shape:
                yield f"{shown}.shape != {shape}", f"the shape of `{shown}` is not {shape}"
            elif isinstance(leaf, _COMPARED) and key_of(leaf)[0] == "static":
                code = ast.unparse(literal(leaf))
                yield f"{shown} != {code}", f"`{shown}` is not {code}"
