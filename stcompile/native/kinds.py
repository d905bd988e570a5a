"""The types of translated code: numbers, arrays of known shape, and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from stcompile.native.sizes import size_text
from stcompile.wengert.bounds import least, maximum
from stcompile.wengert.dims import Size, Sizes, is_named, number_of_elements

_NAMES = {
    "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": "float",
    "float64": "double",
    "complex64": "float complex",
    "complex128": "double complex",
}


@dataclass(frozen=True)
class Number:
    """A number of a dtype of NumPy's; Python's have 64 bits."""

    dtype: np.dtype
    dims: ClassVar[Sizes] = ()  # as an array has

    @property
    def of(self) -> Number:
        """The same, as an array has the kind of its elements."""
        return self

    @property
    def c(self) -> str:
        """The type in C."""
        return _NAMES[self.dtype.name]

    @property
    def suffix(self) -> str:
        """The ending of libm's functions for it."""
        return "f" if self.dtype in (np.dtype("float32"), np.dtype("complex64")) else ""

    @property
    def part(self) -> Number:
        """The type of the real and the imaginary part."""
        is_complex = self.dtype.kind == "c"
        return Number(np.dtype(f"f{self.dtype.itemsize // 2}")) if is_complex else self


@dataclass(frozen=True)
class Array:
    """An array whose elements lie in C order. Lengths that have names have those of C."""

    of: Number
    dims: Sizes

    @property
    def shape(self) -> Sizes:
        """The lengths in C, where an array has an element at least. An empty one has a single
        element, so that each other shape of it fits there."""
        if self.size == 0:
            return (1,) * max(len(self.dims), 1)
        return tuple(maximum(n, 1) for n in self.dims) or (1,)

    @property
    def is_named(self) -> bool:
        """True if lengths have names."""
        return is_named(self.dims)

    def pointer(self, name: str) -> str:
        """The declaration of a pointer to its first row."""
        rest = "".join(f"[{size_text(n)}]" for n in self.shape[1:])
        return f"{self.of.c} (*{name}){rest}" if rest else f"{self.of.c} *{name}"

    def member(self, name: str) -> str:
        """The declaration of the array in a struct, or of a pointer to its elements if its lengths
        have names."""
        if self.is_named:
            return f"{self.of.c} *{name}"
        return f"{self.of.c} {name}" + "".join(f"[{n}]" for n in self.shape)

    @property
    def size(self) -> Size:
        """The number of elements."""
        return number_of_elements(self.dims)

    @property
    def count(self) -> str:
        """The number of elements in C, as a factor."""
        return f"(size_t)({size_text(self.size)})" if self.is_named else str(self.size)


Kind: TypeAlias = Number | Array
BOOL, INT, FLOAT = (Number(np.dtype(name)) for name in ("bool", "int64", "float64"))
COMPLEX = Number(np.dtype("complex128"))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function. An array or number that is not ``is_read`` is written to; an array
    that ``is_alone`` overlaps no other."""

    name: str
    kind: Kind
    is_read: bool = True
    is_alone: bool = True

    @property
    def text(self) -> str:
        """The declaration.

        >>> Parameter("w", Array(FLOAT, (3, 2))).text, Parameter("value", FLOAT, False).text
        ('const double w[restrict 3][2]', 'double *value')
        """
        if isinstance(self.kind, Number):
            return f"{self.kind.c} {'' if self.is_read else '*'}{self.name}"
        const, alone = "const " * self.is_read, "restrict " * self.is_alone
        if self.kind.is_named and least(self.kind.dims[0]) < 1:  # C has no arrays of length 0
            return const + self.kind.pointer(alone + self.name)
        first, *rest = map(size_text, self.kind.shape)
        return f"{const}{self.kind.of.c} {self.name}[{alone}{first}]" + "".join(
            f"[{n}]" for n in rest
        )

    @property
    def in_cpp(self) -> str:
        """The declaration in C++.

        >>> Parameter("w", Array(COMPLEX, (3, 2))).in_cpp
        'const double _Complex *w'
        """
        const = "const " * (self.is_read and isinstance(self.kind, Array))
        pointer = "*" * (not self.is_read or isinstance(self.kind, Array))
        return f"{const}{self.kind.of.c.replace('complex', '_Complex')} {pointer}{self.name}"


def is_wider(one: Number, other: Number) -> bool:
    """True if numbers of one type lose something as numbers of the other: fractions, or an
    imaginary part."""
    order = "biufc"
    return order.index(one.dtype.kind) > max(order.index(other.dtype.kind), order.index("u"))


def common(one: Number, other: Number) -> Number:
    """The type that Numba computes in: integers and booleans have 64 bits, and with float32 an
    integer of 64 bits makes float64.

    >>> common(INT, Number(np.dtype("float32"))).c
    'double'
    """
    found = np.promote_types(one.dtype, other.dtype)
    return Number(np.dtype("int64") if found.kind in "biu" else found)
