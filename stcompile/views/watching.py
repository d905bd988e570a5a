"""Watch a run for a bounded number of equations: the first steps of a kernel with millions of steps
are enough to show.

>>> budget = Budget(2)
>>> for step in range(3):
...     try:
...         budget.spend((0, step))
...     except Enough:
...         print(budget.told)
up to step 0, 1 of the loops: 2 equations
"""

from __future__ import annotations


class Enough(Exception):
    """A run has used up its budget."""


class Budget:
    """The number of equations that may run. ``told`` says where the run was left, "" if it came to
    its end."""

    def __init__(self, equations: int) -> None:
        self.left = equations
        self.spent = 0
        self.told = ""
        self._last: tuple[int, ...] = ()

    def spend(self, steps: tuple[int, ...]) -> None:
        """Count an equation that has run, in ``steps`` of the loops around it; `Enough` if the
        budget is spent."""
        if not self.left:
            where = f"step {', '.join(map(str, self._last))} of the loops" if self._last else "here"
            self.told = f"up to {where}: {self.spent:,} equations"
            raise Enough
        self.left -= 1
        self.spent += 1
        self._last = steps
