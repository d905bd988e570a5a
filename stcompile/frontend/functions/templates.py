"""Calls of codegen templates inside derivative rules: they record the primitive itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine


def template_lowering(primitive: str) -> Callable[..., Any]:
    def lowering(run: Run, *inputs: Any, **params: Any) -> Any:
        flat = list(inputs)
        if flat and isinstance(flat[-1], tuple):
            flat[-1:] = flat[-1]
        sizes = {name: _with_sizes(run, value) for name, value in params.items()}
        return run.record(primitive, *flat, **sizes)

    return lowering


def _with_sizes(run: Run, static: Any) -> Any:
    """A param of the rule with its lengths as sizes."""
    if isinstance(static, tuple | list):
        return tuple(_with_sizes(run, item) for item in static)
    size = run.size_of(static) if isinstance(static, Affine) else None
    return static if size is None else size
