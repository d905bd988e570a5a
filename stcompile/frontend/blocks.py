"""Blocks with something at their end: ``with np.errstate(...)`` and ``try ... finally``."""

from __future__ import annotations

import ast
import contextlib

import numpy as np

from stcompile.frontend.frames import Block, Frame
from stcompile.frontend.run import Run
from stcompile.frontend.signals import Signal
from stcompile.frontend.values import is_static

_MODES = ("ignore", "warn", "raise", "print")
_ERRORS = ("all", "divide", "over", "under", "invalid")


def visit_With(run: Run, node: ast.With, frame: Frame) -> Signal:
    """``np.errstate`` goes with every equation inside, into the adjoint as well."""
    outer = frame.errstate
    for item in node.items:
        settings = run.at(item.context_expr, frame, lambda i=item: _settings(run, i, frame))  # type: ignore[misc]
        frame.errstate = tuple({**dict(frame.errstate), **settings}.items())
    try:
        signal: Signal = run.execute(node.body, frame)
    finally:
        frame.errstate = outer
    return signal


def _settings(run: Run, item: ast.withitem, frame: Frame) -> dict[str, str]:
    call = item.context_expr
    manager = run.evaluate(call.func, frame) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or item.optional_vars is not None:
        return run.refuse("this `with` is not supported", "move it outside the function")
    if manager is contextlib.nullcontext:
        return {}
    if manager is not np.errstate:
        return run.refuse(
            "a `with` of anything but np.errstate is not supported", "move it outside the function"
        )
    found: dict[str, str] = {}
    for keyword in call.keywords:
        mode = run.evaluate(keyword.value, frame)
        if keyword.arg not in _ERRORS or not is_static(mode) or mode not in _MODES:
            run.refuse(
                f"np.errstate does not take {ast.unparse(keyword)} here",
                f"use one of {', '.join(map(repr, _MODES))} for {', '.join(_ERRORS)}",
            )
        found[keyword.arg] = mode
    return found


def visit_Try(run: Run, node: ast.Try, frame: Frame) -> Signal:
    if node.handlers:
        return run.at(
            node.handlers[0],
            frame,
            lambda: run.refuse(
                "`except` is not supported: whether something is raised is known only at run time",
                "test for it with `if`, or let the error through",
            ),
        )
    frame.blocks.append(Block(node.finalbody, -1, frame.errstate, final=True))
    try:
        signal: Signal = run.execute(node.body, frame)
    finally:
        frame.blocks.pop()
    if signal is not None:
        return signal  # the statement that ended the block ran the final one as well
    after: Signal = run.execute(node.finalbody, frame)
    return after


def run_final_blocks(run: Run, frame: Frame, through_loops: bool = False) -> Signal:
    """Run the ``finally`` of each ``try`` that a statement leaves: up to the innermost loop, or
    out of the function."""
    saved, errstate = frame.blocks, frame.errstate
    blocks = list(saved)
    try:
        while blocks:
            block = blocks.pop()
            if block is None and not through_loops:
                return None
            if block is not None and block.final:
                frame.blocks, frame.errstate = list(blocks), block.errstate
                signal: Signal = run.execute(block.body, frame)
                if signal is not None:
                    return signal
    finally:
        frame.blocks, frame.errstate = saved, errstate
    return None
