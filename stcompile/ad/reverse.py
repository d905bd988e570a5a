"""Reverse mode: a program and its adjoint, as a single program.

The adjoint is built by walking the Wengert list backwards (Griewank & Walther 2008, ch. 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stcompile.ad.control import STRUCTURED, pullback, put_back
from stcompile.ad.spectra import with_spectra, without_spectra
from stcompile.ad.sweep import Contribution, Sweep, one
from stcompile.ad.tape import taped
from stcompile.ad.unchosen import keep_zeros
from stcompile.base.timings import timed
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.phases import before_adjoint
from stcompile.wengert.ir import Atom, Constant, Program, Variable
from stcompile.wengert.naming import name_variables
from stcompile.wengert.recorder import Recorder


@dataclass(frozen=True)
class Joint:
    """A program with its adjoint: the outputs are the primal's, then the cotangents of ``wrt``.
    ``contributions`` are the steps of the sweep, ``seed`` is the cotangent that it started from."""

    program: Program
    contributions: tuple[Contribution, ...]
    seed: Constant


@timed("adjoint")
def reverse(program: Program, wrt: Sequence[Variable]) -> Joint:
    """The joint program of the value, the first output, and its gradient.

    ``wrt`` are inputs of the program. Only equations that these cotangents need are recorded.
    """
    program = with_spectra(program)
    recorder, inputs, tape = taped(program)
    outputs = tuple(map(tape.atom, program.outputs))
    sources = tuple(tape.atom(variable) for variable in wrt)
    sweep = Sweep(recorder, tape, {v for v in sources if isinstance(v, Variable)}, STRUCTURED)
    start = len(recorder.equations)
    sweep.seed(outputs[0])
    sweep.run()
    gradients = tuple(sweep.cotangent(v) for v in sources if isinstance(v, Variable))
    gradients = _put_back(sweep, start, gradients)
    _keep_zeros(recorder, start, ())
    name = f"{program.name}_value_and_grad"
    raw = Program(name, inputs, tuple(recorder.equations), (*outputs, *gradients))
    plain, handed_on = without_spectra(raw)
    joint = name_variables(plain, recorder.hints)
    names = dict(zip(inputs, joint.inputs, strict=True))
    for before, after in zip(plain.equations, joint.equations, strict=True):
        names.update(zip(before.outputs, after.outputs, strict=True))
    names.update((v, names[a]) for v, a in handed_on.items() if isinstance(a, Variable))
    steps = tuple(step.renamed(names) for step in sweep.contributions)
    return Joint(joint, steps, one(outputs[0].type))


def _put_back(sweep: Sweep, start: int, cotangents: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Put arrays back in the adjoint, which begins at ``start``, where its loops ask for it."""
    if not sweep.states:
        return cotangents
    equations = sweep.recorder.equations
    equations[start:], cotangents = put_back(sweep, equations[start:], cotangents)
    return cotangents


def _keep_zeros(recorder: Recorder, start: int, cotangents: Sequence[Atom]) -> None:
    """Let the zeros of the adjoint, which begins at ``start``, stay zeros."""
    equations = recorder.equations
    equations[start:] = keep_zeros(recorder, equations[:start], equations[start:], cotangents)


@timed("adjoint")
def again(program: Program, wrt: Sequence[int]) -> Program:
    """A program that computes the values of ``program`` once more, for its adjoint.

    It takes the inputs and a cotangent for each output, and returns the cotangents of the inputs at
    ``wrt``. No residuals are kept, so that the data may decide the lengths of intermediate values.
    """
    program = with_spectra(before_adjoint(program))
    recorder, inputs, tape = taped(program)
    outputs = tuple(map(tape.atom, program.outputs))
    cotangents = tuple(recorder.variable(output.type) for output in outputs)
    sweep = Sweep(recorder, tape, {inputs[i] for i in wrt}, STRUCTURED)
    start = len(recorder.equations)
    for output, cotangent in zip(outputs, cotangents, strict=True):
        sweep.give(output, cotangent)
    sweep.run()
    results = _put_back(sweep, start, tuple(sweep.cotangent_of(inputs[i]) for i in wrt))
    _keep_zeros(recorder, start, cotangents)
    name = f"{program.name}_again"
    raw = Program(name, (*inputs, *cotangents), tuple(recorder.equations), results)
    return name_variables(eliminate_dead_code(without_spectra(raw)[0]), recorder.hints)


@dataclass(frozen=True)
class Split:
    """A program and its adjoint, as two programs.

    ``primal`` returns the program's outputs, then the residuals. ``adjoint`` takes the residuals
    and cotangents of outputs, and returns the cotangents of ``wrt``.
    """

    primal: Program
    adjoint: Program
    residuals: int


@timed("adjoint")
def split(program: Program, wrt: Sequence[Variable], given: Sequence[int]) -> Split:
    """The program and its adjoint apart, so that the adjoint can run later, and more than once.
    ``given`` are the outputs that it takes a cotangent of. Only values that the adjoint reads are
    kept."""
    part = pullback(before_adjoint(program), [program.inputs.index(v) for v in wrt], given, ())
    adjoint = keep_zeros(part.recorder, part.equations, part.adjoint, part.d_outputs)
    backward = eliminate_dead_code(
        Program(
            f"{program.name}_pullback",
            (*part.kept, *part.residuals, *part.d_outputs),
            tuple(adjoint),
            part.cotangents,
        )
    )
    read = {*backward.outputs, *(atom for e in backward.equations for atom in e.inputs)}
    kept = tuple(v for v in (*part.kept, *part.residuals) if v in read)
    primal = Program(program.name, part.inputs, tuple(part.equations), (*part.outputs, *kept))
    adjoint_ = replace(backward, inputs=(*kept, *part.d_outputs))
    hints = part.recorder.hints
    first, second = (name_variables(without_spectra(p)[0], hints) for p in (primal, adjoint_))
    return Split(first, second, len(kept))
