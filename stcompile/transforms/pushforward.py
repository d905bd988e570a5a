"""``jvp``: a function and its tangent, run side by side in forward mode."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from stcompile.ad.forward import forward
from stcompile.ad.vectors import Vectors
from stcompile.base import trees
from stcompile.base.errors import DerivativeError
from stcompile.base.fields import Fields, Same
from stcompile.calls.travel import Travels
from stcompile.frontend.lists.leaving import with_lists
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described, is_traced
from stcompile.frontend.substage import (
    Output,
    SubStage,
    function_name,
    output_and_aux,
    rebuild,
    substage,
)
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.types import Type, is_number


class Staged:
    """A function that is staged, and never called."""

    def __call__(self, *arguments: Any) -> NoReturn:
        raise TypeError("it is compiled, not called")


class Pushforward(Travels, Staged):
    """The function of primals, then tangents, that returns ``(value, tangent)``; with ``has_aux``
    the function's second result as a third one."""

    takes_apart = True  # objects among its arguments

    def __init__(self, function: Callable[..., Any], count: int, has_aux: bool = False) -> None:
        self.function = function
        self.count = count
        self.has_aux = has_aux
        self.__name__ = f"{function_name(function)}_jvp"
        names = primal_names(function, count)
        self.__signature__ = plain_signature([*names, *(f"{name}_dot" for name in names)])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        primals, tangents = arguments[: self.count], arguments[self.count :]
        return self.push(run, primals, tangents)

    def push(self, run: Run, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """Record the value and its tangent."""
        sub = substage(run, self.function, primals, {}, sets=True)
        names = primal_names(self.function, len(primals))
        variables: list[Variable] = []
        given: list[Atom] = []
        for name, primal, tangent in zip(names, sub.arguments, tangents, strict=True):
            for variable, atom in pairs_of(run, name, primal, tangent):
                variables.append(variable)
                given.append(atom)
        joint = forward(sub.program, variables)
        results = run.recorder.inline(joint, (*sub.inputs, *given))
        count = len(sub.program.outputs)
        sub.write_back(run, dict(enumerate(results[:count])))
        made = rebuild(run, sub.result, results[:count])
        moved = tangents_of(run, sub, results[count:])
        if not self.has_aux:
            return made, moved
        value, aux = output_and_aux(run, self.function, made)
        return value, moved[0], aux


def tangents_of(run: Run, sub: SubStage, tangents: Sequence[Atom]) -> Any:
    """The structure of a result with tangents for its leaves: zeros for leaves without a
    tangent."""
    rest = iter(tangents)

    def leaf(path: trees.Path, value: Any) -> Any:
        if not isinstance(value, Output):
            return 0.0 if is_number(value) else value
        type = sub.program.outputs[value.index].type
        return run.value(next(rest)) if type.inexact else zero(run, type)

    return with_lists(run, trees.map_leaves(leaf, sub.result))


def zero(run: Run, type: Type) -> Any:
    """A zero of a type."""
    if type.kind == "array":
        return run.record("full", 0, shape=type.dims, dtype=type.dtype)
    return type.python_type(0) if type.kind == "python" else type.dtype.type(0)


def pairs_of(run: Run, name: str, primal: Any, tangent: Any) -> Iterator[tuple[Variable, Atom]]:
    """The variables of a staged argument that have a tangent, each with it."""
    for shown, variable, part in _pairs(run, name, primal, tangent):
        yield variable, _tangent(run, shown, variable.type, part)


def _pairs(
    run: Run,
    name: str,
    primal: Any,
    tangent: Any,
    path: trees.Path = (),
    inside: bool = False,
) -> Iterator[tuple[str, Variable, Any]]:
    """The leaves of a primal that have a tangent, each with it."""
    shown = trees.show_path(name, path)
    parts = trees.children(primal)
    if parts is None:
        if isinstance(primal, Variable) and primal.type.inexact:
            yield shown, primal, tangent
        elif isinstance(primal, Same) and not isinstance(tangent, Same | None):
            run.refuse(
                f"{shown} is an object or an array that stands in another place as well, where it "
                "has its tangent",
                "give the same tangent, not a copy of it, or None",
                DerivativeError,
            )
        elif is_number(primal) and not inside:
            run.refuse(
                f"{shown} is the {type(primal).__name__} {primal!r}, which has no tangent: Python "
                "integers are static",
                f"pass it as a float ({float(primal.real)!r})",
                DerivativeError,
            )
        return
    others = trees.children(tangent)
    if others is None or [step for step, _ in others] != [step for step, _ in parts]:
        run.refuse(
            f"the tangent of {shown} has another structure than {shown}",
            "give a tangent for each array and number, in the same structure",
            DerivativeError,
        )
    for (step, part), (_, other) in zip(parts, others, strict=True):
        within = inside or isinstance(primal, Fields)
        yield from _pairs(run, name, part, other, (*path, step), within)


def _tangent(run: Run, shown: str, type: Type, given: Any) -> Atom:
    """A tangent as the user gave it, in the type of its primal."""
    return converted(run, f"the tangent of {shown}", type, given)


def converted(run: Run, what: str, type: Type, given: Any) -> Atom:
    """A tangent or cotangent that the user gave, in a type; of another shape it is refused."""
    if is_number(given):
        number = type.python_type if type.kind == "python" else type.dtype.type
        if type.kind != "array":
            return Constant(number(given))
    elif not is_traced(given):
        run.refuse(f"{what} is {described(given)}", "give numbers or arrays", DerivativeError)
    atom = run.atom(given)
    if atom.type.dims != type.dims:
        run.refuse(
            f"{what} has shape {atom.type.dims} instead of {type.dims}",
            "give one of the same shape",
            DerivativeError,
        )
    if atom.type.dtype.kind == "c" and type.dtype.kind != "c":
        run.refuse(f"{what} is complex", "give a real one", DerivativeError)
    return exactly(run, atom, type)


def exactly(run: Run, atom: Atom, type: Type) -> Atom:
    """A value in a type of the same shape."""
    vectors = Vectors(run.recorder)
    vectors.location = run.location
    return vectors.exactly(atom, type)


def primal_names(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the first ``count`` positional arguments of a function."""
    try:
        parameters = [*signature_of(function).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in plain][:count]
    return [*names, *(f"x{i}" for i in range(len(names), count))]


def plain_signature(names: Sequence[str]) -> inspect.Signature:
    """A signature of positional parameters, which are numbered where they have one name."""
    found: list[str] = []
    for name in names:
        plain = name.partition(".")[0]
        number = sum(other.partition("__")[0] == plain for other in found)
        found.append(f"{plain}__{number + 1}" if number else plain)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in found])
