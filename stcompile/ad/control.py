"""The adjoint of control flow: of the branch that was taken, and of all steps of a loop.

The adjoint of `cond` is a `cond` on the same predicate, that of `loop` a `loop` that runs
backwards. The values of the primal that the adjoint of a sub-program reads, its *residuals*, become
outputs of the primal's equation: of a branch, undefined if the other arm is taken; of a loop,
stacked over the steps. Views of values that stay the same are not kept: the adjoint takes them
again; and an array that the program overwrites part by part is put back (`stcompile.ad.restoring`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from stcompile.ad.lengths import name_again
from stcompile.ad.restoring import Pair, Restoring, State, pairs_of
from stcompile.ad.spectra import with_spectra
from stcompile.ad.sweep import Sweep, Visit, loop_activity
from stcompile.ad.tape import taped
from stcompile.base.location import Location
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    as_variable,
    free_variables,
    freeze,
)
from stcompile.wengert.naming import base_name, is_numbered, name_variables
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import COUNTER, Ports, port_of, step_of, undefined, widest
from stcompile.wengert.primitives.elementwise import SUMS_AND_PRODUCTS
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

Item = TypeVar("Item")


@dataclass(frozen=True)
class Pullback:
    """A program's equations recorded anew, with its adjoint: ``adjoint`` takes ``d_outputs`` and
    the so-far cotangents ``so_far``, reads ``kept`` inputs and ``residuals``, and gives
    ``cotangents`` for the wanted inputs, zeros for inputs that are not ``reached``. It also takes
    the last versions of arrays, and gives the first versions: the ``states``."""

    recorder: Recorder
    inputs: tuple[Variable, ...]
    equations: list[Equation]
    outputs: tuple[Atom, ...]
    adjoint: list[Equation]
    d_outputs: tuple[Variable, ...]
    so_far: tuple[Variable, ...]
    cotangents: tuple[Atom, ...]
    reached: tuple[bool, ...]
    residuals: tuple[Variable, ...]
    kept: tuple[Variable, ...]
    states: tuple[State, ...]

    @property
    def pairs(self) -> set[Pair]:
        return {state.pair for state in self.states}


def pullback(
    program: Program,
    wanted: Sequence[int],
    given: Sequence[int],
    added: Sequence[int],
    each_step: Sequence[int] = (),
    pairs: Collection[Pair] = (),
    always: Collection[Pair] = (),
) -> Pullback:
    """The pullback from the outputs ``given`` to the inputs ``wanted``. The inputs in ``added``
    start from a cotangent that is handed in. The inputs in ``each_step`` have another value in each
    step of a loop, so they are residuals themselves. The arrays in ``pairs`` are put back where
    that costs less than keeping them, the arrays in ``always`` in any case."""
    program = with_spectra(program)
    recorder, inputs, tape = taped(program)
    outputs = tuple(map(tape.atom, program.outputs))
    sweep = Sweep(recorder, tape, {inputs[i] for i in wanted}, STRUCTURED)
    d_outputs = tuple(recorder.variable(outputs[i].type, _d(program.outputs[i])) for i in given)
    so_far = tuple(recorder.variable(inputs[i].type, f"d_{program.inputs[i].name}") for i in added)
    with recorder.aside() as adjoint:
        sweep.cotangents.update(zip((inputs[i] for i in added), so_far, strict=True))
        for index, d_out in zip(given, d_outputs, strict=True):
            sweep.give(outputs[index], d_out)
        sweep.run()
        reached = tuple(inputs[i] in sweep.cotangents for i in wanted)
        cotangents = tuple(sweep.cotangent_of(inputs[i]) for i in wanted)
    fixed = {v for i, v in enumerate(inputs) if i not in each_step}
    restoring = Restoring(sweep, inputs, outputs, fixed, undo)
    adjoint, cotangents, states = restoring.run(adjoint, cotangents, pairs, always)
    bound = (*d_outputs, *so_far, *(state.given for state in states))
    read = free_variables(adjoint, cotangents, bound)
    wanted_again = [variable for variable in read if variable not in restoring.old]
    adjoint[:0] = _recomputed(wanted_again, fixed, tape.equations)
    outcome = (*cotangents, *(state.first for state in states))
    name_again(recorder, tape.equations, adjoint, outcome, (*bound, *fixed))
    read = free_variables(adjoint, outcome, bound)
    return Pullback(
        recorder,
        inputs,
        tape.equations,
        outputs,
        adjoint,
        d_outputs,
        so_far,
        cotangents,
        reached,
        tuple(v for v in read if v not in fixed),
        tuple(v for v in read if v in fixed),
        states,
    )


def put_back(
    sweep: Sweep, adjoint: list[Equation], cotangents: Sequence[Atom]
) -> tuple[list[Equation], tuple[Atom, ...]]:
    """The adjoint in which its loops and branches put arrays back instead of keeping them."""
    equations, found, _ = Restoring(sweep, (), (), (), undo).run(adjoint, cotangents, (), ())
    return equations, found


def undo(sweep: Sweep, equation: Equation, place: int) -> None:
    """Record the equations that put back the array that a loop or a branch wrote to: its output
    ``place``."""
    if equation.primitive == "loop":
        ports = Ports.of(equation)
        first = len(ports.constants) + (not ports.is_while)
        _loop_back(sweep, equation, _Activity((), (), (), ()), {(first + place, place)})
    else:
        always = {pair for pair in _pairs_of_arms(equation) if pair[1] == place}
        _cond_back(sweep, equation, (), (), always)


def _d(output: Atom) -> str:
    named = isinstance(output, Variable) and not is_numbered(output.name)
    return f"d_{output.name}" if isinstance(output, Variable) and named else ""


def _recomputed(
    read: Sequence[Variable], fixed: set[Variable], equations: Sequence[Equation]
) -> list[Equation]:
    """The equations of values that the adjoint reads and that cost nothing to compute again: views
    of fixed arrays, and integers that follow from the counter."""
    makers = {output: equation for equation in equations for output in equation.outputs}
    known: dict[Variable, bool] = dict.fromkeys(fixed, True)

    def is_cheap(variable: Variable) -> bool:
        if variable not in known:
            maker = makers.get(variable)
            known[variable] = False
            if maker is not None and _is_free(maker):
                known[variable] = all(map(is_cheap, maker.variables))
        return known[variable]

    wanted = {v for v in read if v not in fixed and is_cheap(v)}
    kept: list[Equation] = []
    for equation in reversed(equations):
        if not wanted.isdisjoint(equation.outputs):
            wanted.update(equation.variables)
            location = equation.location.in_section("adjoint")
            kept.append(replace(equation, location=location))
    return kept[::-1]


def _is_free(equation: Equation) -> bool:
    if PRIMITIVES[equation.primitive].view:
        return True
    if equation.primitive == "index" and equation.output.type.varies:
        return True  # all its kept values would be as long as the longest
    integers = all(a.type.kind == "python" and a.type.dtype.kind == "i" for a in equation.inputs)
    return integers and equation.primitive in SUMS_AND_PRODUCTS


def visit_cond(sweep: Sweep, equation: Equation) -> None:
    """Differentiate a branch: its adjoint is that of the arm that was taken."""
    operands = equation.inputs[1:]
    wanted = [i for i, a in enumerate(operands) if isinstance(a, Variable) and a in sweep.active]
    given = [i for i, output in enumerate(equation.outputs) if output in sweep.cotangents]
    _cond_back(sweep, equation, wanted, given, ())


def _pairs_of_arms(equation: Equation) -> set[Pair]:
    """The operands and results of a branch that are versions of the same array, whichever arm is
    taken; without the arrays that neither arm changes."""
    arms = (equation.params["then"], equation.params["otherwise"])
    found = set.intersection(*(set(pairs_of(arm)) for arm in arms))
    return {(i, o) for i, o in found if any(arm.inputs[i] != arm.outputs[o] for arm in arms)}


def _cond_back(
    sweep: Sweep,
    equation: Equation,
    wanted: Sequence[int],
    given: Sequence[int],
    always: Collection[Pair],
) -> None:
    predicate, *operands = equation.inputs
    added = [
        i for i in wanted if operands[i] in sweep.cotangents and operands.index(operands[i]) == i
    ]
    both, chosen = _arms_back(equation, wanted, given, added, always)
    # An input that neither arm reaches gets no cotangent: a stack has no zeros that could be read.
    reached = [any(flags) for flags in zip(*(part.reached for part in both), strict=True)]
    wanted = _chosen(wanted, reached)
    arms = dict(zip(("then", "otherwise"), both, strict=True))
    extra = [(r.type, part.recorder.hints.get(r, "")) for part in both for r in part.residuals]
    where = equation.location
    programs = {name: _with_residuals(name, part, both, where) for name, part in arms.items()}
    new = sweep.replace_equation(equation, programs, extra)
    kept = sorted({part.inputs.index(v) for part in both for v in part.kept})
    inputs = [predicate, *(operands[i] for i in kept), *new.outputs[len(equation.outputs) :]]
    inputs += [sweep.cotangent_of(equation.outputs[i]) for i in given]
    inputs += [sweep.cotangent_of(operands[i]) for i in added]
    inputs += [equation.outputs[o] for _, o in sorted(chosen)]
    adjoints = {name: _arm_back(name, part, both, kept, reached) for name, part in arms.items()}
    results = sweep.record_all("cond", tuple(inputs), adjoints)
    found = dict(zip(wanted, results, strict=False))
    for index in added:
        sweep.set(new, as_variable(operands[index]), None, found[index])
    for index in wanted:
        if index not in added:
            sweep.contribute(new, as_variable(operands[index]), found[index])
    for (place, _), state in zip(sorted(chosen), results[len(wanted) :], strict=True):
        sweep.states[as_variable(operands[place])] = state


def _arms_back(
    equation: Equation,
    wanted: Sequence[int],
    given: Sequence[int],
    added: Sequence[int],
    always: Collection[Pair],
) -> tuple[list[Pullback], set[Pair]]:
    """The pullbacks of both arms, and the arrays that both put back."""
    branches: tuple[Program, Program] = (equation.params["then"], equation.params["otherwise"])
    pairs = _pairs_of_arms(equation)
    both = [pullback(branch, wanted, given, added, (), pairs, always) for branch in branches]
    chosen = set.union(*(part.pairs for part in both))
    return [
        part if part.pairs == chosen else pullback(branch, wanted, given, added, (), pairs, chosen)
        for part, branch in zip(both, branches, strict=True)
    ], chosen


def _arm_back(
    name: str,
    part: Pullback,
    both: Sequence[Pullback],
    kept: Sequence[int],
    reached: Sequence[bool],
) -> Program:
    """The adjoint of an arm, which takes the residuals of both arms."""
    bound = [part.inputs[i] for i in kept]
    for other in both:
        own = other is part
        bound += [v if own else part.recorder.variable(v.type) for v in other.residuals]
    states = sorted(part.states)
    return part.recorder.program(
        name,
        (*bound, *part.d_outputs, *part.so_far, *(state.given for state in states)),
        (*_chosen(part.cotangents, reached), *(state.first for state in states)),
        part.adjoint,
    )


def _chosen(items: Sequence[Item], flags: Sequence[bool]) -> list[Item]:
    return [item for item, flag in zip(items, flags, strict=True) if flag]


def _with_residuals(
    name: str, part: Pullback, both: Sequence[Pullback], location: Location
) -> Program:
    """An arm with the residuals of both arms among its outputs; those of the other arm are
    undefined."""
    equations = list(part.equations)
    outputs: list[Atom] = [*part.outputs]
    for other in both:
        for residual in other.residuals:
            if other is part:
                outputs.append(residual)
                continue
            hint = other.recorder.hints.get(residual, "")
            absent = part.recorder.variable(residual.type, hint)
            params = freeze(undefined(residual.type))
            equations.append(Equation((absent,), "undef", (), params, (), location))
            outputs.append(absent)
    return part.recorder.program(name, part.inputs, outputs, equations)


class _Activity(NamedTuple):
    """The carry, constants and xs of a loop that get a cotangent, and the ys that have a
    cotangent."""

    carry: Sequence[int]
    constants: Sequence[int]
    xs: Sequence[int]
    ys: Sequence[int]


def visit_loop(sweep: Sweep, equation: Equation) -> None:
    """Differentiate a loop: its adjoint runs through the steps in the opposite order."""
    ports = Ports.of(equation)
    constants, carry, _ = loop_activity(ports, sweep.active)
    xs = [isinstance(x, Variable) and x in sweep.active for x in ports.xs]
    ys = [y in sweep.cotangents for y in ports.ys]
    places = (_chosen(range(len(flags)), flags) for flags in (carry, constants, xs, ys))
    _loop_back(sweep, equation, _Activity(*places), ())


def _loop_back(
    sweep: Sweep, equation: Equation, activity: _Activity, always: Collection[Pair]
) -> None:
    ports = Ports.of(equation)
    part = _pullback_of_steps(ports, activity, always)
    summed = len(activity.carry) + len(activity.constants)  # the others are xs: see `_cond_back`
    reached = [*[True] * summed, *part.reached[summed:]]
    activity = activity._replace(xs=_chosen(activity.xs, reached[summed:]))
    new, residuals, count = _with_stacks(sweep, equation, ports, part)
    firsts = [i for i in activity.constants if ports.constants.index(ports.constants[i]) == i]
    found = _chosen(part.cotangents, reached)
    found[summed:summed] = [state.first for state in part.states]
    stacks = _Stacks(residuals, count, found)
    results = _loop_backwards(sweep, equation.location, ports, part, activity, firsts, stacks)
    _take_apart(sweep, new, ports, part, activity, firsts, results)


def _pullback_of_steps(ports: Ports, activity: _Activity, always: Collection[Pair]) -> Pullback:
    """The pullback of a step."""
    n, m = len(ports.constants), len(ports.carry)
    first = n + (not ports.is_while)
    wanted = [
        *(first + i for i in activity.carry),
        *activity.constants,
        *(first + m + i for i in activity.xs),
    ]
    given = [*activity.carry, *(m + i for i in activity.ys)]
    each_step = range(first, len(ports.body.inputs))
    pairs = {(first + i, i) for i in range(m)}.intersection(pairs_of(ports.body))
    return pullback(ports.body, wanted, given, activity.constants, each_step, pairs, always)


class _Stacks(NamedTuple):
    """The residuals that the steps of the primal leave, the number of steps if nothing else counts
    them, and the cotangents that a step of the adjoint finds."""

    residuals: Sequence[Variable]
    number: Atom | None
    found: Sequence[Atom]


def _with_stacks(
    sweep: Sweep, equation: Equation, ports: Ports, part: Pullback
) -> tuple[Equation, Sequence[Variable], Atom | None]:
    """The primal with its residuals stacked, the stacks, and the number of steps, which it counts
    if nothing else does."""
    m, recorder = len(ports.carry), part.recorder
    inputs, outputs = list(part.inputs), list(part.outputs)
    more: list[Type] = []
    initial: list[Atom] = []
    equations = list(part.equations)
    if ports.is_while:
        steps, after = recorder.variable(COUNTER, "n_steps"), recorder.variable(COUNTER)
        location = equation.location
        equations.append(Equation((after,), "add", (steps, Constant(1)), location=location))
        inputs.append(steps)
        outputs.insert(m, after)
        initial.append(Constant(0))
    names = [recorder.hints.get(v, "") for v in part.residuals]
    binds = () if ports.binds is None else (ports.binds,)
    stacks = [
        (port_of(v.type, ports.length, binds), f"{base_name(name)}s" if name else "")
        for v, name in zip(part.residuals, names, strict=True)
    ]
    outputs += part.residuals
    params = {**equation.params, "body": recorder.program("body", inputs, outputs, equations)}
    if ports.is_while:
        assert ports.condition is not None
        params["carry"] = m + 1
        unused = Variable("n_steps.", COUNTER)
        condition = replace(ports.condition, inputs=(*ports.condition.inputs, unused))
        params["condition"] = name_variables(condition, {unused: "n_steps"})
        more = [COUNTER]
    new = sweep.replace_equation(equation, params, stacks, more, m, initial)
    count = new.outputs[m] if ports.is_while else ports.count
    return new, new.outputs[len(new.outputs) - len(stacks) :], count


def _loop_backwards(
    sweep: Sweep,
    location: Location,
    ports: Ports,
    part: Pullback,
    activity: _Activity,
    firsts: Sequence[int],
    stacks: _Stacks,
) -> tuple[Variable, ...]:
    """The results of the loop that is the adjoint: cotangents of what is carried and of constants,
    states, and cotangents of what each step reads."""
    d_carry = [sweep.cotangent_of(ports.results[i]) for i in activity.carry]
    so_far = [
        sweep.cotangent_of(ports.constants[i]) if i in firsts else sweep.zeros(part.inputs[i].type)
        for i in activity.constants
    ]
    d_ys = [sweep.cotangent_of(ports.ys[i]) for i in activity.ys]
    body, kept = _step_back(location, ports, part, len(activity.carry), stacks, d_ys)
    adjoint: dict[str, Any] = {
        "constants": len(kept),
        "carry": len(d_carry) + len(part.so_far) + len(part.states),
        "length": ports.length,
        "reverse": not ports.reverse,
        "body": body,
    }
    if ports.binds is not None:
        adjoint["binds"] = ports.binds
    outer = dict(zip(part.inputs, ports.constants, strict=False))
    operands: list[Atom] = []
    if ports.length is None and stacks.number is not None:
        operands.append(stacks.number)
    operands += [outer[v] for v in kept]
    ends = (ports.results[state.pair[1]] for state in part.states)
    operands += [*d_carry, *so_far, *ends, *stacks.residuals, *d_ys]
    return sweep.record_all("loop", tuple(operands), adjoint)


def _step_back(
    location: Location,
    ports: Ports,
    part: Pullback,
    carried: int,
    stacks: _Stacks,
    d_ys: Sequence[Atom],
) -> tuple[Program, list[Variable]]:
    """The adjoint of a step, and the constants that it reads."""
    recorder, prologue = part.recorder, list[Equation]()
    given_back = [state.given for state in part.states]
    body_carry = [*part.d_outputs[:carried], *part.so_far, *given_back]
    d_items = part.d_outputs[carried:]
    items = [
        _item(recorder, v, port.type, ports, prologue, location)
        for v, port in zip((*part.residuals, *d_items), (*stacks.residuals, *d_ys), strict=True)
    ]
    counter = recorder.variable(COUNTER) if ports.is_while else part.inputs[len(ports.constants)]
    kept = [v for v in part.kept if v != counter]
    inputs, equations = (*kept, counter, *body_carry, *items), (*prologue, *part.adjoint)
    return recorder.program("body", inputs, stacks.found, equations), kept


def _take_apart(
    sweep: Sweep,
    new: Equation,
    ports: Ports,
    part: Pullback,
    activity: _Activity,
    firsts: Sequence[int],
    results: Sequence[Variable],
) -> None:
    """Set and add the results of the loop that is the adjoint."""
    places = [state.pair[1] for state in part.states]
    a = len(activity.carry)
    b = a + len(activity.constants)
    c = b + len(places)
    for i, state in zip(places, results[b:c], strict=True):
        sweep.states[as_variable(ports.carry[i])] = state
    added = dict(zip(activity.constants, results[a:b], strict=True))
    for i in firsts:
        sweep.set(new, as_variable(ports.constants[i]), None, added[i])
    contributions = [
        *((ports.carry[i], result) for i, result in zip(activity.carry, results[:a], strict=True)),
        *((ports.constants[i], result) for i, result in added.items() if i not in firsts),
        *((ports.xs[i], result) for i, result in zip(activity.xs, results[c:], strict=True)),
    ]
    for target, result in contributions:
        if isinstance(target, Variable) and target in sweep.active:
            sweep.contribute(new, target, result)


def _item(
    recorder: Recorder,
    variable: Variable,
    port: Type,
    ports: Ports,
    prologue: list[Equation],
    location: Location,
) -> Variable:
    """The item of a port, as the variable that it stands for: the rows of an array are NumPy
    scalars even if the variable is a Python number or a 0-d array."""
    item = step_of(port, ports.length)
    if item == widest(variable.type, () if ports.binds is None else (ports.binds,)):
        return variable
    found = recorder.variable(item, recorder.hints.get(variable, ""))
    python = variable.type.kind == "python"
    params = freeze({"dtype": variable.type.dtype} if python else {})
    primitive = "to_python" if python else "asarray"
    where = location.in_section("adjoint")
    prologue.append(Equation((variable,), primitive, (found,), params, (), where))
    return found


STRUCTURED: Mapping[str, Visit] = {"cond": visit_cond, "loop": visit_loop}
"""The visits of the primitives with sub-programs."""
