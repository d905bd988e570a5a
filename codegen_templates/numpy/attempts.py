"""Spellings of calls that may raise: how an attempt is written, `stcompile.emit.steps` knows."""

from __future__ import annotations

from typing import Any

from ..marks import fresh, view


@fresh
def failed(value: Any) -> Any:
    return value is None


@view
def given(value: Any, *operands: Any, called: str, **params: Any) -> Any:
    return value
