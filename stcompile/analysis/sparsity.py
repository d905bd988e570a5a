"""The sparsity of dependences: an upper bound of which elements of a program's results depend on
which elements of its inputs.

Every variable has a matrix of booleans, a row for each of its elements and a column for each
element of the inputs. Arrangements, reads and writes are run on the numbers of the elements, to
find where each element comes from. For other equations, the map of their axes
(`stcompile.wengert.primitives.axes`) says which elements go together; without such a map each
result depends on all elements. A bound never misses an element: unknown dependences are assumed.

For a program of tangents, which is linear in them, it is the pattern of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stcompile.base.extras import require
from stcompile.base.thresholds import EXACT_STEPS, KNOWN_ELEMENTS
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.parts import WRITES
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.types import Type

Matrix: TypeAlias = Any  # a `scipy.sparse.csr_array` of booleans
Known: TypeAlias = Any  # a value that is known at compile time, or UNKNOWN
UNKNOWN = object()

ARRANGED = frozenset(
    {
        *("reshape", "transpose", "expand_dims", "squeeze", "broadcast_to", "slice", "index"),
        *("windows", "diagonal", "roll", "pad", "concatenate", "stack", "update", "index_update"),
        *("full", "array"),
    }
)
"""Primitives that move elements without changing them: applied to the numbers of elements, they
give the number of the element in each place."""
ALIKE = frozenset({"cast", "copy", "asarray", "to_scalar", "to_python", "real", "imag"})


def pattern(program: Program, moving: Sequence[Variable], outputs: Sequence[int]) -> list[Matrix]:
    """The dependence of each of the ``outputs`` of a program on the elements of the ``moving``
    inputs, in order."""
    sparse = require("scipy.sparse", "scipy", "a sparse Jacobian")
    count = sum(variable.type.count for variable in moving)
    walk = _Walk(sparse, count)
    first = 0
    depends: list[Matrix | None] = []
    for variable in program.inputs:
        if variable not in moving:
            depends.append(None)
            continue
        size = variable.type.count
        depends.append(walk.picking(np.arange(first, first + size), count))
        first += size
    found = walk.run(program, depends, [UNKNOWN] * len(program.inputs))
    return [walk.filled(found[at], program.outputs[at].type) for at in outputs]


@dataclass(frozen=True)
class _Dependences:
    """A loop: the dependences of its operands, by their ports, and the known values of its
    constants."""

    ports: Ports
    constants: list[Matrix | None]
    carry: list[Matrix | None]
    xs: list[Matrix | None]
    facts: list[Known]

    @staticmethod
    def of(equation: Equation, inputs: list[Matrix | None], facts: list[Known]) -> _Dependences:
        ports = Ports.of(equation)
        if ports.count is not None:
            inputs, facts = inputs[1:], facts[1:]
        first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
        return _Dependences(ports, inputs[:first], inputs[first:last], inputs[last:], facts[:first])


class _Walk:
    """The walk over equations. A value that depends on nothing has None for a matrix; a stack has
    the matrix of its items, all alike."""

    def __init__(self, sparse: Any, count: int) -> None:
        self.sparse = sparse
        self.count = count

    def run(
        self, program: Program, depends: Sequence[Matrix | None], values: Sequence[Known]
    ) -> list[Matrix | None]:
        """The dependences of the outputs, given those of the inputs and the known values of the
        inputs."""
        found: dict[Variable, Matrix | None] = dict(zip(program.inputs, depends, strict=True))
        known: dict[Variable, Known] = dict(zip(program.inputs, values, strict=True))

        def value(atom: Atom) -> Known:
            return atom.value if isinstance(atom, Constant) else known.get(atom, UNKNOWN)

        def matrix(atom: Atom) -> Matrix | None:
            return found.get(atom) if isinstance(atom, Variable) else None

        for equation in program.equations:
            inputs = [matrix(atom) for atom in equation.inputs]
            facts = [value(atom) for atom in equation.inputs]
            if all(one is None for one in inputs):
                known.update(_computed(equation, facts))
                continue
            found.update(zip(equation.outputs, self.outputs(equation, inputs, facts), strict=True))
        return [matrix(atom) for atom in program.outputs]

    def outputs(
        self, equation: Equation, inputs: list[Matrix | None], facts: list[Known]
    ) -> Sequence[Matrix | None]:
        name, params = equation.primitive, equation.params
        if name == "call":
            return self.run(params["program"], inputs, facts)
        if name == "cond":
            ways = [self.run(params[way], inputs[1:], facts[1:]) for way in ("then", "otherwise")]
            return [self.union(one, other) for one, other in zip(*ways, strict=True)]
        if name == "loop":
            return self.loop(_Dependences.of(equation, inputs, facts))
        if any(atom.type.kind == "stack" for atom in equation.inputs):
            return [self.union(*inputs)]  # a sum of lists
        return [self.primitive(equation, inputs, facts) for _ in equation.outputs]

    # --- primitives ----------------------------------------------------------------------------

    def primitive(
        self, equation: Equation, inputs: list[Matrix | None], facts: list[Known]
    ) -> Matrix:
        name = equation.primitive
        if PRIMITIVES[name].elementwise or name in ALIKE or _is_sum(equation):
            return self.elementwise(equation, inputs)
        first = _data(equation)
        others_known = all(fact is not UNKNOWN for fact in facts[first:])
        others_known = others_known and all(one is None for one in inputs[first:])
        if name in ARRANGED and others_known:
            return self.arranged(equation, inputs, facts, first)
        if name == "accumulate" and equation.params["op"] in ("slice", "index", "distinct"):
            return self.accumulated(equation, inputs, facts, others_known)
        return self.by_axes(equation, inputs)

    def elementwise(self, equation: Equation, inputs: list[Matrix | None]) -> Matrix:
        dims = equation.output.type.dims
        parts = []
        for atom, matrix in zip(equation.inputs, inputs, strict=True):
            if matrix is not None:
                own = _numbers(atom.type)
                own = own.reshape(()) if own.size == 1 and not dims else own
                parts.append(matrix[np.broadcast_to(own, dims).ravel()])
        return self.union(*parts)

    def arranged(
        self, equation: Equation, inputs: list[Matrix | None], facts: list[Known], first: int
    ) -> Matrix:
        """Run the equation on the numbers of elements, from 1 on; 0 stands for an element that
        depends on nothing."""
        rows, numbers, at = [self.nothing(1)], [], 1
        for atom, matrix in zip(equation.inputs[:first], inputs[:first], strict=True):
            if matrix is None:
                numbers.append(np.zeros(atom.type.dims, np.int64))
                continue
            numbers.append(_numbers(atom.type) + at)
            rows.append(matrix)
            at += matrix.shape[0]
        params = dict(equation.params)
        if "value" in params:
            params["value"] = 0
        if "dtype" in params:
            params["dtype"] = np.dtype(np.int64)
        given = [one if one.ndim else one[()] for one in numbers]
        where = apply(equation.primitive, (*given, *facts[first:]), params)
        return self.sparse.vstack(rows, format="csr")[np.asarray(where).ravel()]

    def accumulated(
        self,
        equation: Equation,
        inputs: list[Matrix | None],
        facts: list[Known],
        others_known: bool,
    ) -> Matrix:
        """Add the dependence of the added value to the part where it is added, if the part is
        known; else to every element."""
        (into, added, *_), (acc, value, *_) = inputs, equation.inputs
        if added is None:
            return into
        if not others_known:
            return self.union(into, self.spread(added, acc.type.count))
        read = "slice" if equation.params["op"] == "slice" else "index"
        params = {key: item for key, item in equation.params.items() if key != "op"}
        where = np.asarray(apply(read, (_numbers(acc.type), *facts[2:]), params))
        rows = added[np.broadcast_to(_numbers(value.type), where.shape).ravel()]
        placed = self.picking(where.ravel(), acc.type.count).T.tocsr()
        return self.union(into, placed @ rows)

    def by_axes(self, equation: Equation, inputs: list[Matrix | None]) -> Matrix:
        """Let an element depend on the elements at the same position along the axes that go
        together."""
        result, axes = equation.output.type, axis_map(equation)
        parts = []
        for side, (atom, matrix) in enumerate(zip(equation.inputs, inputs, strict=True)):
            if matrix is None:
                continue
            if axes is None:
                parts.append(self.spread(matrix, result.size))
                continue
            own = axes.operands[side]
            kept = [name for name in own if name in axes.result and name not in axes.whole]
            to_axis = [axes.result.index(name) for name in kept]
            dims = [
                min(atom.type.dims[own.index(name)], result.dims[axis])
                for name, axis in zip(kept, to_axis, strict=True)
            ]
            mine = _keys(atom.type.dims, [own.index(name) for name in kept], dims)
            theirs = _keys(result.dims, to_axis, dims)
            groups = self.picking(mine, int(np.prod(dims, dtype=int))).T.tocsr() @ matrix
            parts.append(groups[theirs])
        return self.union(*parts)

    # --- loops ---------------------------------------------------------------------------------

    def loop(self, loop: _Dependences) -> list[Matrix | None]:
        length = loop.ports.steps
        if length is None or length * len(loop.ports.body.equations) > EXACT_STEPS:
            return self.any_steps(loop)
        return self.all_steps(loop, range(length))

    def all_steps(self, loop: _Dependences, steps: range) -> list[Matrix | None]:
        """Follow the steps in turn, with the counter known."""
        ports, carry = loop.ports, loop.carry
        made: list[list[Matrix | None]] = [[] for _ in steps]
        for t in reversed(steps) if ports.reverse else steps:
            items = [self.item(x, atom.type, t) for x, atom in zip(loop.xs, ports.xs, strict=True)]
            values = [*loop.facts, t, *(UNKNOWN for _ in (*carry, *items))]
            found = self.run(ports.body, [*loop.constants, None, *carry, *items], values)
            carry, made[t] = found[: len(carry)], found[len(carry) :]
        ys: list[Matrix | None] = []
        for at, atom in enumerate(ports.stacked):
            column = [step[at] for step in made]
            if all(one is None for one in column):
                ys.append(None)
            elif atom.type.kind == "stack":
                ys.append(self.union(*column))
            else:
                rows = [self.filled(one, atom.type) for one in column]
                ys.append(self.sparse.vstack(rows, format="csr"))
        return [*carry, *ys]

    def any_steps(self, loop: _Dependences) -> list[Matrix | None]:
        """Follow steps until no dependence is added, whatever the number of steps."""
        ports, carry = loop.ports, loop.carry
        items = [self.any_item(x, atom.type) for x, atom in zip(loop.xs, ports.xs, strict=True)]
        counter: list[Matrix | None] = [] if ports.is_while else [None]
        while True:
            inputs = [*loop.constants, *counter, *carry, *items]
            values = [*loop.facts, *(UNKNOWN for _ in inputs[len(loop.facts) :])]
            found = self.run(ports.body, inputs, values)
            now = [self.union(*pair) for pair in zip(carry, found[: len(carry)], strict=True)]
            if [_count(one) for one in now] == [_count(one) for one in carry]:
                break
            carry = now
        ys = [
            None if one is None else self.repeated(one, y.type)
            for one, y in zip(found[len(carry) :], ports.ys, strict=True)
        ]
        return [*carry, *ys]

    def item(self, matrix: Matrix | None, type: Type, t: int) -> Matrix | None:
        if matrix is None or type.kind == "stack":
            return matrix
        size = type.count // type.dims[0]
        return matrix[t * size : (t + 1) * size]

    def any_item(self, matrix: Matrix | None, type: Type) -> Matrix | None:
        if matrix is None or type.kind == "stack" or not type.dims[0]:
            return matrix
        size = type.count // type.dims[0]
        return self.picking(np.arange(type.count) % size, size).T.tocsr() @ matrix

    def repeated(self, matrix: Matrix, type: Type) -> Matrix:
        if type.kind == "stack":
            return matrix
        return matrix[np.arange(type.count) % matrix.shape[0]]

    # --- matrices ------------------------------------------------------------------------------

    def picking(self, columns: Any, width: int) -> Matrix:
        """A matrix with a row for each of ``columns``, whose only entry is in that column."""
        rows = np.arange(len(columns) + 1)
        ones = np.ones(len(columns), np.bool_)
        return self.sparse.csr_array((ones, columns, rows), shape=(len(columns), width))

    def nothing(self, rows: int) -> Matrix:
        return self.sparse.csr_array((rows, self.count), dtype=np.bool_)

    def filled(self, matrix: Matrix | None, type: Type) -> Matrix:
        return self.nothing(type.count) if matrix is None else matrix

    def spread(self, matrix: Matrix, rows: int) -> Matrix:
        """Every row depends on all that any row depends on."""
        one = self.picking(np.zeros(matrix.shape[0], np.int64), 1).T.tocsr() @ matrix
        return one[np.zeros(rows, np.int64)]

    def union(self, *matrices: Matrix | None) -> Any:
        total = None
        for matrix in matrices:
            if matrix is not None:
                total = matrix if total is None else (total + matrix).tocsr()
        return total


def _computed(equation: Equation, facts: Sequence[Known]) -> Iterator[tuple[Variable, Known]]:
    """The results of an equation whose operands are known, such as constant indices."""
    primitive = PRIMITIVES[equation.primitive]
    is_plain = not (primitive.control or equation.effects or equation.primitive == "external")
    is_known = not any(fact is UNKNOWN for fact in facts) and len(equation.outputs) == 1
    if is_plain and is_known and equation.output.type.count <= KNOWN_ELEMENTS:
        with np.errstate(all="ignore"):
            yield equation.output, apply(equation.primitive, tuple(facts), equation.params)


def _is_sum(equation: Equation) -> bool:
    return equation.primitive == "accumulate" and equation.params["op"] == "add"


def _data(equation: Equation) -> int:
    """The number of operands, the first, that are data; the other operands are indices."""
    if equation.primitive in ("concatenate", "stack", "array"):
        return len(equation.inputs)
    return 2 if equation.primitive in WRITES else 1


def _numbers(type: Type) -> Any:
    return np.arange(type.count).reshape(type.dims)


def _keys(dims: Sequence[int], axes: Sequence[int], lengths: Sequence[int]) -> Any:
    """For each element its position along some axes, as a single number; 0 along axes of length
    1."""
    key = np.zeros(tuple(dims), np.int64)
    for axis, length in zip(axes, lengths, strict=True):
        place = np.arange(dims[axis]) if length > 1 else np.zeros(dims[axis], np.int64)
        key = key * length + place.reshape([-1 if a == axis else 1 for a in range(len(dims))])
    return key.ravel()


def _count(matrix: Matrix | None) -> int | None:
    return None if matrix is None else int(matrix.nnz)
