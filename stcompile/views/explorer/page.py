"""Gather the content of the page as JSON, and put its files together."""

from __future__ import annotations

import io
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import DerivativeError, StcompileError, StcompileWarning
from stcompile.base.html import highlighted
from stcompile.base.options import LEVELS, Level, Options
from stcompile.calls.arguments import Arguments, Wrt
from stcompile.calls.dispatch import Dispatcher
from stcompile.emit.function import Emitted
from stcompile.reports.memory import alive_in, lives_of, memory_of
from stcompile.reports.snapshots import Snapshot, snapshots_of
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.views.explorer.code import code_json, lines_of_positions
from stcompile.views.explorer.graphs import graphs_json
from stcompile.views.explorer.listing import ListingRow, Stage, stages_of
from stcompile.views.explorer.texts import Places
from stcompile.views.explorer.values import Values, run
from stcompile.views.trace import Traced, traced
from stcompile.views.watching import Budget
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.staged import Staged

SCRIPTS = ("model.js", "panes.js", "graph.js", "inspector.js", "memory.js", "main.js")
RUN_ROWS = 30_000  # rows of all stages that are run; of larger programs the first and the last are
RUN_EQUATIONS = 120_000
"""Equations that are run for the numbers of a page: they take a second or two. Longer runs are
watched from their beginning."""


def page_of(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    wrt: Wrt | None = None,
    options: Options | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """The page of a function at some arguments, as HTML.

    A transformed function, such as a training step, is shown unchanged; any other with its value
    and its gradient by ``wrt`` (None: the first argument), or alone if it has no gradient. ``say``
    is called with a line about each piece of work.
    """
    gathered = _Gathered(function, arguments, keywords, wrt, options or Options(), say)
    return _assembled(gathered.run())


def _assembled(data: Mapping[str, Any]) -> str:
    """The files of the page as one file. The data is JSON without any ``<``: nothing in it ends the
    script."""
    files = resources.files(__package__)

    def text(name: str) -> str:
        return files.joinpath(name).read_text(encoding="utf-8")

    content = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        content = content.replace(character, f"\\u{ord(character):04x}")
    title = data["name"].replace("&", "&amp;").replace("<", "&lt;")
    parts = {
        "TITLE": title,
        "STYLE": text("style.css"),
        "SCRIPT": "\n".join(map(text, SCRIPTS)),
        "DATA": content,
    }
    page = text("page.html")
    before, *rest = page.split("{{")
    found = [before]
    for piece in rest:
        name, after = piece.split("}}", 1)
        found += [parts[name], after]
    return "".join(found)


@dataclass
class _Gathered:
    """Gathers the content of a function's page."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    wrt: Wrt | None
    options: Options
    say: Callable[[str], None]

    def run(self) -> dict[str, Any]:
        own, refusal = self._dispatcher()
        self.places = Places(own.definition)
        self.values = Values()
        self.rows: dict[ListingRow, int] = {}
        others = LEVELS if own is not self.function and not own.options.xp else ()
        levels = list(dict.fromkeys((own.options.level, *others)))
        shares = len(levels) + 1  # a share for each level, and a share for the user's lines
        self.allowance = RUN_EQUATIONS // shares
        made: dict[str, Any] = {}
        for level in levels:
            with warnings.catch_warnings():
                if made:
                    warnings.simplefilter("ignore", StcompileWarning)
                shown = self._at(own, level) if made else own
                try:
                    made[level] = self._level(shown)
                except StcompileError:
                    if not made:
                        raise  # another level may refuse what this one takes
        self.say("the lines")
        lines, seen = self._lines(own)
        return {
            "name": own.function_name,
            "title": own.title,
            "refusal": refusal,
            "level": own.options.level,
            "levels": made,
            "rows": [row.as_json for row in self.rows],
            "text": self.places.as_json(),
            "values": self.values.summaries,
            "lines": lines,
            "seen": seen,
        }

    def _dispatcher(self) -> tuple[Dispatcher[..., Any], str]:
        """The function with its gradient, or, with the reason, alone."""
        if isinstance(self.function, Dispatcher):
            return self.function, ""
        wrt = 0 if self.wrt is None else self.wrt
        gradient: Gradient[..., Any] = Gradient(self.function, wrt, True, self.options)
        try:
            gradient.specialise(gradient.bind(self.arguments, self.keywords))
        except DerivativeError as error:
            return Primal(self.function, self.options), str(error)
        return gradient, ""

    def _at(self, own: Dispatcher[..., Any], level: Level) -> Dispatcher[..., Any]:
        """The same at another level."""
        memory = own.options.memory if level == "fast" else None
        loops = level == "compiled"  # options that only its loops have
        options = replace(
            own.options,
            level=level,
            memory=memory,
            parallel=own.options.parallel and loops,
            fastmath=own.options.fastmath and loops,
            numba_limit=math.inf,  # nothing is compiled by Numba here
        )
        if isinstance(own, Gradient):
            return Gradient(own.as_given, own.wrt, True, options)
        return Primal(own.as_given, options)

    # --- a level ---------------------------------------------------------------------------------

    def _level(self, made: Dispatcher[..., Any]) -> dict[str, Any]:
        self.say(f"level {made.options.level}")
        bound = made.bind(self.arguments, self.keywords)
        recorded = made.stage(bound)
        specialised = made.specialise(bound)
        emitted, final = specialised.emitted, specialised.staged
        found = [Snapshot(made.recorded, recorded.program)]
        inputs = first = inputs_of(final, bound)
        if not isinstance(made, Primal):
            primal: Primal[..., Any] = Primal(made.as_given)
            own = primal.bind(self.arguments, self.keywords)
            alone = primal.stage(own)
            first = inputs_of(alone, own)
            found.insert(0, Snapshot(primal.recorded, alone.program))
        options = made.options
        snapshots = [*snapshots_of(found, made.results, options.level, options.parallel).all]
        last = snapshots[-1]
        if last.program == final.program:  # the code knows the equations of the emitted program
            snapshots[-1] = Snapshot(last.stage, final.program)
        else:
            snapshots.append(Snapshot("budget", final.program))
        stages = list(stages_of(snapshots, self.places))
        rows = stages[-1].rows
        index = {id(one.equation): at for at, one in enumerate(rows) if one.equation}
        memory = memory_of(recorded.program, emitted)
        runs, seen = self._runs(options.level, stages, snapshots, first, inputs)
        return {
            "stages": [self._stage(stage) for stage in stages],
            "runs": runs,
            "seen": seen,
            "code": code_json(emitted, index, highlighted(emitted.source)),
            "graphs": graphs_json(final.program, rows),
            "first": graphs_json(snapshots[0].program, stages[0].rows),
            "lives": self._lives(emitted),
            "alive": self._alive(emitted),
            "memory": {
                "peak": memory.peak,
                "held": memory.held,
                "naive": memory.naive,
                "buffers": memory.nbytes,
            },
        }

    def _stage(self, stage: Stage) -> dict[str, Any]:
        numbers = [self._number(one.row) for one in stage.rows]
        return {
            "name": stage.name,
            "about": stage.about,
            "nbytes": stage.nbytes,
            "rows": _runs(numbers),
            "added": _runs(stage.added),
            "rewritten": _runs(stage.rewritten),
            "removed": [[at, self._number(row)] for at, row in stage.removed],
        }

    def _number(self, row: ListingRow) -> int:
        return self.rows.setdefault(row, len(self.rows))

    def _runs(
        self,
        level: str,
        stages: Sequence[Stage],
        snapshots: Sequence[Snapshot],
        first: Sequence[Any],
        inputs: Sequence[Any],
    ) -> tuple[list[list[list[int]] | None], list[str]]:
        """The values of the rows of each stage at some inputs, at other inputs for the first stage
        (None for a stage that is not run), and how far each was watched.

        The last stage and the first one may use half of the allowance that is left, the others
        equal parts."""
        many = sum(len(stage.rows) for stage in stages) > RUN_ROWS
        last = len(stages) - 1
        found: list[list[list[int]] | None] = [None] * len(stages)
        seen = [""] * len(stages)
        changed = [
            at
            for at, one in enumerate(snapshots)
            if not at or one.program is not snapshots[at - 1].program
        ]
        ends = [changed[-1], 0] if changed[-1] else [0]
        between = [at for at in changed if at not in ends and (at == 1 or not many)]
        left = self.allowance
        for number, at in enumerate([*ends, *between]):
            self.say(f"level {level}, stage {stages[at].name}, {number + 1} of {len(changed)}")
            parts = 2 if at in ends and between else len(ends) + len(between) - number
            budget = Budget(left // parts)
            given = inputs if at else first
            try:
                with undrawn(given):
                    rows = stages[at].rows
                    found[at] = run(snapshots[at].program, given, rows, self.values, budget)
            except Exception:  # the function raises at these arguments: there are no numbers
                found[at] = None
            seen[at] = budget.told
            left -= budget.spent
        for at in range(1, last + 1):
            if at not in changed:
                found[at], seen[at] = found[at - 1], seen[at - 1]
        return found, seen

    def _alive(self, emitted: Emitted) -> list[list[int]]:
        """The most bytes that are alive while the function is at a line: lines and bytes."""
        most: dict[int, int] = {}
        for line, nbytes in zip(lines_of_positions(emitted), alive_in(emitted), strict=False):
            most[line] = max(most.get(line, 0), nbytes)
        return [[line, nbytes] for line, nbytes in sorted(most.items())]

    def _lives(self, emitted: Emitted) -> list[list[Any]]:
        """Each array's name and bytes, the lines that it lives from and to, and its memory."""
        lines = lines_of_positions(emitted)
        return [
            [life.name, life.nbytes, lines[life.start], lines[life.end], life.memory]
            for life in lives_of(emitted)
        ]

    # --- the user's lines ------------------------------------------------------------------------

    def _lines(self, own: Dispatcher[..., Any]) -> tuple[list[list[Any]], str]:
        """The values at each place: the place, the name, the type, the numbers of the value and of
        its cotangent (-1 for a value without one); and how far the run was watched."""
        if not isinstance(own, Gradient):
            return [], ""
        budget = Budget(self.allowance)
        try:
            with np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
                trace = traced(own, self.arguments, self.keywords, budget)
        except Exception:  # it raises here, or its output is no number: the lists tell of it
            return [], ""
        joint = trace.joint
        gradients = joint.program.outputs[len(trace.program.outputs) :]
        finals = {v.name: g for v, g in zip(trace.wrt, gradients, strict=True)}
        totals: dict[Variable, Atom] = {}
        for contribution in joint.contributions:
            totals[contribution.variable] = contribution.total
        output = joint.program.outputs[0]
        if isinstance(output, Variable):
            totals.setdefault(output, joint.seed)
        found: list[list[Any]] = []
        for variable in joint.program.inputs:
            found.append([-1, *self._valued(variable, finals.get(variable.name), trace)])
        for equation in joint.program.equations[: len(trace.program.equations)]:
            place = self.places.number_of(equation.location)
            for made in equation.outputs:
                found.append([place, *self._valued(made, totals.get(made), trace)])
        return found, budget.told

    def _valued(self, variable: Variable, total: Atom | None, trace: Traced) -> list[Any]:
        gradient = -1 if total is None else self._number_of(total, trace)
        number = self._number_of(variable, trace)
        return [variable.name, str(variable.type), number, gradient]

    def _number_of(self, atom: Atom, trace: Traced) -> int:
        """The number of a value; -1 for one that the run did not come to."""
        if isinstance(atom, Variable) and atom not in trace.known:
            return -1
        return self.values.number_of(trace.value_of(atom))


def inputs_of(staged: Staged, bound: Arguments) -> list[Any]:
    """The inputs that a staged call is run with."""
    values = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
    return values + [hidden.read() for hidden in staged.hidden]


def _runs(numbers: Sequence[int]) -> list[int]:
    """Numbers as starts and lengths of runs that count upwards.

    >>> _runs([4, 5, 6, 9])
    [4, 3, 9, 1]
    """
    found: list[int] = []
    for number in numbers:
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [number, 1]
    return found
