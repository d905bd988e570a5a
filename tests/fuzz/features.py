"""What programs are made of: features by kind, each with the ways to write it.

A way is a text with holes, which a writer fills: ``{u}`` is the array at hand, ``{v}`` the one that
it is a view of, ``{w}`` a vector, ``{z}`` any array, ``{i}`` an integer that an array or argument
makes, ``{o}`` the array that it was made of, ``{q}`` the counter of a loop, ``{m}`` a mask, ``{e}``
a number, ``{f}`` one from an array, ``{d}`` a subscript, ``{g}`` a number of steps, ``{n}`` and
``{l}`` the names of an array and of a list that are made. Functions are taken from the table of
what is supported (`stcompile.frontend.supported`): a feature for each group, by the shape of the
result.

>>> "part: reversed" in FEATURES, reason("write: fill", "order: zero strides")
(True, 'a broadcast is read-only')
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.options import LEVELS
from stcompile.frontend.supported import canonical

Ways = Mapping[str, tuple[str, ...]]

# --- the arrays -----------------------------------------------------------------------------------

SOURCE: Ways = {
    "argument": ("x", "a", "y"),
    "computed": ("x * 1.0", "np.sin(a)", "a + 0.5", "y * y", "a * 0.5"),
    "copy": ("x.copy()", "a.copy()", "np.array(a)", "np.array(y)"),
    "new memory": (
        "np.zeros(7)\n{n}[:] = x",
        "np.empty((5, 6))\n{n}[...] = a",
        "np.zeros_like(a)\n{n} += a",
        "np.ones(7) * x",
    ),
    "product": ("np.outer(x, y)", "a @ a.T * 0.3", "np.outer(y, x[1:])", "a * x[:6]"),
    "joined": (
        "np.concatenate([x, y])",
        "np.stack([y, y * 0.5, y + s])",
        "np.concatenate([a, a[::-1]], axis=1)",
        "np.array([s, x[0], x[1] * s, y[-1], x[-2]])",
        "np.stack([a, a * s])",
    ),
}
ORDER: Ways = {
    "C": ("",),
    "Fortran": (".copy(order='F')", ".T.copy().T"),
    "gaps": ("arguments",),
    "negative strides": ("arguments",),
    "zero strides": ("broadcast",),
    "axes moved": ("axes",),
}
DTYPE: Ways = {
    "float64": ("",),
    "float32": (".astype(np.float32)",),
    "complex": (" * (1.0 + 0.5j)", " + 0.5j * s"),
    "bool factor": (" * b[: {v}.shape[-1]]", " * ({v} > 0.2)"),
    "integer factor": (" * c[: {v}.shape[-1]]", " + c[1]", " * np.arange({v}.shape[-1])"),
}
PART: Ways = {
    "start": ("{u}[1:]", "{u}[2:]", "{u}[-4:]"),
    "stop": ("{u}[:-1]", "{u}[:-2]", "{u}[:4]"),
    "both ends": ("{u}[1:-1]", "{u}[1:4]", "{u}[-4:-1]"),
    "step": ("{u}[::2]", "{u}[1::2]", "{u}[:-1:2]"),
    "reversed": ("{u}[::-1]", "{u}[-2::-1]", "{u}[::-2]", "np.flip({u})"),
    "transposed": ("{u}.T", "{u}.swapaxes(0, -1)", "np.transpose({u})", "np.moveaxis({u}, 0, -1)"),
    "several axes": ("{u}[1:, :-1]", "{u}[::2, 1:]", "{u}[1:, ::-1]", "{u}[:-1, ::2]"),
    "of named length": ("{u}[: len(x) - 3]", "{u}[1 : y.shape[0]]", "{u}[len(y) - 4 :]"),
    "of a length of data": (
        "{u}[: {i} + 4]",
        "{u}[{i} + 3 :]",
        "{u}[: int(np.sum(x > 0.2))]",
        "{u}[{i} :]",
    ),
    "moving": ("{u}[{q} : {q} + 3]", "{u}[{q} :]", "{u}[: {q} + 3]", "{u}[{q} :: -1]"),
    "reshaped": ("{u}.reshape(-1)", "{u}.ravel()", "{u}.reshape({u}.shape[::-1])"),
    "broadcast": (
        "np.broadcast_to({u}, (3, *{u}.shape))",
        "np.broadcast_to({u}[0], {u}.shape)",
        "{u} + np.zeros((3, 1, 1))",
    ),
    "np.newaxis": ("{u}[None]", "{u}[:, None]", "{u}[..., None]", "np.expand_dims({u}, 0)[0]"),
    "ellipsis": ("{u}[..., 1:]", "{u}[..., ::-1]", "{u}[...]", "{u}[..., :-2]"),
    "row": ("{u}[1]", "{u}[-1]", "{u}[..., 0]", "{u}[:, -2]"),
    "row of data": ("{u}[{i}]", "{u}[:, {i}]", "{u}[k[0]]", "{u}[..., k[1]]"),
    "mask": ("{u}[{m}]", "{u}[x[: len({u})] > 0.1]"),
    "index array": ("{u}[k]", "{u}[[0, -1, 2]]", "{u}[:, k]", "np.take({u}, k, axis=0)"),
    "diagonal": ("np.diagonal({u})", "{u}.diagonal()", "np.diag({u})"),
    "split": ("np.split({u}[:4], 2)[1]", "np.array_split({u}, 2)[0]"),
}
# --- integers and what they select ----------------------------------------------------------------

INTEGER: Ways = {
    "floor": ("int(np.floor({f} * 3)) % 5 - 2", "int({f} * 3) % 3 - 2", "int({f} * 7) % 3"),
    "argmin": ("np.argmin({w}) % 3 - 1", "np.argmax({w}) % 3", "np.argmin({w}) % 4 - 3"),
    "count": ("np.sum({w} > 0.2) % 3", "int(np.sum({w} > 0.1)) % 4 - 2"),
    "argument": ("k[0]", "int(k[1])", "k[-1]", "k[2] - 0"),
    "arithmetic": ("(k[0] * 2 + 1) % 3", "k[1] // 2", "-(k[0] % 3) - 1", "c[1] % 4 - 2"),
    "searched": ("np.searchsorted(np.sort({w}), 0.4) % 3 - 1", "np.flatnonzero({w} > -9)[0]"),
    "comparison": ("int({f} > 0.4)", "-int({f} > 0.4)", "int({f} > 0.3) - 2"),
    "branch": ("0\nif {f} > 0.4:\n    {n} = -2", "1 if {f} > 0.5 else -1"),
    "looked up": ("k[int({f} * 5) % 3]", "k[k[0] % 3]", "c[int({f} * 4) % 5] % 3 - 1"),
    "length": ("len({u}) - 2", "{u}.shape[0] // 2 - 2", "2 - len({u})"),
    "rounded": ("round({f} * 3) % 3", "int(np.round({f} * 4)) % 4 - 2"),
}
INDEX: Ways = {
    "static": ("0", "1", "2"),
    "static negative": ("-1", "-2", "-3"),
    "last": ("len({u}) - 1", "{u}.shape[0] - 1", "-len({u})"),
    "counter": ("{q}", "{q}", "2 - {q}"),
    "negative counter": ("{q} - 3", "-{q} - 1", "~{q}", "{q} - 2"),
    "made": ("{i}", "{i}", "{i}"),
    "made, moved": ("{i} - 1", "-{i}", "~{i}", "{i} + 1"),
    "argument": ("k[0]", "k[{q}]", "k[-1]", "int(k[1])"),
    "made in place": ("int({f} * 5) % 3 - 2", "np.argmin({w}) % 3 - 2", "int({f} * 3) % 3"),
    "made and counter": ("({i} + {q}) % 3", "{i} - {q} - 1", "({i} + {q}) % 3 - 3"),
    "static list": ("[0, -1, 0]", "[2, 1]", "np.array([-1, -2, -1])", "[-1]"),
    "index array": ("k", "k[::-1]", "k[1:]", "k % 3", "k[[0, 0, 2]]", "~k"),
    "index array, made": (
        "np.argsort({w})[:3] % 3",
        "np.flatnonzero({w} > 0.2)[:2] % 3 - 3",
        "np.array([{i}, 0, {i}])",
        "[{i}, -1]",
    ),
    "mask": ("{m}", "x[: len({u})] > 0.3", "b[: len({u})]"),
    "empty": ("k[:0]", "np.flatnonzero({w} > 99)", "{u} > 99", "slice(0, 0)"),
    "integers": ("{i}, -1", "0, {i}", "k[0], {i}", "{i}, {i}", "-1, k[1]"),
    "ellipsis": ("..., {i}", "..., -1", "..., k[0]", "..., k"),
    "np.newaxis": ("{i}, None", "None, {i}", "..., None, -1", "k[0], None"),
    "slice and integer": (":, {i}", "1:, {i}", "{i}, 1:", "::-1, k[0]", "k[1], ::2", "{i}, :-1"),
    "slice and array": (":, k", "1:, k", "::-1, k", "k, 1:", "k, ::2"),
    "arrays": ("k, k", "k, 0", "{i}, k", "k[:, None], k", "np.ix_(k, k)"),
    "slice": ("1:", ":-1", "::2", "::-1", "-3:"),
    "slice of data": ("{i} + 3 :", ": {i} + 4", "{i} :", "k[0] :"),
}
# --- what is done with them -----------------------------------------------------------------------

READ: Ways = {
    "element": ("t = t + 0.5 * np.sum({u}[{d}])", "t = t + np.sum({u}[{d}] * {e})"),
    "product": ("t = t + np.sum({u}[{d}]) * {f}", "t = t * 0.5 + np.sum({u}[{d}] * {u}[{d}])"),
    "function": ("t = t + np.sum(np.sin({u}[{d}]))", "t = t + np.sum(np.tanh({u}[{d}] * {e}))"),
    "constant factor": (
        "t = t + {f} * c[{i}]",
        "t = t + y[0] * c[int({f} * 3) % 5]",
        "t = t + np.sum({u}[{d}]) * c[{i}] * 0.1",
    ),
    "kept in a name": ("{n} = {u}[{d}]\nt = t + np.sum({n} * {n})",),
    "np.take": ("t = t + np.sum(np.take({u}, k, axis=0)) * {e}", "t = t + {w}.take(k[0])"),
    "np.take_along_axis": (
        "t = t + np.sum(np.take_along_axis({u}, np.argsort({u}, axis=-1)[..., :2], axis=-1)"
        " * np.array([1.0, 0.5]))",
    ),
    "np.where": ("t = t + np.sum(np.where({m}, {u}, {e}))", "t = t + np.sum({u}[np.where({m})])"),
    "iterated": ("for r in {u}:\n    t = t + np.sum(r) * {e}",),
    "unpacked": ("{n}, *_ = {u}\nt = t + np.sum({n})", "{n}, _ = {u}[:2]\nt = t + np.sum({n})"),
}
WRITE: Ways = {
    "assign": ("{u}[{d}] = {e}", "{u}[{d}] = {u}[{d}] * 0.5", "{u}[{d}] = {f}"),
    "add": ("{u}[{d}] += {e}", "{u}[{d}] += {u}[{d}] * 0.5", "{u}[{d}] -= {f}"),
    "multiply": ("{u}[{d}] *= 0.5", "{u}[{d}] *= {e}", "{u}[{d}] /= 2.0"),
    "whole": ("{u}[...] = {e}", "{u} += {e}", "{u} *= 0.5", "{u}[:] = np.sin({u})"),
    "of the base": (
        "{v}[...] = {e}",
        "{v} += 1.0",
        "{v} *= {e}",
        "{v}[{d}] = {e}",
        "{v}[-1] = {e}",
    ),
    "of what made an integer": (
        "{o}[...] = {e}",
        "{o} *= 0.5",
        "{o}[{d}] = {e}",
        "t = t + y[0] * c[int({v}[1] * 3) % 5 - 2]\n{v} += 1.0",
        "t = t + y[{q}] * c[int({v}[{q}] * 3) % 5]\n{v}[{q}] = {e}",
        "t = t + {f} * c[int(np.sum({v}) * 2) % 5]\n{v}[...] = {e}",
        "{n} = int({v}[0, 1] * 3) % 5 - 2\nt = t + np.sum({u}[{n}])\n{v}[...] = {e}",
    ),
    "by a mask": (
        "{u}[{m}] = {e}",
        "{u}[{m}] *= 0.5",
        "np.putmask({u}, {m}, {e})",
        "t = t * 0.5 + np.sum({u} ** 3) * 0.1\n{u}[{m}] = {e}",
    ),
    "by indices": ("{u}[k] = {e}", "{u}[k] += {e}", "{u}[k] *= 0.5", "{u}[[0, -1, 0]] += {e}"),
    "np.add.at": (
        "np.add.at({u}, k, {e})",
        "np.add.at({u}, {i}, {e})",
        "np.subtract.at({u}, k, {e})",
    ),
    "out=": (
        "np.multiply({u}, {e}, out={u})",
        "np.sin({u}, out={u})",
        "np.add({u}, {e}, out={u}, where={m})",
        "np.add({u}[{d}], {e}, out={u}[{d}])",
    ),
    "fill": ("{u}.fill({e})", "{u}[{d}].fill({e})"),
    "np.copyto": ("np.copyto({u}, {e})", "np.copyto({u}, {e}, where={m})"),
    "swap": ("{u}[0], {u}[-1] = {u}[-1], {u}[0]", "{u}[[0, -1]] = {u}[[-1, 0]]"),
    "overlapping": ("{u}[1:] = {u}[:-1]", "{u}[:-1] += {u}[1:]", "{u}[::-1] = {u}"),
    "sorted in place": ("{u}.sort()", "{u}.sort(axis=0)", "{u}[...] = np.sort({u}, axis=0)"),
    "of another": ("{u}[{d}] = {z}[{d}]", "{u}[...] = {z}", "{z}[{d}] += {e}"),
    "in a function": ("push({u}, {e})", "{u}[...] = mix({u}, {e})"),
}
LOOP: Ways = {
    "none": ("",),
    "unrolled": ("for q in range(3):",),
    "kept": ("for q in range(18):", "for q in range(20):"),
    "reversed": ("for q in range(2, -1, -1):", "for q in reversed(range(18)):"),
    "while": ("q = 0\nwhile q < 3:", "q = -1\nwhile q < 17:"),
    "while, data": ("q = 0\nwhile t < 3.0 and q < 4:", "q = 0\nwhile q < len({u}) and q < 3:"),
    "while, guarded": (
        "q = 0\nwhile q < len({w}) and {w}[q] < 9.0 and q < 3:",
        "q = 2\nwhile q >= 0 and {w}[q] > -9.0:",
    ),
    "of data": ("for q in k:", "for q in k % 3:"),
    "of rows": ("for q, r in enumerate({u}[:3]):", "for q, r in zip(range(3), {u}):"),
    "nested": (
        "for p in range(2):\n    for q in range(3):",
        "for p in range(18):\n    for q in k:",
    ),
    "as long as an array": ("for q in range(len({u})):", "for q in range({u}.shape[0] - 1):"),
}
EXIT: Ways = {
    "none": ("",),
    "break": ("if t > 4.0:\n    break", "if {w}[{q}] > 0.9:\n    break", "if q == 2:\n    break"),
    "continue": ("if t > 1.0:\n    t = t * 0.5\n    continue", "if q == 1:\n    continue"),
    "return": ("if t > 6.0:\n    return t * 2.0, {u} * 1.0",),
}
BRANCH: Ways = {
    "none": ("",),
    "if": ("if t > 0.4:", "if np.sum({u}) > 0.5:", "if {w}[0] < 0.9:"),
    "if, else": ("if {f} > 0.4:\n    t = t * 0.7\nelse:", "if {f} < 0.3:\n    t = t + s\nelse:"),
    "and": (
        "if len({w}) > 2 and {w}[2] > -9.0:",
        "if {i} < len({w}) and {w}[{i}] > -5.0:",
        "if s > 0.0 and t < 9.0:",
    ),
    "or": ("if s > 9.0 or {f} > -9.0:", "if {i} < 0 or {f} > 0.2:"),
    "chained": ("if 0.0 < s < 5.0:", "if -9.0 < {f} <= 9.0:", "if -9 < {i} < 9:"),
    "if-expression": ("t = t * 0.5 if s > 0.3 else t + s", "t = t * {f} if {i} < 0 else t + {f}"),
    "not": ("if not {f} > 99.0:", "if not (b[0] and t > 9.0):"),
    "elif": ("if t > 99.0:\n    t = t + s\nelif {f} > -9.0:",),
    "of an integer": ("if {i} < 0:", "if {i} >= 0:", "if {i} == -1:", "if k[0] != 0:"),
    "of a mask": ("if np.any({m}):", "if np.all({m}):", "if b[1]:"),
}
LIST: Ways = {
    "none": ("",),
    "appended": (
        "{l} = []\nfor p in range({g}):\n    {l}.append({u}[p % 3] * {e})\n{n} = np.stack({l})",
    ),
    "indexed": ("{l} = [{u}, {u} * 0.5]\n{n} = {l}[-1] + {l}[0]",),
    "indexed by data": (
        "{l} = [{w}[p % 3] * p for p in range(6) if {w}[p % 3] > -9.0]\nt = t + {l}[{i}]",
        "{l} = []\nfor p in range({g}):\n    if {w}[p % 3] > -9.0:\n"
        "        {l}.append({f} * p)\nt = t + {l}[{i}]",
    ),
    "of a loop, indexed": (
        "{l} = [{f}]\nfor p in range({g}):\n    {l}.append({l}[-1] * 0.5 + s)\n"
        "t = t + np.array({l})[{i}]",
        "{l} = []\nfor p in range({g}):\n    {l}.append({u}[p % 3] * s)\n{n} = np.stack({l})[{i}]",
    ),
    "set": ("{l} = [0.0] * 4\nfor p in range({g}):\n    {l}[p % 3] += {f}\nt = t + sum({l})",),
    "comprehension": ("{n} = np.array([np.sum({u}[p]) * s for p in range(3)])",),
    "of parts": ("{l} = [{u}[p:] for p in range(2)]\n{n} = {l}[1] * {l}[0][1:]",),
    "tuple": ("{l} = ({u}, {f})\n{n} = {l}[0] * {l}[1]",),
    "dict": ("{l} = {{'a': {u}, 'b': {f}}}\n{n} = {l}['a'] * {l}['b']",),
    "popped": ("{l} = [{u}, {u} * s]\n{n} = {l}.pop() + {l}.pop(0)",),
}

# --- functions, from the table of what is supported -----------------------------------------------

SKIPPED = (
    "np.empty",
    "np.random",
    "np.float16",
    "np.float32",
    "np.complex64",
    "np.einsum",
    "np.clip",
    "np.polymul",  # leading zeros are refused when it runs
    "np.linalg.eigvals",  # whether it is real depends on values
)
SMOOTH_ENOUGH = 9.0


@functools.cache
def functions() -> Ways:
    """NumPy's functions of one array or two of floats, by the shape of what they give."""
    u, w = np.array([0.31, 0.52, 0.83]), np.array([0.45, 0.62, 0.27])
    square = np.array([[1.3, 0.2, 0.1], [0.2, 1.5, 0.3], [0.1, 0.3, 1.1]])
    for array in (u, w, square):
        array.flags.writeable = False  # the second operand of some is what they write to
    found: dict[str, list[str]] = {}
    for name in (*canonical()["numpy"], *canonical()["numpy.linalg"], *canonical()["numpy.fft"]):
        if name.startswith(SKIPPED) and name != "np.linalg.eigvalsh":
            continue
        for text, operands, args in (
            (f"{name}({{u}})", "one", (u,)),
            (f"{name}({{u}}, {{u}} * 0.5)", "two", (u, w)),
            (f"{name}({{u}}.T @ {{u}} + 2.0 * np.eye({{u}}.shape[-1]))", "square", (square,)),
        ):
            group = _group(name, operands, args)
            if group:
                found.setdefault(group, []).append(text)
                break
    return {group: tuple(texts) for group, texts in found.items()}


def _group(name: str, operands: str, args: tuple[Any, ...]) -> str:
    """What a function is to arrays of three numbers or of three rows; "" if it takes none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = eval(name, {"np": np})(*args)
        except Exception:
            return ""
    if not isinstance(made, np.ndarray | np.generic) or made.dtype.kind not in "fc":
        return ""
    if not np.all(np.isfinite(made)) or np.max(np.abs(made), initial=0) > SMOOTH_ENOUGH:
        return ""
    shape = "number" if made.ndim == 0 else "same" if made.shape == args[0].shape else "array"
    return f"{operands} to {shape}"


# --- how they are compiled ------------------------------------------------------------------------

NAMES = (
    "value_and_grad", "grad", "vjp", "linearize", "jacobian, forward", "jacobian, reverse",
    "hessian", "hvp", "second order", "vmap", "checkpoint", "train_step",
)  # fmt: skip
TRANSFORM: Ways = dict.fromkeys(NAMES, ())
LEVEL: Ways = dict.fromkeys(LEVELS, ())
OPTION: Ways = dict.fromkeys(("none", "dynamic", "copy", "memory", "parallel", "debug_nans"), ())


@functools.cache
def kinds() -> Mapping[str, Ways]:
    """The ways of all features, by kind and name."""
    return MappingProxyType(
        {
            "source": SOURCE, "order": ORDER, "dtype": DTYPE, "part": PART, "integer": INTEGER,
            "index": INDEX, "read": READ, "write": WRITE, "loop": LOOP, "exit": EXIT,
            "branch": BRANCH, "list": LIST, "function": functions(), "transform": TRANSFORM,
            "level": LEVEL, "option": OPTION,
        }
    )  # fmt: skip


# The places of a program, each with the kind of features that stand there.
SLOTS = {
    "source": "source", "order": "order", "dtype": "dtype", "part": "part", "part of it": "part",
    "integer": "integer", "index": "index", "second index": "index", "read": "read",
    "write": "write", "second write": "write", "loop": "loop", "exit": "exit", "branch": "branch",
    "list": "list", "function": "function", "transform": "transform", "level": "level",
    "option": "option",
}  # fmt: skip
NOTHING = frozenset({"loop: none", "exit: none", "branch: none", "list: none", "option: none"})
FEATURES = tuple(f"{kind}: {name}" for kind, ways in kinds().items() for name in ways)
RISKIEST = (
    *(f"part: {name}" for name in (
        "start", "stop", "both ends", "step", "reversed", "transposed", "several axes",
        "of named length", "of a length of data", "moving", "reshaped", "broadcast",
        "row of data", "mask", "index array",
    )),
    "index: made", "index: made in place", "index: argument", "index: negative counter",
    "index: index array", "index: mask", "index: slice and integer", "index: empty",
    "integer: floor", "integer: argmin", "integer: looked up",
    "write: assign", "write: of the base", "write: of what made an integer", "write: by a mask",
    "write: by indices", "write: np.add.at", "write: out=", "loop: kept", "loop: while, guarded",
    "loop: of data", "exit: break", "branch: and", "list: of a loop, indexed",
    "transform: checkpoint",
)  # fmt: skip


# --- pairs that are in no program -----------------------------------------------------------------

_NO_PAIRS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("option: memory", ("level: readable", "level: compiled"), "a budget needs the fast level"),
    ("option: parallel", ("level: readable", "level: fast"), "threads need the compiled level"),
    ("order: zero strides", ("write:",), "a broadcast is read-only"),
    ("part: broadcast", ("write:",), "a broadcast is read-only"),
    ("source: argument", ("write:",), "a caller's array is not written by these programs"),
    ("exit: break", ("loop: none",), "there is no loop to leave"),
    ("exit: continue", ("loop: none",), "there is no loop to go on with"),
    ("dtype: float32", ("transform: hessian", "transform: hvp", "transform: second order"),
     "differences of a gradient in float32 show nothing"),
    ("dtype: complex", ("integer: argmin", "integer: count", "integer: searched", "part: mask",
                        "write: by a mask", "write: sorted in place", "read: np.where",
                        "read: np.take_along_axis", "branch: of a mask"),
     "complex numbers have no order"),
)  # fmt: skip


@functools.cache
def incompatible() -> Mapping[frozenset[str], str]:
    """The pairs that no program has, with the reason for each."""
    found = {}
    for feature, others, why in _NO_PAIRS:
        for other in FEATURES:
            if other.startswith(others):
                found[frozenset((feature, other))] = why
    for kind, ways in kinds().items():
        if list(SLOTS.values()).count(kind) == 1:
            for one, two in itertools.combinations(ways, 2):
                pair = frozenset((f"{kind}: {one}", f"{kind}: {two}"))
                found[pair] = f"a program has one {kind}"
    return MappingProxyType(found)


def reason(one: str, other: str) -> str:
    """Why two features are in no program together; "" if they are."""
    return incompatible().get(frozenset((one, other)), "")


def pairs() -> tuple[tuple[str, str], ...]:
    """All pairs of features that are to be judged together, those of one kind among them."""
    several = {kind for kind in kinds() if list(SLOTS.values()).count(kind) > 1}
    found = []
    for one, other in itertools.combinations_with_replacement(FEATURES, 2):
        if one in NOTHING or other in NOTHING:
            continue
        if one == other and one.partition(":")[0] not in several:
            continue
        if not reason(one, other):
            found.append((one, other))
    return tuple(found)
