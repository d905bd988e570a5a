"""The command ``stcompile``: its subcommands by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points
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

COMMANDS = ("show", "check", "export", "lock", "explore", "supported")
"""The compiler's own commands, each a function in the module of its name."""

OTHERS = "stcompile.commands"
"""The group of entry points by which other packages add commands: functions of Typer's kind, or
applications that have commands of their own."""


def main(arguments: Sequence[str] | None = None, name: str = "stcompile") -> int:
    """Run the command line of the process, or the given arguments; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return status(lambda: start(commands(given[0] if given else ""), given, name))


def commands(asked: str = "") -> Any:
    """Typer's application of all subcommands; only the subcommand ``asked`` if it is one, so that
    the others need not be loaded."""
    kind = typer().Typer  # or the hint to install it
    found = loaded(asked)
    functions = {name: reported(one) for name, one in found.items() if not isinstance(one, kind)}
    app = application(functions, DESCRIPTION, no_args_is_help=True)
    app.callback(invoke_without_command=True, no_args_is_help=True)(root)
    for name in found.keys() - functions.keys():
        app.add_typer(found[name], name=name)
    return app


def root(version: bool = False) -> None:
    if version:
        import stcompile

        print(f"stcompile {stcompile.__version__}")
        raise typer().Exit()


def loaded(asked: str = "") -> dict[str, Any]:
    """The commands by name: ``asked`` alone if it is one of them, else all."""
    if asked in COMMANDS:
        return {asked: own(asked)}
    others = entry_points(group=OTHERS)
    if asked in others.names:
        return {asked: others[asked].load()}
    return {name: own(name) for name in COMMANDS} | {one.name: one.load() for one in others}


def own(name: str) -> Any:
    return getattr(import_module(f"stcompile.cli.{name}"), name)
