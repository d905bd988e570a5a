"""Runs: the equations recorded so far, and the captures.

Every part of the frontend works with a `Run`. It knows how to record, read and write; the meaning
of each kind of expression, statement and callable is in the tables that it is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from stcompile.analysis.errors import raised_by
from stcompile.analysis.layouts import Layouts
from stcompile.base import trees
from stcompile.base.classes import MISSING, is_changeable, is_plain_value
from stcompile.base.containers import CHANGEABLE, GROWING
from stcompile.base.errors import StcompileError, TypingError
from stcompile.base.places import Place
from stcompile.base.strides import alike
from stcompile.base.wording import an
from stcompile.frontend.state.attempts import Attempts
from stcompile.frontend.state.capture import Captures
from stcompile.frontend.state.elements import Elements
from stcompile.frontend.state.failures import first_caught
from stcompile.frontend.state.fitting import by_operand, may_fit, pairs_that_must_fit, with_dims
from stcompile.frontend.state.outside import Change, ChangedPart
from stcompile.frontend.state.state import CellSite, ContentsSite
from stcompile.frontend.state.values import (
    LISTED,
    Affine,
    Array,
    Cell,
    GeneratorValue,
    Poison,
    Rest,
    Row,
    Scalar,
    Traced,
    Value,
    ViewStep,
    class_of_number,
    described,
    is_lent,
    is_numeric,
    is_traced,
)
from stcompile.frontend.state.walking import Language, Walk
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size, UnknownSizeError, varies
from stcompile.wengert.dims import Sizes as Dims
from stcompile.wengert.ir import Atom, Constant, Variable, freeze
from stcompile.wengert.primitives.base import OperandError, UnsupportedOperandError
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import is_number


class Run(Walk):
    def __init__(self, language: Language, attempts: Attempts | None = None) -> None:
        super().__init__(language)
        self.recorder = Recorder()
        self.origins: dict[
            int, tuple[Any, str]
        ] = {}  # records among the arguments: object, expression
        self.layouts = Layouts(self.recorder.producers)
        self.elements = Elements(self.recorder.producers, self.layouts)
        self.captures = Captures(self.recorder, self.layouts)
        self.relied, self.mirrors = self.captures.relied, self.captures.mirrors
        self.cautions = []
        self.keeps_comprehensions = True
        self.attempts = attempts or Attempts()
        self.starting: frozenset[Variable] = frozenset()  # counters of loops at their first step
        self.made: dict[Hashable, Any] = {}  # made before: views of variables, results of calls
        self.widened: set[Any] = set()  # floats that are ints on some path of Python's
        self.known: dict[Variable, Any] = {}  # values that follow from constants (see `known`)
        self.around: dict[int, Cell] = {}  # arrays of the functions around the one differentiated
        self.handled: StcompileError | None = None  # the error that an ``except`` handles
        self.object_of_names: dict[
            int, Any
        ] = {}  # objects that the program made, by their `__dict__`

    # --- recording -----------------------------------------------------------------------------

    def record(self, primitive: str, *operands: Any, **params: Any) -> Any:
        """Record an equation over values and return its result as a value: the only output, or a
        tuple of the outputs."""
        outputs = self.record_atoms(primitive, tuple(map(self.atom, operands)), params)
        values = tuple(map(self.value, outputs))
        return values[0] if len(values) == 1 else values

    def record_atoms(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        try:
            if any(atom.type.is_named for atom in inputs) or _is_named_part(params):
                inputs = self._fitted(primitive, inputs, params)
            outputs = self.recorder.record(primitive, inputs, self.location, params)
        except UnsupportedOperandError as error:
            self.refuse(str(error), "convert the operands, or compute this outside the function")
        except OperandError as error:
            self.refuse(str(error), "", TypingError)
        if self.lengths and primitive == "call":
            self._check_lengths(outputs)
        if self.guards:
            self._check_guards()
        return outputs

    def _check_guards(self) -> None:
        """Look whether the last equation may raise an error that a handler around it catches."""
        equation = self.recorder.equations[-1]
        kinds = raised_by(equation)
        found = [(kind, first_caught((kind,), self.guards)) for kind in kinds]
        caught = {kind: taken[0] for kind, taken in found if taken is not None}
        if caught:
            self.language.may_fail(self, equation, caught)

    def _check_lengths(self, outputs: Sequence[Variable]) -> None:
        """Refuse results of a program whose lengths are named in it."""
        for output in outputs:
            value = self.value(output)
            if isinstance(value, Array) and self.is_named_within(value):
                self.refuse(
                    "the length of this result is known only inside of what is called here",
                    "select from the result, instead of returning what was selected",
                )

    def may_be_equal(self, one: Size, other: Size) -> bool:
        """True for lengths of which it is known only at run time whether they are equal. A length
        of an argument that may be 1 keeps its number, since NumPy would broadcast the axis."""
        if not may_fit(one, other):
            return False
        if not varies((one, other)) and min(least(one), least(other)) < 2:
            raise UnknownSizeError(f"the lengths {one} and {other} of axes", (one, other))
        return bool(self.lengths) or not varies((one, other))

    def _fitted(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Atom, ...]:
        """The operands, with a check at run time that lengths are equal if this is not known."""
        from stcompile.library.lengths import require_same

        types = [atom.type for atom in inputs]
        text, pairs = pairs_that_must_fit(primitive, types, params)
        pairs = [p for p in pairs if self.may_be_equal(types[p.operand].dims[p.axis], p.dim)]
        found = list(inputs)
        for operand, group in by_operand(sorted(pairs)):
            for pair in group:
                length = types[operand].dims[pair.axis]
                self.require(require_same, length, pair.dim, text, *pair.shapes)
            shape = with_dims(found[operand], group)
            (found[operand],) = self.record_atoms("as_shape", (found[operand],), {"shape": shape})
        return tuple(found)

    def require(
        self, check: Callable[..., None], one: Size, other: Size, text: str, *shapes: Dims
    ) -> None:
        """Check at run time that two lengths are equal, once: by a function of
        `stcompile.library.lengths`, with a text and the shapes for NumPy's message."""
        key = "same", one, other
        if key not in self.made:
            self.made[key] = True
            shown = [tuple(map(self.integer, shape)) for shape in shapes]
            self.call(check, [*map(self.integer, (one, other)), text, *shown], {})

    def value(self, atom: Atom) -> Any:
        """A new value of the user's program for an atom: arrays get storage of their own."""
        if isinstance(atom, Constant):
            return atom.value
        if atom.type.kind != "array":
            return Scalar(atom)
        cell = Cell(atom, depth=self.depth, born=self.age())
        return Array(cell, atom.type)

    def atom(self, value: Any) -> Atom:
        """The atom that holds a value at present."""
        self.checked(value)
        if isinstance(value, Variable | Constant):
            return value
        if isinstance(value, Affine):
            return self._number(value)
        if isinstance(value, Row):
            return self._row(value)
        if isinstance(value, Scalar):
            return value.atom
        if isinstance(value, Array):
            return self.read(value)
        if is_number(value):
            return Constant(value)
        if isinstance(value, LISTED):
            return self.read(self.as_array(value))
        self.refuse_foreign(value)
        self.refuse(
            f"{described(value)} cannot be an operand of an array operation",
            "use arrays and numbers as operands",
        )

    def _number(self, value: Affine) -> Variable:
        """An affine integer as a number: an equation for each operation."""
        total: Atom = Constant(value.offset)
        for counter, coefficient in value.terms:
            term: Variable = counter
            if coefficient != 1:
                (term,) = self.record_atoms("multiply", (Constant(coefficient), counter), {})
            if total == Constant(0):
                total = term
            else:
                (total,) = self.record_atoms("add", (term, total), {})
        assert isinstance(total, Variable)
        return total

    def _row(self, row: Row) -> Variable:
        ones = (1,) * len(row.index)
        start = tuple((at,) for at in row.index)
        params = {"start": start, "length": ones, "step": ones, "drop": tuple(range(len(ones)))}
        (number,) = self.record_atoms("slice", (row.atom,), params)
        if row.kept.kind == "python":
            (number,) = self.record_atoms("to_python", (number,), {"dtype": row.kept.dtype})
        return number

    def of_list(self, value: Any) -> Any:
        """An array made of a list; anything else as it is."""
        return self.as_array(value) if isinstance(value, LISTED) else value

    def as_array(self, value: Any, dtype: np.dtype[Any] | None = None) -> Array:
        """A value as an array, as np.asarray makes it: arrays stay, numbers, ranges and nested
        lists of numbers become new arrays."""
        if isinstance(value, Array):
            return self.cast(value, dtype) if dtype else value
        if is_numeric(value):
            array: Array = self.record("asarray", value)
            return self.cast(array, dtype) if dtype else array
        if isinstance(value, range):
            made: Array = self.call(np.arange, (value.start, value.stop, value.step), {})
            return self.cast(made, dtype) if dtype else made
        if not isinstance(value, LISTED):
            self.refuse_foreign(value)
            self.refuse(f"{described(value)} is not an array", "pass arrays, numbers or lists")
        return self.language.array_of(self, value, dtype)

    def cast(self, array: Array, dtype: np.dtype[Any]) -> Array:
        """The array itself if it has the dtype, else a copy in it."""
        if array.type.dtype == dtype:
            return array
        result: Array = self.record("cast", array, dtype=dtype)
        return result

    # --- views and writes ----------------------------------------------------------------------

    def read(self, array: Array) -> Variable:
        """The variable with an array's present value: that of its cell, seen through the array's
        views."""
        variable = array.cell.variable
        if array.cell.depth < self.depth:
            self.around[id(array.cell)] = array.cell
        for step in array.path:
            variable = self._step(variable, step)
        return variable

    def _step(self, variable: Variable, step: ViewStep) -> Variable:
        key = variable, step
        found: Variable | None = self.made.get(key)
        if found is None:
            operands = (variable, *step.counters)
            (found,) = self.record_atoms(step.primitive, operands, step.params)
            self.made[key] = found
        return found

    def view(
        self, array: Array, primitive: str, counters: tuple[Variable, ...] = (), **params: Any
    ) -> Array:
        """A view of an array. It is read at once, so that its equation stands where it was made."""
        step = ViewStep(primitive, freeze(params), counters)
        variable = self._step(self.read(array), step)
        return Array(array.cell, variable.type, (*array.path, step))

    def check_writeable(self, array: Array) -> None:
        reason = next(filter(None, (array.cell.frozen, *(s.read_only for s in array.path))), "")
        if reason:
            self.refuse(
                f"this writes into an array that the function does not own: {reason}",
                "write to a copy (`x = x.copy()`), or make a new array (`x = x + v`)",
            )
        if self.captures.is_held(array.cell):
            self.check_outside("writes into an array that an object holds")
            self.outside.note(Change(CellSite(array.cell), array.cell.made, self.here))
        elif array.cell.depth != self.depth:
            self.refuse(
                "this writes into an array of the enclosing function while it is differentiated",
                "write to a copy",
            )

    def write(self, array: Array, change: Callable[[Variable], Traced]) -> None:
        """Replace the contents of an array by ``change(present value)``, seen by all its views."""
        self.check_writeable(array)
        cell = array.cell
        changed = self._written(cell.variable, array.path, change)
        lies = self.layouts.of(cell.made)
        if lies is None:
            self.layouts.note(changed, None)
        elif not alike(cell.made.type.dims, lies, self.layouts.of(changed)):
            changed = self._put_back(cell.variable, whole(changed.type.dims), changed)
        self.set(CellSite(cell), changed)

    def _written(
        self, variable: Variable, path: tuple[ViewStep, ...], change: Callable[[Variable], Traced]
    ) -> Variable:
        if not path:
            changed = change(variable)
            array = self.as_array(changed)  # a 0-d array stays one
            result = self.read(array)
        else:
            step, *rest = path
            inner = self._written(self._step(variable, step), tuple(rest), change)
            result = self._put_back(variable, step, inner)
        hint = self.recorder.hints.get(variable)
        if hint and result not in self.recorder.hints:
            self.recorder.hints[result] = hint
        return result

    def _put_back(self, base: Variable, step: ViewStep, value: Variable) -> Variable:
        """The base with the part that a view shows replaced: the view's inverse."""
        params = step.params
        if step.primitive == "slice":
            (result,) = self.record_atoms("update", (base, value, *step.counters), params)
            return result
        if step.primitive in ("real", "imag"):
            part = {"part": step.primitive}
            (result,) = self.record_atoms("update_part", (base, value), part)
            return result
        if step.primitive == "diagonal":
            return self._diagonal_put_back(base, step, value)
        inverse: dict[str, tuple[str, dict[str, Any]]] = {
            "reshape": ("reshape", {"shape": base.type.dims}),
            "as_shape": ("as_shape", {"shape": base.type.dims}),
            "expand_dims": ("squeeze", {"axis": params.get("axis")}),
            "squeeze": ("expand_dims", {"axis": params.get("axis")}),
            "transpose": ("transpose", {"axes": np.argsort(params.get("axes", ())).tolist()}),
        }
        if step.primitive not in inverse:
            self.refuse(f"a view made by {step.primitive} cannot be written to", "write to a copy")
        (result,) = self.record_atoms(
            inverse[step.primitive][0], (value,), inverse[step.primitive][1]
        )
        return result

    def _diagonal_put_back(self, base: Variable, step: ViewStep, value: Variable) -> Variable:
        """Put back the diagonals of square matrices: every (n + 1)-th of n * n elements."""
        axes, dims = (step.params["axis1"], step.params["axis2"]), base.type.dims
        n = dims[axes[0]]
        if not isinstance(n, int) or dims[axes[1]] != n or step.params["offset"]:
            self.refuse(
                "this diagonal is not that of square matrices of a known size, and cannot be "
                "written to",
                "write by indices: `i = np.arange(n)`, `a[i, i] = ...`",
            )
        first = [axis for axis in range(len(dims)) if axis not in axes]
        order = (*first, *axes)
        rest = tuple(dims[axis] for axis in first)
        flat = self._step(base, ViewStep("transpose", freeze({"axes": order})))
        rows = self._step(flat, ViewStep("reshape", freeze({"shape": (*rest, n * n)})))
        part = {
            "start": ((0,),) * (len(rest) + 1),
            "length": (*rest, n),
            "step": (*(1 for _ in rest), n + 1),
            "drop": (),
        }
        (written,) = self.record_atoms("update", (rows, value), part)
        (square,) = self.record_atoms("reshape", (written,), {"shape": flat.type.dims})
        back = {"axes": np.argsort(order).tolist()}
        return self.record_atoms("transpose", (square,), back)[0]

    def note_contents(self, container: Any) -> None:
        if is_lent(container):
            self.checked(container[0])
        super().note_contents(container)
        if not self.owns(container) and self.may_change(container):
            self.note(ContentsSite(container, 0, self.orders))

    # --- names ---------------------------------------------------------------------------------

    def hint(self, value: Any, name: str) -> None:
        """Name the variable of a value after the user's name for it, unless it has a name. A name
        that an inner gradient made up gives way to the user's."""
        if isinstance(value, GeneratorValue):
            self.recorder.hints.setdefault(value.atom, name)
        if not is_traced(value) or isinstance(value, Affine | Row):
            return
        variable = value.atom if isinstance(value, Scalar) else self.read(value)
        present = self.recorder.hints.get(variable, "")
        if not present or (present.startswith("d_") and self.section == "forward"):
            self.recorder.hints[variable] = name

    def checked(self, value: Any) -> Any:
        """The value; refused if paths left different values."""
        if isinstance(value, Poison):
            self.refuse(value.reason, value.hint)
        return value

    def may_change(self, container: Any) -> bool:
        """True for a container that the program made, and for one that an object from outside
        holds, of which the change is noted."""
        if self.owns(container):
            return True
        if type(container) not in CHANGEABLE or self.is_disowned(container) or is_lent(container):
            return False
        kind = type(container).__name__
        if id(container) in self.mirrors.of_parts:
            self._refuse_changed_part(kind, self.mirrors.of_parts[id(container)])
        if not self.mirrors.is_of_object(container):
            return False
        self.check_outside(f"changes a {kind} that an object holds")
        origin = self.mirrors.origin(container)
        if isinstance(origin, Place) and type(container) in GROWING:
            self.captures.vary(origin)
        site = ContentsSite(container, 0, self.orders)
        self.outside.note(Change(site, site.read(), self.here))
        return True

    def _refuse_changed_part(self, kind: str, attribute: tuple[type, str]) -> NoReturn:
        """Refuse a change of a list or dict whose floats the derivative is by; without it among the
        parts the call is made again."""
        try:
            self.refuse(
                f"this changes the {kind} `{attribute[1]}` of {an(attribute[0].__name__)}, whose "
                "floats the derivative is by",
                "let `wrt` name the parameters of the object alone",
                ChangedPart,
            )
        except ChangedPart as error:
            error.attribute = attribute
            raise

    def check_outside(self, does: str) -> None:
        """Refuse a change of an object from outside where it could not be made once for a call."""
        if self.leaves_alone:
            self.refuse(
                f"this {does} from outside, in {self.leaves_alone}",
                "return the value and set it outside of that function",
            )

    def place_of(self, owner: Any, value: Any) -> Place | None:
        """The place of the real object ``owner``, from which ``value`` was read; None for objects
        that the program made, and for mirrors of the arguments."""
        found = self.relied.place_of(owner)
        if found is not None or id(owner) in self.owned or self.is_disowned(owner):
            return found
        if isinstance(value, Value) or is_plain_value(value) or trees.children(owner) is not None:
            return None
        found = Place.constant(owner, type(owner).__name__)  # its place is unknown, but it stays
        self.relied.track(owner, found)
        return found

    def asked(self, value: Any) -> Any:
        """The value that decides whether a value is true: for an object of the user's the result of
        its class's method, maybe a traced flag; any other value itself."""
        if type(value) is list and value and isinstance(value[0], Rest):
            return value[0].truth(self, value)
        if is_traced(value) or not is_changeable(type(value)):
            return value
        cls = self.relied.class_of(value)
        for name, kind in (("__bool__", bool), ("__len__", int)):
            method = self.relied.lookup(cls, name)
            if method is MISSING:
                continue
            if not isinstance(method, FunctionType):
                if isinstance(value, tuple | int | str | bytes | Enum | list | dict | deque):
                    return bool(value)
                self.refuse(
                    f"the truth of {an(cls.__name__)} is not known", "compare what it holds"
                )
            result = self.call(method, [value], {})
            given = class_of_number(result)
            if not issubclass(given, kind):
                text = f"{name} should return {kind.__name__}, returned {described(result)}"
                self.refuse(text, "", TypingError)
            return result if isinstance(result, Scalar) else bool(result)
        return True

    def truth(self, value: Any) -> bool:
        """The truth of a static value."""
        assert not is_traced(value)
        for item in value if type(value) in GROWING else ():
            self.checked(item)
        asked = self.asked(value)
        if isinstance(asked, Scalar):
            self.refuse(
                "the truth of this object depends on a value known only at run time",
                "compare the numbers themselves",
            )
        try:
            return bool(self.checked(asked))
        except (TypeError, ValueError) as error:
            return self.fails(error)


def _is_named_part(params: Mapping[str, Any]) -> bool:
    """True for params of a part of an array that is as long as the data or a step decide."""
    return varies((params.get("at", ()), params.get("length", ())))


def whole(dims: tuple[int, ...]) -> ViewStep:
    """The view of all elements of an array."""
    ones = (1,) * len(dims)
    params = {"start": ((0,),) * len(dims), "length": dims, "step": ones, "drop": ()}
    return ViewStep("slice", freeze(params))
