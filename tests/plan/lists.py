"""Small programs in text form, and what a plan starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stcompile.analysis.liveness import Use, uses_of
from stcompile.analysis.regions import Tree, unfold
from stcompile.analysis.storage import Writes, plan_writes
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
        self.writes: Writes = plan_writes(self.tree)
        self.uses: dict[Variable, list[Use]] = {}
        for use in uses_of(self.tree):
            self.uses.setdefault(use.variable, []).append(use)
        self.places: Mapping[Variable, Sequence[int]] = {
            variable: [use.at for use in uses] for variable, uses in self.uses.items()
        }
        self.variables = {own: variable for variable, own in self.tree.hints.items()}

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    def alone(self, *names: str) -> dict[Variable, Variable]:
        """Classes of one variable each."""
        return {self[name]: self[name] for name in names}
