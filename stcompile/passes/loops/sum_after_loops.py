"""Take sums over the steps of a loop after it, sums of products as a single product.

The gradient of a weight is the sum of a product in each step. If the loop does nothing else with
that sum, the factors of all steps are kept, and a product over steps and rows together is the sum.
Sums over the rows of values that are kept anyway are treated in the same way. It rounds
differently.

>>> from stcompile.wengert.text import parse_program
>>> print(sum_after_loops(parse_program('''
... program f(d: f32[5,4], hs: f32[3,5,4]) {
...   z: f32[4,4] = full(0; dtype=f32, shape=(4, 4))
...   d.1: f32[5,4], d_w: f32[4,4] = loop(d, z, hs; carry=2, constants=0, length=3, reverse=True,
...     body=program body(k: int, d: f32[5,4], d_w: f32[4,4], h: f32[5,4]) {
...       v1: f32[5,4] = multiply(d, h)
...       v2: f32[4,4] = contract(h, v1; batch=(), contracted=((0, 0),), order=(), spelling='')
...       d_w.1: f32[4,4] = accumulate(d_w, v2; op='add')
...       return v1, d_w.1
...     })
...   return d.1, d_w
... }''')))
program f(d: f32[5,4], hs: f32[3,5,4]) {
  z: f32[4,4] = full(0; dtype=f32, shape=(4, 4))
  d.1: f32[5,4], v1: f32[3,5,4] = loop(d, hs; body=program body(k: int, d: f32[5,4], h: f32[5,4]) {
    v1: f32[5,4] = multiply(d, h)
    return v1, v1
  }, carry=1, constants=0, length=3, reverse=True)
  v2: f32[15,4] = reshape(hs; shape=(15, 4))
  v3: f32[15,4] = reshape(v1; shape=(15, 4))
  d_w: f32[4,4] = contract(v2, v3; batch=(), contracted=((0, 0),), order=(), spelling='')
  return d.1, d_w
}
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stcompile.base.location import Location
from stcompile.base.thresholds import ALL_STEPS_BYTES, CACHED_BYTES, LARGE_STEP_BYTES
from stcompile.passes.general.rebuild import Scope, is_zeros
from stcompile.passes.loops.all_steps import LAYOUT, behind, moved_equation, moved_values
from stcompile.passes.loops.loop_ports import CountedLoop, change_loops, needed
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.loops import Carried, Kept
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction, contracting
from stcompile.wengert.stacked import Value


def sum_after_loops(program: Program) -> Program:
    """The program with sums over the steps of its loops taken after them."""
    return change_loops(program, _pushed)


def _pushed(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    pusher = _Pusher(scope, loop)
    return pusher.push() if loop.length > 1 else None


ARRANGED = frozenset({"reshape", "transpose", "expand_dims"})
"""Primitives that arrange the elements of an array, for a sum and for each of its terms alike."""


@dataclass(frozen=True)
class _Term:
    """An addition, in the body, to a carried value: the equation, and the equations that rearrange
    the added value after it was computed."""

    link: Equation
    carried: Carried
    value: Variable
    arranged: tuple[Equation, ...]

    @property
    def computed(self) -> Atom:
        """The value before it is rearranged."""
        return self.arranged[0].inputs[0] if self.arranged else self.value


class _Pusher:
    def __init__(self, scope: Scope, loop: CountedLoop) -> None:
        self.scope = scope
        self.loop = loop
        self.makers = {v: e for e in loop.equations for v in e.outputs}
        finals: list[Atom] = [*(c.final for c in loop.carry), *(y.atom for y in loop.ys)]
        self.uses = Counter([v for e in loop.equations for v in e.variables])
        self.uses.update(a for a in finals if isinstance(a, Variable))
        self.trial = scope.aside()
        self.after = scope.aside()  # computations with the loop's own results
        self.known: dict[Variable, Value] = moved_values(
            loop, self.trial, LAYOUT - {"broadcast_to"}
        )
        for y in loop.ys:
            if isinstance(y.atom, Variable) and y.port.type.kind == "array":
                self.known.setdefault(y.atom, Value(y.port, True))
        self.ys = list(loop.ys)
        self.room = ALL_STEPS_BYTES

    def push(self) -> Mapping[Variable, Atom] | None:
        terms = [term for carried in self.loop.carry for term in self._terms(carried)]
        pushed = [term for term in terms if self._is_product(term)]
        pushed += [term for term in terms if term not in pushed and self._is_kept(term)]
        if not pushed:
            return None
        left = self._without(pushed)
        early, late = self.trial.equations, self.after.equations
        after = needed(late, self._outer_atoms(pushed))
        read = [*self._outer_atoms(pushed), *(v for e in after for v in e.variables)]
        for equation in (*needed(early, read), left.done(), *after):
            self.scope.add(equation)
        for carried in self.loop.carry:
            self._add_up(carried, [term for term in pushed if term.carried is carried], left)
        return {}

    # --- sums that can move --------------------------------------------------------------------

    def _terms(self, carried: Carried) -> list[_Term]:
        """The terms that are added to a carried array, if it is not used otherwise."""
        if carried.variable.type.kind != "array" or not carried.variable.type.inexact:
            return []
        found: list[_Term] = []
        atom: Atom = carried.final
        while atom != carried.variable:
            link = self.makers.get(atom) if isinstance(atom, Variable) else None
            if link is None or not _is_addition(link) or self.uses[link.output] != 1:
                return []
            atom, value, *places = link.inputs
            if isinstance(value, Variable) and self._adds(link, value, places):
                found.append(_Term(link, carried, value, self._arranged(value)))
        return found[::-1] if self.uses[carried.variable] == 1 else []

    def _arranged(self, value: Variable) -> tuple[Equation, ...]:
        """The equations that rearrange a value and that nothing else reads."""
        found: list[Equation] = []
        atom: Atom = value
        while isinstance(atom, Variable) and self.uses[atom] == 1:
            maker = self.makers.get(atom)
            if maker is None or maker.primitive not in ARRANGED:
                break
            found.append(maker)
            atom = maker.inputs[0]
        return tuple(found[::-1])

    def _adds(self, link: Equation, value: Variable, places: Sequence[Atom]) -> bool:
        """True if an addition adds a value unchanged, to the whole or to the same part in each
        step."""
        whole = link.params.get("op", "add") == "add"
        fits = value.type == link.output.type if whole else value.type.kind == "array"
        return (
            fits
            and value.type.dtype == link.output.type.dtype
            and all(self._outer(place) is not None for place in places)
        )

    def _outer(self, atom: Atom) -> Atom | None:
        """The atom outside of the loop that equals an atom of the body, if it is the same in all
        steps."""
        if not isinstance(atom, Variable):
            return atom
        found = self.known.get(atom)
        return found.atom if found is not None and not found.batched else None

    def _is_product(self, term: _Term) -> bool:
        """True for a sum of products both of whose factors are available after the loop, or can be
        kept for it."""
        contract = self._made_by(term, "contract")
        if contract is None or contract.params["batch"]:
            return False
        new = []
        for atom in contract.inputs:
            assert isinstance(atom, Variable)
            found = self.known.get(atom)
            if found is None:
                new.append(atom)
            elif not found.batched:
                return False
        bytes_needed = sum(v.type.nbytes for v in set(new)) * self.loop.length
        large = max(LARGE_STEP_BYTES, term.value.type.nbytes // 2)  # adding takes longer than them
        if any(v.type.nbytes > large for v in new) or bytes_needed > self.room:
            return False
        self.room -= bytes_needed
        for variable in new:
            self._keep(variable)
        return True

    def _keep(self, variable: Variable) -> None:
        if variable not in self.known:
            port = self.loop.port(self.scope, variable)
            self.ys.append(Kept(variable, port))
            self.known[variable] = Value(port, True)

    def _is_kept(self, term: _Term) -> bool:
        """True for a sum of values, or of their sums or products with constants, that are available
        after the loop anyway."""
        if self._is_stepped(term.value):
            return True
        total = self._made_by(term, "sum")
        if total is not None:
            return self._is_stepped(total.inputs[0]) or self._is_computed_after(total.inputs[0])
        contract = self._made_by(term, "contract")
        if contract is None or contract.params["batch"]:
            return False
        found = [self.known.get(atom) for atom in contract.inputs if isinstance(atom, Variable)]
        return len([f for f in found if f is not None]) == 2

    def _is_computed_after(self, atom: Atom) -> bool:
        """True for an elementwise function of values that are available after the loop: it is
        computed for all steps at once, if nothing else reads it and it is small."""
        maker = self.makers.get(atom) if isinstance(atom, Variable) else None
        if maker is None or not PRIMITIVES[maker.primitive].elementwise:
            return False
        (made,) = maker.outputs
        if self.uses[made] != 1 or maker.location.errstate:
            return False
        if not all(v in self.known for v in maker.variables):
            return False
        bytes_needed = atom.type.nbytes * self.loop.length
        if bytes_needed > min(CACHED_BYTES, self.room):
            return False
        found = moved_equation(maker, self.known, self.loop, self.after)
        if found is None or not found[0].batched:
            return False
        self.room -= bytes_needed
        self.known[made] = found[0]
        return True

    def _is_stepped(self, atom: Atom) -> bool:
        found = self.known.get(atom) if isinstance(atom, Variable) else None
        return found is not None and found.batched

    def _made_by(self, term: _Term, primitive: str) -> Equation | None:
        """The equation of the value that a term adds, if it is of this primitive and for the term
        alone."""
        maker = self._maker(term)
        if maker is None or maker.primitive != primitive:
            return None
        if self.uses[maker.output] != 1 or self.uses[term.value] != 1:
            return None
        return maker if maker.location.errstate == term.link.location.errstate else None

    def _maker(self, term: _Term) -> Equation | None:
        """The equation that computes the value that a term adds."""
        computed = term.computed
        return self.makers.get(computed) if isinstance(computed, Variable) else None

    # --- the loop without them -----------------------------------------------------------------

    def _without(self, pushed: Sequence[_Term]) -> CountedLoop:
        links = {term.link.output: term.link.inputs[0] for term in pushed}
        read = {a for t in pushed for a in (t.value, *(e.inputs[0] for e in t.arranged))}
        dead = {atom for atom in read if isinstance(atom, Variable) and self.uses[atom] == 1}
        mapping: dict[Variable, Atom] = {}
        equations = []
        for equation in self.loop.equations:
            moved = equation.substitute(mapping)
            if len(equation.outputs) == 1 and equation.output in links:
                mapping[equation.output] = moved.inputs[0]
            elif (
                len(equation.outputs) != 1
                or equation.output not in dead
                or self._is_output(equation.output)
            ):
                equations.append(moved)
        carry = []
        for c in self.loop.carry:
            final = mapping.get(c.final, c.final) if isinstance(c.final, Variable) else c.final
            mine = any(term.carried is c for term in pushed)
            if not mine:
                carry.append(c)
            elif final != c.variable:
                result = self.scope.variable(c.result.type, c.result.name)
                carry.append(Carried(c.initial, c.variable, final, result))
        return replace(self.loop, carry=tuple(carry), ys=tuple(self.ys), equations=tuple(equations))

    def _is_output(self, variable: Variable) -> bool:
        return any(y.atom == variable for y in self.ys)

    def _outer_atoms(self, pushed: Sequence[_Term]) -> list[Atom]:
        """The atoms outside of the loop that the sums read."""
        atoms: list[Atom] = []
        for term in pushed:
            maker = self._maker(term)
            for atom in (term.value, *(maker.variables if maker is not None else ())):
                if atom in self.known:
                    atoms.append(self.known[atom].atom)
        return atoms

    # --- the sums after it ---------------------------------------------------------------------

    def _add_up(self, carried: Carried, terms: Sequence[_Term], left: CountedLoop) -> None:
        if not terms:
            return
        rest = next((c for c in left.carry if c.variable == carried.variable), None)
        total: Atom | None = carried.initial if rest is None else rest.result
        if rest is None and is_zeros(self.scope.maker(carried.initial)):
            total = None
        for place, term in enumerate(terms):
            output = carried.result if place == len(terms) - 1 else None
            link = term.link
            whole = link.params.get("op", "add") == "add"
            if total is None and whole:
                total = self._total(term, output)
                continue
            added = self._total(term, None)
            places = [outer for a in link.inputs[2:] if (outer := self._outer(a)) is not None]
            total = self.scope.record(
                *("accumulate", (carried.initial if total is None else total, added, *places)),
                *(link.location, output),
                **({"op": "add"} if whole else link.params),
            )

    def _total(self, term: _Term, output: Variable | None) -> Variable:
        """The sum over all steps of the value that a term adds."""
        if self._is_stepped(term.value):
            where = term.link.location
            return self._over_steps(self.known[term.value].atom, where, output)
        total = self._computed_total(term, None if term.arranged else output)
        for place, equation in enumerate(term.arranged, 1):
            named = output if place == len(term.arranged) else None
            primitive, where = equation.primitive, equation.location
            total = self.scope.record(primitive, (total,), where, named, **equation.params)
        return total

    def _computed_total(self, term: _Term, output: Variable | None) -> Variable:
        """The sum over all steps of the value that a term adds, before it is rearranged."""
        where, maker = term.link.location, self._maker(term)
        assert maker is not None
        if maker.primitive == "sum":
            x = self._known(maker.inputs[0]).atom
            axes, keepdims = behind(maker.params["axis"]), maker.params["keepdims"]
            each = self.scope.record("sum", (x,), maker.location, axis=axes, keepdims=keepdims)
            return self._over_steps(each, where, output)
        left, right = (self._known(atom) for atom in maker.inputs)
        if left.batched and right.batched:
            return self._product(maker, left.atom, right.atom, output)
        if not (left.batched or right.batched):  # the same in every step
            factors = [left.atom, right.atom]
            once = self.scope.record("contract", tuple(factors), maker.location, **maker.params)
            times = Constant(float(self.loop.length))
            return self.scope.record("multiply", (times, once), where, output)
        factors = [
            self._over_steps(known.atom, where, None) if known.batched else known.atom
            for known in (left, right)
        ]
        return self.scope.record("contract", tuple(factors), maker.location, output, **maker.params)

    def _known(self, atom: Atom) -> Value:
        assert isinstance(atom, Variable)
        return self.known[atom]

    def _over_steps(self, atom: Atom, where: Location, output: Variable | None) -> Variable:
        return self.scope.record("sum", (atom,), where, output, axis=(0,), keepdims=False)

    def _product(self, maker: Equation, x: Atom, y: Atom, output: Variable | None) -> Variable:
        """Contract over steps and contracted axes together, as matrices with a row for each
        combination."""
        view, where, order = Contraction.of(maker), maker.location, maker.params["order"]
        left, free_left = self._rows(x, view.summed(0), where)
        right, free_right = self._rows(y, view.summed(1), where)
        natural = (*free_left, *free_right)
        plain = natural == maker.output.type.dims and not order
        flat = len(free_left) <= 1 and len(free_right) <= 1
        product = self.scope.record(
            "contract",
            (left, right),
            where,
            output if plain and flat else None,
            **contracting((0, 0)),
        )
        if not flat:
            product = self.scope.record(
                "reshape", (product,), where, output if plain else None, shape=natural
            )
        if not plain:
            product = self.scope.record("transpose", (product,), where, output, axes=order)
        return product

    def _rows(
        self, atom: Atom, contracted: Sequence[int], where: Location
    ) -> tuple[Atom, tuple[int, ...]]:
        """A factor of all steps as a matrix: a row for each step and contracted index, a column
        for each of the free indices, whose dims are returned as well."""
        axes = (0, *behind(contracted))
        free = tuple(a for a in range(atom.type.ndim) if a not in axes)
        if (*axes, *free) != tuple(range(atom.type.ndim)):
            turned = self.scope.record("transpose", (atom,), where, axes=(*axes, *free))
            atom = self.scope.record("copy", (turned,), where)
        dims = atom.type.dims
        rows, columns = dims[: len(axes)], dims[len(axes) :]
        shape = (math.prod(rows), *((math.prod(columns),) if columns else ()))
        if shape != dims:
            atom = self.scope.record("reshape", (atom,), where, shape=shape)
        return atom, columns


def _is_addition(equation: Equation) -> bool:
    """True for an addition to the first operand or a part of it."""
    if equation.primitive == "accumulate":
        return equation.params["op"] in ("add", "slice", "index", "distinct")
    return equation.primitive == "add"
