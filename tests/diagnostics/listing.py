"""Every message of the packages, from its source: texts with ``{…}`` where a value stands.

Messages are the literal texts among the arguments of what raises, refuses, warns or notes a
reason; those of errors that a program raises in the words of NumPy or Python are not ours.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import stcompile
import stcompile_programs

PACKAGES = [Path(str(package.__file__)).parent for package in (stcompile, stcompile_programs)]
NOTES = frozenset(
    {"Poison", "Rest", "Spoiled", "Caution", "Cause", "warn", "warn_explicit", "NameError"}
)
SAYS = re.compile(r"(?i)refuse|Error$|Warning$|^refused$|^raises$|^fails$")
HOLE = "{…}"


@dataclass(frozen=True)
class Message:
    """One place that says something: its texts in order, the reason before the hint."""

    file: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n    ".join(self.texts)


@functools.cache
def messages() -> tuple[Message, ...]:
    """The messages of all modules, sorted by package, file and line."""
    found = []
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            name = path.relative_to(package).as_posix()
            found += [Message(name, texts) for texts in _of_file(path)]
    return tuple(found)


def listing() -> str:
    """The messages as text, by file."""
    lines: list[str] = []
    file = ""
    for message in messages():
        if message.file != file:
            file = message.file
            lines += ["", f"# {file}"]
        lines.append(str(message))
    return "\n".join(lines).strip() + "\n"


def _of_file(path: Path) -> Iterator[tuple[str, ...]]:
    calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if _says(n)]
    raised = [n.args[0] for n in calls if getattr(n.func, "attr", "") == "fails"]
    calls = [n for n in calls if n not in raised]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        hints = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "hint")]
        texts = tuple(
            text
            for value in given
            for text in _texts(value)
            if " " in text.strip() or (value in hints and text.strip())
        )
        if texts:
            yield texts


def _says(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in NOTES or SAYS.search(name) is not None


def _texts(node: ast.expr) -> list[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else HOLE for p in node.values]
        return ["".join(map(str, parts))]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _texts(node.left) or [HOLE], _texts(node.right) or [HOLE]
        return [a + b for a in left for b in right] if left + right != [HOLE, HOLE] else []
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    return []
