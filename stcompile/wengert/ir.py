"""The Wengert list: a typed, immutable program in single assignment.

    program   ::= inputs  equations  outputs      its symbols are lengths of its inputs
    equation  ::= outputs  primitive  inputs  params  effects  location
    atom      ::= variable | constant
    variable  ::= name : type
    constant  ::= value : type          a Python number or a NumPy scalar
    params    ::= name = static value   a number, a string, a tuple, a dtype, a size or a program
    type      ::= kind  dtype  dims     kind is python | scalar | array | stack | object
    dim       ::= number | size         a size is a sum of symbols: counters of loops, lengths

The node kinds are those of the literature (Wengert 1964; Griewank & Walther 2008, ch. 2):
variables and constants are the leaves, each equation is an operator. Control flow is an equation
with a closed sub-program among its params. Equations whose ``effects`` are not empty keep their
order and their number; every other equation is pure.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from stcompile.base.location import NOWHERE, Location
from stcompile.base.shown import Shown
from stcompile.wengert.dims import Dim, Symbol, named_by, symbols_in, varies
from stcompile.wengert.types import Type, short_dtype, type_of


@dataclass(frozen=True)
class Variable:
    tree_leaf: ClassVar[bool] = True
    name: str
    type: Type
    _hash: int = field(init=False, repr=False, compare=False)  # variables are looked up often

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.name, self.type)))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, repr=False)
class Constant:
    tree_leaf: ClassVar[bool] = True
    value: Any

    @property
    def type(self) -> Type:
        return type_of(self.value)

    # 1, 1.0 and True, or 0.0 and -0.0, are different constants; every NaN is the same one.
    def _key(self) -> tuple[Type, str]:
        return self.type, repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return repr_atom(self)


Atom: TypeAlias = Variable | Constant
Params: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Equation:
    outputs: tuple[Variable, ...]
    primitive: str
    inputs: tuple[Atom, ...]
    params: Params = field(default_factory=lambda: MappingProxyType({}))
    effects: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)

    def _key(self) -> tuple[Any, ...]:
        return self.outputs, self.primitive, self.inputs, exact(self.params), self.effects

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equation) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        arguments = ", ".join(map(repr_atom, self.inputs))
        params = ", ".join(f"{name}={repr_param(value)}" for name, value in self.params.items())
        effects = f" !{','.join(self.effects)}" if self.effects else ""
        call = f"{self.primitive}({arguments}{'; ' if params else ''}{params}){effects}"
        outputs = ", ".join(map(repr, self.outputs))
        return f"{outputs} = {call}" if outputs else call

    __repr__ = __str__

    @property
    def output(self) -> Variable:
        """The only output."""
        (output,) = self.outputs
        return output

    @property
    def variables(self) -> Iterator[Variable]:
        """The inputs that are variables."""
        return (atom for atom in self.inputs if isinstance(atom, Variable))

    @property
    def programs(self) -> Mapping[str, Program]:
        """The programs among the params, by name: the body of a loop, the arms of a branch."""
        return {name: value for name, value in self.params.items() if isinstance(value, Program)}

    @property
    def is_named(self) -> bool:
        """True if a length in its types or params is known only at run time."""
        if any(atom.type.is_named for atom in (*self.outputs, *self.inputs)):
            return True
        return any(any(symbols_in(value)) for value in self.params.values())

    @property
    def varies(self) -> bool:
        """True if a length in its types or params may change within a call."""
        if any(atom.type.varies for atom in (*self.outputs, *self.inputs)):
            return True
        return any(map(varies, self.params.values()))

    @property
    def binds(self) -> Symbol | None:
        """The symbol that stands for the output from here to the end of the program, if any."""
        return self.params["binds"] if self.primitive == "named" else None

    def substitute(self, mapping: Mapping[Variable, Atom]) -> Equation:
        """The equation with its inputs replaced."""
        inputs = substituted(self.inputs, mapping)
        return self if all(map(operator.is_, inputs, self.inputs)) else self.with_inputs(inputs)

    def with_inputs(self, inputs: tuple[Atom, ...]) -> Equation:
        """The equation with other inputs."""
        return Equation(
            self.outputs, self.primitive, inputs, self.params, self.effects, self.location
        )


@dataclass(frozen=True, repr=False)
class Program(Shown):
    name: str
    inputs: tuple[Variable, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Atom, ...]

    def __str__(self) -> str:
        return self.text("".join(map(repr_param, self.symbols)))

    def text(self, bound: str = "") -> str:
        """The program as text, for printing it inside another program."""
        lines = [f"program {self.name}{bound}({', '.join(map(repr, self.inputs))}) {{"]
        for equation in self.equations:
            lines += [f"  {line}" for line in str(equation).splitlines()]
        return "\n".join([*lines, f"  return {', '.join(map(repr_atom, self.outputs))}", "}"])

    def html(self) -> str:
        from stcompile.base.html import WENGERT, code

        return code(str(self), WENGERT)

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(variable.type for variable in self.inputs)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The lengths of inputs that are known only at run time."""
        named = (named_by(dim) for variable in self.inputs for dim in variable.type.dims)
        return tuple(dict.fromkeys(symbol for symbol in named if symbol is not None))

    def with_equations(
        self, equations: Sequence[Equation], mapping: Mapping[Variable, Atom] = MappingProxyType({})
    ) -> Program:
        """The program with other equations and with its outputs replaced; the program itself if
        nothing changes."""
        outputs = substituted(self.outputs, mapping)
        pairs = zip((*equations, *outputs), (*self.equations, *self.outputs), strict=False)
        if len(equations) == len(self.equations) and all(new is old for new, old in pairs):
            return self
        return replace(self, equations=tuple(equations), outputs=outputs)


def freeze(params: Mapping[str, Any]) -> Params:
    """Params sorted by name, read-only, lists as tuples."""
    if isinstance(params, MappingProxyType):  # frozen already
        return params
    return MappingProxyType({name: _frozen(params[name]) for name in sorted(params)})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


def exact(static: Any) -> Hashable:
    """A key that is equal only for identical static values: it differs for 1, 1.0 and True, and for
    0.0 and -0.0, as constants do.

    >>> exact({"values": (0.0, 1.0)}) == exact({"values": (-0.0, 1.0)})
    False
    """
    if isinstance(static, Mapping):
        return tuple([(name, exact(value)) for name, value in static.items()])
    if isinstance(static, tuple):
        kinds = set(map(type, static))
        if kinds == {float}:  # there may be many
            return float, array("d", static).tobytes()
        return static if kinds <= {int} else tuple(map(exact, static))
    if isinstance(static, float | complex | bool | np.generic):
        return type(static), repr(static)
    return cast(Hashable, static)


def substituted(atoms: Iterable[Atom], mapping: Mapping[Variable, Atom]) -> tuple[Atom, ...]:
    """The atoms with variables replaced."""
    return tuple([mapping.get(a, a) if isinstance(a, Variable) else a for a in atoms])


def map_programs(equation: Equation, change: Callable[[Program], Program]) -> Equation:
    """The equation with each of its sub-programs changed. The sub-program of a kernel stays
    unchanged: it is for Numba, and not for NumPy."""
    return map_named_programs(equation, lambda _, program: change(program))


def map_named_programs(equation: Equation, change: Callable[[str, Program], Program]) -> Equation:
    """The equation with each of its sub-programs changed, depending on the name of the param."""
    if not equation.params or equation.primitive == "kernel":
        return equation
    changed = {
        name: change(name, value)
        for name, value in equation.params.items()
        if isinstance(value, Program)
    }
    if not changed or all(equation.params[name] is value for name, value in changed.items()):
        return equation
    return replace(equation, params=freeze({**equation.params, **changed}))


def inner_effects(params: Params) -> tuple[str, ...]:
    """The effects of the sub-programs that an equation runs: they are its own. An adjoint runs
    elsewhere."""
    found: dict[str, None] = {}
    for name, value in params.items():
        if isinstance(value, Program) and name != "adjoint":
            for equation in value.equations:
                found.update(dict.fromkeys(equation.effects))
    return tuple(found)


def every_equation(equations: Iterable[Equation]) -> Iterator[Equation]:
    """All equations, each followed by the equations of the programs inside it."""
    for equation in equations:
        yield equation
        for program in equation.programs.values():
            yield from every_equation(program.equations)


def mentioned(equations: Iterable[Equation]) -> set[Symbol]:
    """The symbols that the types and params of some equations mention."""
    found: set[Symbol] = set()
    for equation in every_equation(equations):
        for atom in (*equation.inputs, *equation.outputs):
            found.update(symbols_in(atom.type.dims))
        for value in equation.params.values():
            if isinstance(value, Symbol):
                found.update(symbols_in((value.low, value.high)))
            found.update(symbols_in(value))
    return found


def as_variable(atom: Atom) -> Variable:
    """An atom that is known to be a variable."""
    assert isinstance(atom, Variable)
    return atom


def free_variables(
    equations: Iterable[Equation], outputs: Iterable[Atom], bound: Iterable[Variable]
) -> tuple[Variable, ...]:
    """Variables that are read but not defined, in order of their first use."""
    defined = set(bound)
    free: dict[Variable, None] = {}
    for equation in equations:
        for variable in equation.variables:
            if variable not in defined:
                free.setdefault(variable)
        defined.update(equation.outputs)
    for atom in outputs:
        if isinstance(atom, Variable) and atom not in defined:
            free.setdefault(atom)
    return tuple(free)


def repr_atom(atom: Atom) -> str:
    """A variable by its name, a constant by its value (``f32(0.5)`` for a NumPy scalar)."""
    if isinstance(atom, Variable):
        return atom.name
    if atom.type.kind == "python":
        return repr(atom.value)
    kind = atom.type.dtype.kind
    shown = str(atom.value) if kind == "f" else repr(atom.value.item())  # f32: its own digits
    return f"{atom.type}({shown})"


def repr_param(value: Any) -> str:
    """A static value as text that `stcompile.wengert.text` reads back."""
    if isinstance(value, tuple):
        items = ", ".join(map(repr_param, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, Program):
        return value.text()
    if isinstance(value, Symbol):
        like = "" if value.typical is None else f" like {value.typical}"
        return f"[{value}: {value.low} to {value.high}{like}]"
    if isinstance(value, Dim):
        return f"[{value}]"
    return short_dtype(value) if isinstance(value, np.dtype) else repr(value)
