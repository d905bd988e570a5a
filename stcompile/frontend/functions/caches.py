"""`functools.cache` and `lru_cache` of functions that the program defines.

Static numbers and strings as arguments are looked up, as in Python, so that changes to a result are
seen, and changes to what the function reads are not. Traced arguments cannot be looked up: the
function is inlined again, which gives the same if it is pure.
"""

from __future__ import annotations

import functools
from typing import Any

from stcompile.base import trees
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Partial
from stcompile.library.caches import keeping


def cache(run: Run, user_function: Any = 128, typed: bool = False, **options: Any) -> Any:
    """functools.cache and lru_cache, as decorators with arguments or without."""
    size = options.get("maxsize", user_function)
    if size is not None and not isinstance(size, int):
        return _cached(run, typed, user_function)
    return Partial(_cached, (typed,), {}) if size != 0 else Partial(_unchanged, (), {})


def _unchanged(run: Run, function: Any) -> Any:
    return function


def _cached(run: Run, typed: bool, function: Any) -> Any:
    return Partial(_call, (run.call(keeping, [function, typed], {}), function), {})


def _call(run: Run, kept: Any, function: Any, *arguments: Any, **keywords: Any) -> Any:
    known = all(map(trees.is_plain_key, [*arguments, *keywords.values()]))
    return run.call(kept if known else function, arguments, keywords)


CACHES: dict[Any, Any] = {
    functools.cache: cache,
    functools.lru_cache: cache,
    **{lowering: lowering for lowering in (_cached, _call, _unchanged)},
}
