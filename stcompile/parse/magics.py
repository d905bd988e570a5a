r"""The texts that cells of a notebook hand to the magics ``%time`` and ``%%time``.

IPython compiles them under the name ``<timed exec>`` and registers nothing under it. The cell that
it keeps is a call with the text as an argument::

    get_ipython().run_cell_magic('time', '', 'def f(x):\n    return x * x\n')

So the text is there, for IPython to transform once more. It is registered under a name of its own,
for messages to show its lines.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import sys
from collections.abc import Iterator

from stcompile.base.location import register_text, title_of

TIMED = ("<timed exec>", "<timed eval>")
_NAME = "<%%time "


def timed_cells() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the lines of each text that was timed, the latest first."""
    for file, entry in reversed([*linecache.cache.items()]):
        if len(entry) == 1:  # the text of a file, which is loaded lazily
            continue
        lines = entry[2]
        if file.startswith(_NAME):
            yield file, tuple(lines)
        elif any("_magic('time'," in line for line in lines):
            for body in _bodies("".join(lines)):
                yield _registered(body, file)


def _bodies(cell: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(cell)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_magic"):
            match node.args:
                case [ast.Constant("time"), *_, ast.Constant(str(body))]:
                    yield sys.modules["IPython"].get_ipython().transform_cell(body)


def _registered(body: str, cell: str) -> tuple[str, tuple[str, ...]]:
    name = f"{_NAME}{hashlib.sha256(body.encode()).hexdigest()[:12]}>"
    lines = body.splitlines(keepends=True)
    register_text(name, lines, f"{title_of(cell)} (%%time)")
    return name, tuple(lines)
