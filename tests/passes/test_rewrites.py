"""Which programs each pass changes, and into what: the files of `rewrites/`, one for each pass
(`simplify` has some more), and for each of the rules of `rules.py`.

A case is a few lines, apart from the next one by an empty line: what it shows (``#``), what is
said of its equations (``!``), its inputs, its equations, and below ``->`` what the pass makes of
them, or ``the same``: then the pass returns the very program. ``pytest --update-golden`` writes the
part below the arrows anew; read the difference. Each case also runs before and after the pass, on
ordinary numbers, and, where the pass is exact, on infinite ones, NaN and zeros of both signs.

``! primal a b`` (or ``adjoint``, ``again``, ``errstate``) is said of the equations that define
these variables: in which part of the generated function they are, whether they are computed again
on purpose, and whether NumPy raises for them. ``! rounds`` is said of a case in which an exact
pass may round differently or make another zero; ``! finite`` of one that only ends with ordinary
numbers; ``! not run`` of one that takes too long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.location import Location
from stcompile.passes.loops.checkpoint_loops import checkpoint_loops
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.memory.rematerialise import candidates, rematerialise
from stcompile.passes.phases import drop_idle_ports, push_maxima
from stcompile.passes.pipeline import PIPELINE
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program, map_programs
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify
from tests.passes.rules import ALONE
from tests.programs import bits

HERE = Path(__file__).parent / "rewrites"
ARROW, SAME = "->", "the same"


def all_again(program: Program) -> Program:
    """All that can be computed again in the adjoint is."""
    return rematerialise(program, [candidate.variable for candidate in candidates(program)])


PASSES: dict[str, Callable[[Program], Program]] = {
    **{stage.name: stage.run for stage in PIPELINE},
    **ALONE,
    "drop_idle_ports": drop_idle_ports,
    "push_maxima": push_maxima,
    "checkpoint_loops": checkpoint_loops,
    "own_outputs": own_outputs,
    "rematerialise": all_again,
}
# `simplify` is exact but for the rewrites that the modules of its rules list.
EXACT = {
    *(stage.name for stage in PIPELINE if stage.exact),
    *("simplify", "checkpoint_loops", "own_outputs", "rematerialise", "drop_idle_ports"),
    *("negated_terms_subtracted", "operands_converted", "small_arguments_copied", "number_spread"),
}
IN_ADJOINT = {"simplify"}  # it changes nothing else, but for ports
TOLERANCE = {"f": 1e-5, "d": 1e-12, "F": 1e-5, "D": 1e-12}


@dataclass(frozen=True)
class Case:
    """One case of a file, as it is written there."""

    run: str  # the name of the pass
    title: str
    said: dict[str, frozenset[str]]
    program: str
    after: str

    @property
    def exact(self) -> bool:
        return self.run in EXACT and "rounds" not in self.said

    def before(self) -> Program:
        inputs, *equations = self.program.split("\n")
        program = parse_program(f"program f({inputs}) {{ {' '.join(equations)} }}")
        return self._placed(program)

    def _placed(self, program: Program) -> Program:
        equations = (map_programs(e, self._placed) for e in program.equations)
        placed = (replace(e, location=self._location(e, n)) for n, e in enumerate(equations, 1))
        return replace(program, equations=tuple(placed))

    def _location(self, equation: Equation, line: int) -> Location:
        names = {output.name for output in equation.outputs}

        def holds(what: str) -> bool:
            return not names.isdisjoint(self.said.get(what, ()))

        derived = holds("adjoint") or (self.run in IN_ADJOINT and not holds("primal"))
        return Location(
            "model.py",
            line,
            section="adjoint" if derived else "forward",
            errstate=(("invalid", "raise"),) if holds("errstate") else (),
            again=int(holds("again")),
        )


def read(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    for block in re.split(r"\n{2,}", path.read_text().strip()):
        text, _, after = block.partition(f"\n{ARROW}")
        lines = text.split("\n")
        titles = [line[2:] for line in lines if line.startswith("# ")]
        said = [line[2:].split() for line in lines if line.startswith("! ")]
        code = [line for line in lines if line[:2] not in ("# ", "! ")]
        facts = {what: frozenset(names) for what, *names in said}
        name = path.stem.partition(".")[0]
        yield Case(name, " ".join(titles), facts, "\n".join(code), after.strip())


def written(program: Program) -> str:
    """A program as the cases show it."""
    return "\n".join(line.removeprefix("  ") for line in str(program).split("\n")[1:-1])


FILES = sorted(HERE.glob("*.txt"))
CASES = [case for path in FILES for case in read(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.run}: {case.title}")
def test_rewrites(case: Case, update_golden: bool) -> None:
    program = case.before()
    verify(program)
    after = PASSES[case.run](program)
    verify(after)
    found = SAME if after is program else written(after)
    if update_golden:
        _update(case, found)
    else:
        assert found == case.after
    if after is program or "not" in case.said:
        return
    is_special = case.exact and "finite" not in case.said
    for draw in (_ordinary, _special) if is_special else (_ordinary,):
        rng = np.random.default_rng(len(case.program))
        inputs = [draw(variable.type, rng) for variable in program.inputs]
        with np.errstate(all="ignore"):
            _assert_same(evaluated(after, inputs), evaluated(program, inputs), case.exact)


def test_titles_are_names_of_their_own() -> None:
    titles = [(case.run, case.title) for case in CASES]
    assert len(set(titles)) == len(titles)


def evaluated(program: Program, inputs: list[Any]) -> list[Any]:
    """The outputs of a program, then its inputs, which it may have written to."""
    own = [np.copy(v) if isinstance(v, np.ndarray) else v for v in inputs]
    outputs = [np.copy(v) if isinstance(v, np.ndarray) else v for v in evaluate(program, *own)]
    return [*outputs, *own]


def _assert_same(found: list[Any], expected: list[Any], exact: bool) -> None:
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        array = np.asarray(other)
        assert (np.asarray(one).dtype, np.shape(one)) == (array.dtype, array.shape)
        if exact or array.dtype.char not in TOLERANCE:
            assert np.array_equal(bits(one), bits(other)), (one, other)
        else:
            tolerance = TOLERANCE[array.dtype.char]
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def _ordinary(type: Type, rng: np.random.Generator) -> Any:
    return _of_type(type, rng, rng.uniform(0.5, 2.0, (2, *type.dims)) * rng.choice([-1, 1]))


def _special(type: Type, rng: np.random.Generator) -> Any:
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3.0, 1e-30, 1e30]
    return _of_type(type, rng, rng.choice(values, (2, *type.dims)))


def _of_type(type: Type, rng: np.random.Generator, numbers: Any) -> Any:
    """A value of a type with these numbers in it; integers can be used as indices and as
    divisors, and so can Python's numbers."""
    if type.dtype.kind in "biu":
        numbers = rng.integers(0, 2, (2, *type.dims)) + (type.dtype.kind != "b")
    if type.kind == "python":
        numbers = np.where(numbers == 0, 1, numbers)
    value = (numbers[0] + 1j * numbers[1] if type.dtype.kind == "c" else numbers[0]).astype(
        type.dtype
    )
    if type.kind == "array":
        return np.array(value)
    return value.item() if type.kind == "python" else value[()]


def _update(case: Case, found: str) -> None:
    (path,) = [p for p in FILES if case in read(p)]
    blocks = re.split(r"\n{2,}", path.read_text().strip())
    places = [at for at, other in enumerate(read(path)) if other.title == case.title]
    (place,) = places
    blocks[place] = blocks[place].partition(f"\n{ARROW}")[0] + f"\n{ARROW}\n{found}"
    path.write_text("\n\n".join(blocks) + "\n")
