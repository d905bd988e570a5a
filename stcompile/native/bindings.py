"""Facts about kernels in C that stay with a compiled function, and go to other processes."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, TypeAlias

NUMBER = "number_of_threads"  # the variable of a library of kernels


class CompilerError(Exception):
    """There is no compiler of C, or it fails."""


Part: TypeAlias = str | int | tuple[int]  # of a message; in brackets the position of a number


@dataclass(frozen=True)
class Raised:
    """An error that a kernel raises: its class by name, the parts of its message (the number in
    brackets is one that the kernel says), and the line and the function of the text that raise
    it."""

    error: str
    parts: tuple[Part, ...]
    line: int
    function: str

    @property
    def text(self) -> str:
        """The error in words; what stands there of numbers that the call has is left open."""
        said = " ".join("..." if isinstance(part, tuple) else str(part) for part in self.parts)
        return f"{self.error}: {said}".removesuffix(": ")


@dataclass(frozen=True)
class Binding:
    """Facts that Python needs to call a kernel: its name, the number of its operands, those that
    are arrays, as position, dtype and whether they are written, the dtypes of the arrays that it
    returns, and whether it has loops in several threads."""

    name: str
    count: int
    arrays: tuple[tuple[int, str, bool], ...]
    made: tuple[str, ...]
    has_threads: bool = False


@dataclass(frozen=True)
class KernelsInC:
    """Kernels as C: the text, the kernels that it has, the errors that they raise, by code, whether
    arithmetic may be reordered, and whether all kernels of the program are here."""

    text: str
    bindings: tuple[Binding, ...]
    raised: tuple[Raised, ...]
    fastmath: bool
    is_all: bool

    @property
    def has_threads(self) -> bool:
        """True if a kernel has loops in several threads."""
        return any(one.has_threads for one in self.bindings)

    @property
    def plain(self) -> tuple[Any, ...]:
        """The same as tuples of plain values."""
        return astuple(self)

    @classmethod
    def of_plain(cls, text: str, bindings: Any, raised: Any, *options: bool) -> KernelsInC:
        """Kernels from `plain`."""
        bound = tuple(Binding(*one) for one in bindings)
        return cls(text, bound, tuple(Raised(*one) for one in raised), *options)
