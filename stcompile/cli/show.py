"""``stcompile show``: print the compiled forms of a function."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from stcompile.api import show as snapshots
from stcompile.base.command import UsageError
from stcompile.calls.dispatch import Dispatcher
from stcompile.cli.arguments import Given, arguments_of
from stcompile.cli.files import Target, parse_wrt
from stcompile.cli.flags import ARGS, FUNCTION, LEVEL, NPZ, WRT


def print_code(text: str, language: str = "python") -> None:
    """Print code, in colours if this is a terminal that has them (and ``NO_COLOR`` is not set)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        print(text)
        return
    from stcompile.base.extras import require

    syntax = require("rich.syntax", "cli", "colours")
    console = require("rich.console", "cli", "colours").Console(soft_wrap=True)
    shown = syntax.Syntax(text, language, theme="ansi_dark", background_color="default")
    console.print(shown)


VIEWS = {  # name -> the method of a differentiable function, and the language of its text
    "source": ("source", "python"),
    "wengert": ("wengert", "rust"),
    "memory": ("memory", ""),
    "trace": ("trace", ""),
    "graph": ("graph", ""),
    "explain": ("explain", ""),
}


def show(
    function: FUNCTION,
    view: Annotated[
        str,
        typer.Argument(
            metavar="[VIEW]",
            help=f"{', '.join(VIEWS)}; stages for a table of all stages, or the name of one",
            show_default=False,
        ),
    ] = "source",
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
    level: LEVEL = None,
) -> None:
    """Show the gradient of a function.

    The views are source (the generated code, at the readable level unless the
    function is decorated with another level, or --level is given), wengert (the Wengert
    list of the function), memory (what a call holds), trace (every value and every
    adjoint), graph (what could run side by side), explain (why gradients are zero),
    stages (what each stage of the compiler changed), and every stage by its name,
    such as staged, reverse or share_equations: the Wengert list after it.

    A gradient or a training step in the file is compiled already, and is shown
    unchanged.

    The arguments are --args, or an .npz file, or those of the first call in the
    function's own doctest, or the result of a function example_args() in the file.

    Examples:
      stcompile show model.py:loss
      stcompile show model.py:loss --level fast
      stcompile show model.py:loss wengert --args "ones((3, 2)), ones((4, 3))"
      stcompile show model.py:loss trace --npz arguments.npz
      stcompile show model.py:loss stages
      stcompile show model.py:loss share_equations --wrt x
    """
    found = Target.parse(function).load()
    is_plain = not isinstance(found.function, Dispatcher)
    if view == "source":
        level = level or found.reading_level
    shown = found.shown(parse_wrt(wrt), level)  # type: ignore[arg-type]
    given = arguments_of(found, args, npz)
    if view in VIEWS:
        method, language = VIEWS[view]
        if not is_plain and method == "wengert":
            method = "program"  # of all that it computes
        if not hasattr(shown, method):
            raise UsageError(
                f"there is no {view} of `{found.name}`, which is compiled",
                hint="name the function that it was made of",
            )
        result = getattr(shown, method)(*given.positional, **given.keywords)
        print_code(str(result), language) if language else print(result)
    elif view == "stages":
        print(snapshots(shown, *given.positional, **given.keywords))
    else:
        print_code(str(_after(shown, view, given)), "rust")


def _after(shown: Any, stage: str, given: Given) -> Any:
    try:
        return snapshots(shown, *given.positional, after=stage, **given.keywords)
    except ValueError as error:
        if "there is no stage" not in str(error):
            raise
        raise UsageError(
            f"there is no view {stage!r}: the views are {', '.join([*VIEWS, 'stages'])}, and the "
            f"stages{str(error).partition('the stages are')[2].replace(chr(39), '')}"
        ) from None
