"""The command ``stcompile``: its subcommands by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from stcompile.base.command import application, reported, start, status, typer

DESCRIPTION = """
Derivatives of plain NumPy functions, as source code.

Begin with a file that has a function of arrays and returns one number, and look at its
gradient:

  stcompile show model.py:loss --args "ones(3), ones((4, 3))"

Each command says more: stcompile show --help. Exit codes: 0 done, 1 what was asked for
failed, 2 wrong use.
"""

COMMANDS = {  # name -> where its function is
    "show": "show:show",
    "check": "check:check",
    "export": "export:export",
    "lock": "lock:lock",
    "explore": "explore:explore",
    "bench": "bench:bench",
    "doctor": "doctor:doctor",
    "supported": "supported:supported",
}


def main(arguments: Sequence[str] | None = None, name: str = "stcompile") -> int:
    """Run the command line of the process, or the given arguments; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return status(lambda: start(commands(given[0] if given else ""), given, name))


def commands(asked: str = "") -> Any:
    """Typer's application of all subcommands; only the subcommand ``asked`` if it is one, so that
    the others need not be loaded."""
    typer()  # or the hint to install it
    wanted = [asked] if asked in COMMANDS else list(COMMANDS)
    found = {name: reported(load(COMMANDS[name])) for name in wanted}
    app = application(found, DESCRIPTION, no_args_is_help=True)
    app.callback(invoke_without_command=True, no_args_is_help=True)(root)
    if asked not in COMMANDS:
        app.add_typer(load("train:networks")(), name="train")
    return app


def root(version: bool = False) -> None:
    if version:
        import stcompile

        print(f"stcompile {stcompile.__version__}")
        raise typer().Exit()


def load(where: str) -> Any:
    module, name = where.split(":")
    return getattr(import_module(f"stcompile.cli.{module}"), name)
