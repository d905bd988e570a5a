"""Small programs in text form, and what a plan starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stcompile.analysis.liveness import Liveness, Moments
from stcompile.analysis.regions import Tree, unfold
from stcompile.analysis.storage import Writes, plan_writes
from stcompile.plan.buffers import Plan, plan_buffers
from stcompile.plan.collected import collected_rows
from stcompile.plan.inlining import text_places
from stcompile.plan.sharing import Sharing
from stcompile.plan.writable import writable_steps
from stcompile.wengert.ir import Variable
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

SHORT = {  # params that programs of the tests have often
    "MATMUL": "batch=(), contracted=((1, 0),), order=(), spelling='matmul'",
    "COLUMNS": "batch=(), contracted=((0, 0),), order=(), spelling=''",
    "OUTER": "batch=(), contracted=(), order=(), spelling='outer'",
    "ROWS_0_2": "drop=(), length=(2, 3), start=((0,), (0,)), step=(1, 1)",
    "ROWS_1_3": "drop=(), length=(2, 3), start=((1,), (0,)), step=(1, 1)",
    "ROWS_2_4": "drop=(), length=(2, 3), start=((2,), (0,)), step=(1, 1)",
    "COLUMN_0": "drop=(), length=(4, 1), start=((0,), (0,)), step=(1, 1)",
}


class Listed:
    """A program as a tree, with its variables by name.

    The positions of a straight line are 1 for its first equation, 2 for the next, and so on. A name
    is that in the text; programs of the tests use each once.
    """

    def __init__(self, text: str) -> None:
        for short, params in SHORT.items():
            text = text.replace(short, params)
        program = parse_program(text)
        verify(program)
        self.tree: Tree = unfold(program)
        self.moments = Moments(self.tree)
        self.writes: Writes = plan_writes(self.tree, self.moments)
        self.places: Mapping[Variable, Sequence[int]] = {
            variable: [use.at for use in uses] for variable, uses in self.tree.uses.items()
        }
        self.variables = {own: variable for variable, own in self.tree.hints.items()}

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    def alone(self, *names: str) -> dict[Variable, Variable]:
        """Classes of one variable each."""
        return {self[name]: self[name] for name in names}

    def plan(self, together: Mapping[str, Sequence[str]] | None = None) -> Plan:
        """The plan of buffers, with the classes of names that the text would have, or with the
        given ones: their first members, with all of them."""
        tree, writes = self.tree, self.writes
        writable = writable_steps(tree, writes)
        places = text_places(tree, set())
        liveness = Liveness(self.moments, places)
        rows = collected_rows(tree, writes, writable, ())
        classes = Sharing(tree, liveness, writes, writes.storage.views, places, rows).classes
        if together is not None:
            joint = [[self[own] for own in names] for names in together.values()]
            classes = {member: members for members in joint for member in members}
        return plan_buffers(tree, liveness, writes, classes, writable, places, {}, rows)

    def names(self, variables: Iterable[Variable]) -> str:
        """The names of variables, in the order of the text's."""
        found = set(variables)
        return " ".join(own for own, variable in self.variables.items() if variable in found)
