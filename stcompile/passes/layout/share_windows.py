"""Copy the elements that windows have in common once.

A convolution before a pool is computed for each position in the pool, of windows that are a row
apart: of three rows of such windows, two are those of the windows before them. Where the windows
are copied with their rows outermost, a copy of all rows has each of these windows as a part that is
contiguous itself.

>>> from stcompile.wengert.text import parse_program
>>> print(share_windows(parse_program('''
... program f(x: f64[8,16]) {
...   v1: f64[3,3,16] = windows(x; axis=(0,), start=(0,), count=(3,), step=(2,), size=(3,), dilation=(1,), order=(2, 0, 1))
...   v2: f64[3,3,16] = copy(v1)
...   v3: f64[3,3,16] = windows(x; axis=(0,), start=(1,), count=(3,), step=(2,), size=(3,), dilation=(1,), order=(2, 0, 1))
...   v4: f64[3,3,16] = copy(v3)
...   return v2, v4
... }''')))
program f(x: f64[8,16]) {
  v5: f64[4,3,16] = windows(x; axis=(0,), count=(3,), dilation=(1,), order=(2, 0, 1), size=(4,), start=(0,), step=(2,))
  v6: f64[4,3,16] = copy(v5)
  v2: f64[3,3,16] = slice(v6; drop=(), length=(3, 3, 16), start=((0,), (0,), (0,)), step=(1, 1, 1))
  v4: f64[3,3,16] = slice(v6; drop=(), length=(3, 3, 16), start=((1,), (0,), (0,)), step=(1, 1, 1))
  return v2, v4
}
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.overlapping import overlapping
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Equation, Program, freeze
from stcompile.wengert.parts import Part


def share_windows(program: Program) -> Program:
    """The program with one copy of windows that overlap, and parts of it."""
    return eliminate_dead_code(_shared(program))


def _shared(program: Program) -> Program:
    build = Rebuild(with_inner(program, _shared))
    groups: dict[object, list[_Copy]] = {}
    for at in range(len(build.equations)):
        copy = _copy(build, at)
        if copy is not None:
            groups.setdefault(copy.kind, []).append(copy)
    for group in groups.values():
        for run in overlapping(group, lambda copy: (copy.of("start"), copy.stop)):
            _share(build, run)
    return build.done()


@dataclass(frozen=True)
class _Copy:
    """A copy, at a position, of ``windows`` whose elements along a windowed axis, the one at
    ``number``, are outermost: on that ``axis`` of the copy."""

    at: int
    windows: Equation
    number: int
    axis: int

    def of(self, key: str) -> int:
        """A param of the windows on that axis."""
        value = self.windows.params[key][self.number]
        assert isinstance(value, int)
        return value

    @property
    def kind(self) -> object:
        """A key that is equal for windows which may have elements in common: they differ by a
        number of elements along that axis."""
        start, gap = self.of("start"), self.of("dilation")
        same = self.moved(start % gap, 1)
        return self.windows.inputs, tuple(sorted(same.items())), self.axis

    @property
    def stop(self) -> int:
        """The end of the first window."""
        return self.of("start") + self.of("size") * self.of("dilation")

    def moved(self, start: int, size: int) -> dict[str, object]:
        """The params of windows with another start and another size along that axis."""
        params = dict(self.windows.params)
        for key, value in (("start", start), ("size", size)):
            old = params[key]
            params[key] = (*old[: self.number], value, *old[self.number + 1 :])
        return params


def _copy(build: Rebuild, at: int) -> _Copy | None:
    equation = build.equations[at]
    if equation.primitive != "copy" or equation.varies:
        return None
    windows = build.maker(equation.inputs[0], "windows")
    if windows is None or len(windows.inputs) != 1 or windows.varies:
        return None
    dims, before = windows.output.type.dims, windows.inputs[0].type.ndim
    order = windows.params["order"] or range(len(dims))
    axis = next((axis for axis, dim in enumerate(dims) if dim != 1), None)
    if axis is None or order[axis] < before:
        return None
    return _Copy(at, windows, order[axis] - before, axis)


def _share(build: Rebuild, run: Sequence[_Copy]) -> None:
    """Replace copies by parts of a copy of all their elements."""
    if len(run) < 2:
        return
    first, at = run[0], min(copy.at for copy in run)
    start, gap, axis = first.of("start"), first.of("dilation"), first.axis
    size = (max(copy.stop for copy in run) - start) // gap
    location = build.equations[at].location
    params = first.moved(start, size)
    view = build.insert(at, "windows", first.windows.inputs, location, **params)
    whole = build.insert(at, "copy", (view,), location)
    for copy in run:
        equation = build.equations[copy.at]
        dims = equation.output.type.dims
        begin = [0] * len(dims)
        begin[axis] = (copy.of("start") - start) // gap
        part = freeze(Part.block(begin, dims).params)
        build.substitute(
            copy.at, replace(equation, primitive="slice", inputs=(whole,), params=part)
        )
