"""Find the text of code that came by value from another process.

cloudpickle, and with it joblib, Dask and Ray, writes a file name of its own into such code (since
version 3.1.3). So the text is looked for: in the file of the function's module, which its globals
name, and among the texts that `linecache` has, to which texts that travelled along were added
(`stcompile.calls.travel`). A text is taken only if the function's own code is compiled from it.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator
from typing import Any

NAMELESS = "<dynamic-code>"


def texts_elsewhere(
    code: types.CodeType, names: dict[str, Any]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The file and the lines of each text that code of a function with these globals may be from,
    the text of the function's own module first, then the latest."""
    for file in dict.fromkeys((str(names.get("__file__", "")), *reversed([*linecache.cache]))):
        lines = tuple(linecache.getlines(file)) if file else ()
        start = lines[code.co_firstlineno - 1 : code.co_firstlineno]
        if any(word in line for line in start for word in (code.co_name, "lambda", "@")):
            yield file, lines
