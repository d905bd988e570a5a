"""Flags that several subcommands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from stcompile.base.command import one_of, parser_of
from stcompile.base.options import LEVELS

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
        metavar=f"[{'|'.join(LEVELS)}]",
        parser=parser_of(one_of(LEVELS)),
        help="of the generated code (default: as decorated; where nothing is decorated, readable "
        "for show and export, fast for the others)",
    ),
]


def output_to(name: str) -> OptionInfo:
    """The option of the file to write, which without it has this name."""
    about = f"the file to write (default: {name})"
    option: OptionInfo = typer.Option("--output", "-o", metavar="FILE", help=about)
    return option
