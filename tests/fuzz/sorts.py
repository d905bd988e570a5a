"""All sorts of random programs, through one interface: drawn from a seed, judged, made shorter."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stcompile.base.options import Options
from stcompile.passes.memory.own_outputs import own_outputs
from tests.emit import emitting, random_programs
from tests.fuzz import (
    aliases,
    arrays,
    collected,
    control,
    filled,
    growing,
    judge,
    judge_arrays,
    judge_kernels,
    judge_native,
    judge_objects,
    judge_pairs,
    judge_sized,
    layouts,
    lengths,
    objects,
    pairs,
    selections,
    sized,
    tables,
)
from tests.fuzz.generate import function_of
from tests.fuzz.verdicts import Mismatch, Verdict, general, verdict_of
from tests.passes import test_random_algebra
from tests.plan import test_random_parts

Calls = tuple[Any, ...]
Judge = Callable[[str, Calls, bool, bool], Verdict]


@dataclass(frozen=True)
class Sort:
    """A sort of programs: how one is drawn from a seed, with the arguments of its calls (of one if
    it is judged lightly), how it is judged, whether a shorter text is still such a program (None if
    its text is not that of a function), and how the compiled level is judged beside the fast one,
    and files of C, which have names for lengths if they are ``dynamic`` (None if they are not)."""

    draw: Callable[[int, bool], tuple[str, Calls]]
    judge: Judge
    is_one: Callable[[str, Calls], bool] | None = None
    kernels: Judge | None = None
    native: Callable[..., Verdict] | None = None


def _draw_control(seed: int, light: bool) -> tuple[str, Calls]:
    source, args = control.program(seed)
    return source, (args,) if light else (args, *judge.other_arguments(source, seed))


def _is_control(source: str, calls: Calls) -> bool:
    if not control.runs(source, calls[0]):
        return False
    results = [judge.plain(function_of(source), args) for args in calls]
    return all(
        type(result) is tuple and [*map(np.shape, result)] == [(), (4,)] for result in results
    )


def _is_about_arrays(source: str, calls: Calls) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return all(arrays.runs(source, args) for args in calls)


def _in_text(module: Any) -> Sort:
    """Programs of a module that has `program`, `runs` and the names that its programs use."""
    names: Mapping[str, Any] = module.HELPERS
    judged = partial(judge_arrays.judge_source, names=names)
    kernels = partial(judge_kernels.judge_source, names=names)
    native = partial(judge_native.judge_source, names=names)
    return Sort(lambda seed, _: module.program(seed), judged, module.runs, kernels, native)


def _drawn(module: Any) -> Sort:
    """Programs of a test that draws them from numbers. In full, it asserts what must hold."""

    def draw(seed: int, light: bool) -> tuple[str, Calls]:
        number = int(module.LATER) + seed
        return f"{module.random_program(number)!r}\n", (number,)

    def judge_one(source: str, calls: Calls, second_order: bool, light: bool) -> Verdict:
        function = module.function_of(module.random_program(*calls))
        if light:
            return judge_arrays.judge_function(function, (module.arguments(*calls),), light)
        return verdict_of(function, lambda: _asserted(lambda: module.check(*calls)))

    def judge_kernels_of(source: str, calls: Calls, second_order: bool, light: bool) -> Verdict:
        function, args = module.function_of(module.random_program(*calls)), module.arguments(*calls)
        return judge_kernels.judge_function(function, (args,), second_order, light)

    def judge_native_of(
        source: str, calls: Calls, second_order: bool, light: bool, dynamic: bool = False
    ) -> Verdict:
        function, args = module.function_of(module.random_program(*calls)), module.arguments(*calls)
        return judge_native.judge_function(function, (args,), light, dynamic)

    return Sort(draw, judge_one, kernels=judge_kernels_of, native=judge_native_of)


def _asserted(check: Callable[[], None]) -> tuple[int, int]:
    try:
        check()
    except AssertionError as error:
        raise Mismatch("what a test asserts", str(error)) from error
    return 0, 0


def _draw_list(seed: int, light: bool) -> tuple[str, Calls]:
    return f"{random_programs.Builder(random.Random(seed).randrange).program()}\n", (seed,)


def _judge_list(source: str, calls: Calls, second_order: bool, light: bool) -> Verdict:
    drawn = random_programs.Builder(random.Random(*calls).randrange).program()
    own, arguments = own_outputs(drawn), random_programs.CALLS

    def check() -> None:
        emitting.check(own, *arguments, options=Options("fast"))

    return verdict_of(_judge_list, lambda: _asserted(check))


def _is_about_pairs(source: str, calls: Calls) -> bool:
    return '"""' in source and pairs.runs(source, calls)


def _judge_pairs(source: str, calls: Calls, second_order: bool, light: bool) -> Verdict:
    how = pairs.how_of(source)
    return judge_pairs.judge_source(source, calls, second_order, light, how)


def _draw_objects(seed: int, light: bool) -> tuple[str, Calls]:
    made = objects.program(seed)
    return made.source, made.changes


def _judge_objects(source: str, changes: Calls, second_order: bool, light: bool) -> Verdict:
    counts = {}

    def check() -> None:
        counts.update(judge_objects.run(objects.Program(source, changes), light))

    verdict = verdict_of(_judge_objects, lambda: _asserted(check))
    if verdict.kind == "right" and not counts.get("right"):
        reasons = [general(reason.removeprefix("refused: ").split("\n")[0]) for reason in counts]
        return Verdict("refused", *reasons[:1])
    return Verdict(verdict.kind, verdict.about, verdict.details, counts.get("gradient", 0))


SORTS = {
    "control": Sort(
        _draw_control,
        judge.judge_source,
        _is_control,
        judge_kernels.judge_source,
        judge_native.judge_source,
    ),
    "arrays": Sort(
        lambda seed, _: arrays.program(seed),
        judge_arrays.judge_source,
        _is_about_arrays,
        judge_kernels.judge_source,
        judge_native.judge_source,
    ),
    "collected": _in_text(collected),
    "aliases": _in_text(aliases),
    "filled": _in_text(filled),
    "growing": _in_text(growing),
    "layouts": _in_text(layouts),
    "lengths": _in_text(lengths),
    "tables": _in_text(tables),
    "selections": _in_text(selections),
    "sized": Sort(
        lambda seed, _: sized.program(seed),
        partial(judge_sized.judge_source, names=sized.HELPERS),
        sized.runs,
        partial(judge_kernels.judge_source, names=sized.HELPERS),
        partial(judge_native.judge_source, names=sized.HELPERS),
    ),
    "pairs": Sort(lambda seed, _: pairs.program(seed), _judge_pairs, _is_about_pairs),
    "objects": Sort(_draw_objects, _judge_objects, objects.runs),
    "algebra": _drawn(test_random_algebra),
    "parts": _drawn(test_random_parts),
    "lists": Sort(_draw_list, _judge_list),
}
