"""Calls of codegen templates inside derivative rules: they record the primitive itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcompile.frontend.state.run import Run


def template_lowering(primitive: str) -> Callable[..., Any]:
    def lowering(run: Run, *inputs: Any, **params: Any) -> Any:
        flat = list(inputs)
        if flat and isinstance(flat[-1], tuple):
            flat[-1:] = flat[-1]
        return run.record(primitive, *flat, **params)

    return lowering
