"""Calls of functions that have a lowering, with the arguments that NumPy takes."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.deferred import deferred
from stcompile.base.errors import ArgumentsError, LanguageError, StcompileError, TypingError
from stcompile.frontend.inlining import inline_function
from stcompile.frontend.operations.out import Callee, without_out, without_where, write_out
from stcompile.frontend.operations.overloads import refuse_conversions
from stcompile.frontend.state.run import Run

Arguments = Sequence[Any]
Keywords = Mapping[str, Any]
at_chosen = deferred("stcompile.frontend.functions.ufuncs", "at_chosen")
python_of = deferred("stcompile.frontend.functions.of_numpy", "python_of")
judge_call = deferred("stcompile.frontend.operations.trials", "judge_call")
refusal_of_call = deferred("stcompile.frontend.operations.trials", "refusal_of_call")


def lower(run: Run, lowering: Any, callee: Callee, arguments: Arguments, keywords: Keywords) -> Any:
    """Call a lowering, which takes the run first and then NumPy's own arguments."""
    signature, name = _signature(lowering), callee.name
    if name.startswith("np."):
        refuse_conversions(run, name, [*arguments, *keywords.values()])
    keywords = {name: value for name, value in keywords.items() if value is not np._NoValue}
    arguments, keywords = _by_numpys_names(callee, signature, arguments, keywords)
    arguments, keywords, out = without_out(run, callee, arguments, keywords)
    if isinstance(callee.function, np.ufunc) and "where" in keywords:
        keywords, where = without_where(run, callee, arguments, keywords, out)
        if where is not True:
            return at_chosen(run, callee.function, list(arguments), out, where)
    keywords = _without_defaults(callee, signature, keywords)
    try:
        signature.bind(run, *arguments, **keywords)
    except TypeError:
        known = [p.name for p in list(signature.parameters.values())[1:]]
        unknown = [key for key in keywords if key not in known]
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            own = _own_parameters(callee) or {}
            is_python = python_of(callee.function) is not None
            if is_python and unknown[0] in own and unknown[0] not in _EMPTY:
                result = _by_own_text(run, callee, arguments, keywords, unknown[0])
                return result if out is None else write_out(run, callee, result, out)
            run.refuse(f"the argument `{unknown[0]}` of `{name}` is not supported", "leave it out")
        run.refuse(
            f"`{name}` does not take these arguments; it takes ({', '.join(known)})",
            "",
            ArgumentsError,
        )
    try:
        result = lowering(run, *arguments, **keywords)
    except (TypingError, LanguageError) as error:
        judge_call(run, error, callee, arguments, keywords)
        raise
    except StcompileError:
        raise
    except Exception:
        refusal = refusal_of_call(callee, arguments, keywords)
        if refusal is None:
            raise
        run.raises(refusal, reason=f"{name}: {refusal}")
    return result if out is None else write_out(run, callee, result, out)


def _by_own_text(
    run: Run, callee: Callee, arguments: Arguments, keywords: Keywords, unknown: str
) -> Any:
    """A call of NumPy's function, inlined for the sake of the argument ``unknown``."""
    try:
        return inline_function(run, python_of(callee.function), arguments, keywords)
    except StcompileError as error:
        if error.raised is not None:
            raise
        reason = f"the argument `{unknown}` of `{callee.name}` is not supported here"
        return run.refuse(f"{reason}: {error.reason}", "leave it out", type(error))


def _by_numpys_names(
    callee: Callee, lowering: inspect.Signature, arguments: Arguments, keywords: Keywords
) -> tuple[Arguments, Keywords]:
    """The arguments with those by keyword that NumPy has in another position than the lowering."""
    own = _own_parameters(callee)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in lowering.parameters.values())
    if own is None or takes_any or len(arguments) < 2:
        return arguments, keywords
    taken = [p for p in lowering.parameters.values() if p.kind is not p.KEYWORD_ONLY][1:]
    names = list(own)
    for at in range(1, min(len(arguments), len(names))):
        if own[names[at]].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            break
        has_other = at >= len(taken) or taken[at].name != names[at]
        if has_other and (names[at] == "out" or names[at] in lowering.parameters):
            rest = zip(names[at:], arguments[at:], strict=False)
            if len(arguments) > len(names) or any(name in keywords for name in names[at:]):
                break
            return arguments[:at], {**dict(rest), **keywords}
    return arguments, keywords


def _own_parameters(callee: Callee) -> Mapping[str, inspect.Parameter] | None:
    """The parameters that NumPy's function has, or the function that a method is named after; None
    if Python does not know them."""
    if callee.function is None and not callee.of_generator and "." not in callee.name:
        return _parameters_of(vars(np).get(callee.name))
    is_numpys = callee.name.startswith("np.") and not isinstance(callee.function, np.ufunc)
    return _parameters_of(callee.function) if is_numpys else None


@functools.lru_cache(maxsize=1024)
def _parameters_of(function: Any) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function of C without a text of its signature
        return None


# Arguments of NumPy that mean nothing here, with the values that they may have: there are no other
# devices, and no subclasses of arrays; what casts in another way is refused by its dtypes.
_EMPTY: Mapping[str, tuple[Any, ...]] = types.MappingProxyType(
    {
        "like": (None,),
        "device": (None, "cpu"),
        "subok": (True, False),
        "casting": ("same_kind", "unsafe"),
        "out": (None,),
        "overwrite_input": (True, False),
    }
)


def _without_defaults(callee: Callee, lowering: inspect.Signature, keywords: Keywords) -> Keywords:
    """The keywords without those that the lowering does not know and that have NumPy's default, or
    mean nothing."""
    unknown = [name for name in keywords if name not in lowering.parameters]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in lowering.parameters.values())
    is_numpys = callee.name.startswith("np.") or callee.function is None
    if not unknown or takes_any or not is_numpys:
        return keywords
    own = _own_parameters(callee)
    same = {
        name
        for name in unknown
        if own is None or name in own
        if (own is not None and _is_default(keywords[name], own[name].default))
        or any(keywords[name] is value for value in _EMPTY.get(name, ()))
        or (isinstance(keywords[name], str) and keywords[name] in _EMPTY.get(name, ()))
    }
    return {name: value for name, value in keywords.items() if name not in same}


def _is_default(value: Any, default: Any) -> bool:
    is_plain = isinstance(value, bool | int | str) and type(value) is type(default)
    return value is default or (is_plain and value == default)


_signature = functools.lru_cache(maxsize=1024)(inspect.signature)  # of lowerings: they never change
