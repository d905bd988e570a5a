"""The numbers of one run: of every equation after each stage, and of every line with its cotangent.

A value is summed up for the page: small values whole, larger arrays by their range, a histogram and
a small picture. Equal values are stored once.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stcompile.views.explorer.listing import Listed
from stcompile.views.watching import Budget, Enough
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program

WHOLE = 48  # elements of an array that is shown whole
BINS = 24
SIDE = 32  # pixels of a picture
SAMPLES = 96  # points of a curve
NOTHING = 255  # a pixel without a number


@dataclass
class Values:
    """Summaries of values, each once; `number_of` gives its place in ``summaries``."""

    summaries: list[dict[str, Any]] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, value: Any, series: Sequence[float] = ()) -> int:
        found = summary(value)
        if len(series) > 1:
            found |= {"steps": len(series), "series": _curve(np.array(series))}
        key = hashlib.blake2b(repr(found).encode(), digest_size=16).digest()
        if key not in self.known:
            self.known[key] = len(self.summaries)
            self.summaries.append(found)
        return self.known[key]


@dataclass
class _Noted:
    """The results of an equation the last time that it ran, and the size of each result every
    time."""

    results: tuple[Any, ...] = ()
    sizes: list[list[float]] = field(default_factory=list)


def run(
    program: Program,
    inputs: Sequence[Any],
    rows: Sequence[Listed],
    values: Values,
    budget: Budget,
) -> list[list[int]]:
    """Run a program, and return for each row the numbers of the values that it defines, if it is
    reached within the budget."""
    noted: dict[int, _Noted] = {}

    def watch(
        equation: Equation, _: tuple[Any, ...], results: tuple[Any, ...], steps: tuple[int, ...]
    ) -> None:
        budget.spend(steps)
        note = noted.setdefault(id(equation), _Noted())
        note.results = results
        if steps:
            note.sizes.append(list(map(_size, results)))

    quiet = io.StringIO()
    with (
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(quiet),
        contextlib.suppress(Enough),
    ):
        evaluate(program, *map(_kept, inputs), watch=watch)
    given = dict(zip(program.inputs, inputs, strict=True))
    found = []
    for one in rows:
        if one.variable is not None:
            found.append([values.number_of(given[one.variable])])
        elif one.equation is not None and id(one.equation) in noted:
            found.append(_numbers(noted[id(one.equation)], values))
        else:
            found.append([])
    return found


def _kept(value: Any) -> Any:
    """An argument for a run that may change it, as a training step does: the user's stays."""
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _numbers(note: _Noted, values: Values) -> list[int]:
    series = zip(*note.sizes, strict=True) if note.sizes else [()] * len(note.results)
    pairs = zip(note.results, series, strict=True)
    return [values.number_of(result, sizes) for result, sizes in pairs]


def _size(value: Any) -> float:
    """A number itself; of an array its norm."""
    if isinstance(value, np.ndarray) and value.ndim:
        with np.errstate(all="ignore"):
            return float(np.linalg.norm(np.abs(value).astype(np.float64).ravel()))
    if isinstance(value, bool | int | float | np.generic | np.ndarray):
        return float(np.real(value))
    return float("nan")


# --- summaries of values -------------------------------------------------------------------------


def summary(value: Any) -> dict[str, Any]:
    """A value as JSON: ``text`` for a number; for an array its shape, and a summary of its
    entries."""
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind in "biufc"):
        return _of_array(value)
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return {"text": shown(value)}
    if isinstance(value, list):  # of a loop whose number of steps is known only now
        return {"text": f"{len(value)} values", "items": [summary(item) for item in value[:4]]}
    return {"text": type(value).__name__}


def shown(number: Any) -> str:
    """A number with five digits.

    >>> shown(0.123456789), shown(12), shown(float("nan")), shown(1 - 0.5j)
    ('0.12346', '12', 'nan', '1-0.5j')
    """
    item = number.item() if isinstance(number, np.generic | np.ndarray) else number
    if isinstance(item, complex):
        return f"{item.real:.5g}{item.imag:+.5g}j"
    return f"{item:.5g}" if isinstance(item, float) else str(item)


def _of_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if 0 < array.size <= WHOLE:
        found["rows"] = _rows(array)
    if array.dtype.kind not in "biufc" or not array.size:
        return found
    is_complex = array.dtype.kind == "c"
    numbers = (np.abs(array) if is_complex else array).astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    found["of"] = "|z|" if is_complex else ""
    found["odd"] = int(numbers.size - finite.size)  # NaN and infinities
    found["zeros"] = int(np.count_nonzero(numbers == 0))
    if finite.size:
        with np.errstate(all="ignore"):
            found["range"] = [shown(finite.min()), shown(finite.mean()), shown(finite.max())]
        found["bins"] = _bins(finite)
    if array.size > 4 and array.ndim == 1:
        found["curve"] = _curve(numbers)
    elif array.size > 4 and array.ndim > 1:
        found["picture"] = _picture(numbers)
    return found


def _rows(array: np.ndarray[Any, Any]) -> list[list[str]]:
    table = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    return [[shown(number) for number in row] for row in table]


def _bins(finite: np.ndarray[Any, Any]) -> list[int]:
    """The number of entries in each part of the range, as heights up to 100."""
    if finite.min() == finite.max():
        return []
    counts = np.bincount((_spread(finite) * (BINS - 1e-9)).astype(int), minlength=BINS)
    return [int(np.ceil(100 * count / counts.max())) for count in counts]


def _curve(numbers: np.ndarray[Any, Any]) -> list[int | None]:
    """Samples of a line, from 0 to 100; None for an entry that is not finite."""
    at = np.linspace(0, len(numbers) - 1, min(len(numbers), SAMPLES)).astype(int)
    samples = numbers[at].astype(np.float64)
    is_finite = np.isfinite(samples)
    heights = iter(_spread(samples[is_finite])) if is_finite.any() else iter(())
    return [int(100 * next(heights)) if known else None for known in is_finite]


def _spread(finite: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The positions of numbers in their range, from 0 to 1; divided first, so that none
    overflows."""
    scaled = finite / (float(np.abs(finite).max()) or 1.0)
    low, high = scaled.min(), scaled.max()
    return np.asarray((scaled - low) / ((high - low) or 1.0))


def _picture(numbers: np.ndarray[Any, Any]) -> dict[str, Any]:
    """An array as a small picture: 0 is grey, and the number with the largest magnitude black or
    white. If there are more than two axes, the leading axes are joined."""
    table = numbers.reshape(-1, numbers.shape[-1])
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).astype(int) for n in table.shape)
    part = table[np.ix_(rows, columns)]
    finite = np.isfinite(part)
    most = float(np.abs(part[finite]).max()) if finite.any() else 0.0
    levels = np.full(part.shape, NOTHING, np.uint8)
    levels[finite] = 127 + np.round(127 * (part[finite] / most if most else 0 * part[finite]))
    pixels = base64.b64encode(levels.tobytes()).decode()
    return {"width": len(columns), "height": len(rows), "pixels": pixels}
