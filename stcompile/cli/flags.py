"""Flags that several subcommands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stcompile.base.command import one_of

LEVELS = ("fast", "readable")


def _level(text: Any) -> Any:
    try:
        return one_of(LEVELS)(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


FUNCTION = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:FUNCTION",
        help="the function; the name may be left out if the file has one only",
        show_default=False,
    ),
]
ARGS = Annotated[
    str | None,
    typer.Option(
        "--args",
        metavar="EXPR",
        help="arguments as in a call; executed as Python, with NumPy's names and the file's",
    ),
]
NPZ = Annotated[
    Path | None,
    typer.Option("--npz", metavar="FILE", help="arguments by name from an .npz file"),
]
WRT = Annotated[
    str | None,
    typer.Option(
        "--wrt",
        metavar="NAMES",
        help="differentiate by these arguments, as in x1,x2 (default: as decorated, or the first)",
    ),
]
LEVEL = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="[fast|readable]",
        parser=_level,
        help="of the generated code (default: as decorated)",
    ),
]
