"""``stcompile lock``: gradients under version control."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stcompile.base.command import DONE, FAILED, UsageError
from stcompile.base.errors import StcompileError
from stcompile.cli.arguments import NoArgumentsError, arguments_of
from stcompile.cli.files import Found, Target, functions_of, load
from stcompile.cli.flags import ARGS, NPZ, WRT
from stcompile.cli.locks import Entry, Locks


def lock(
    functions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE.py[:FUNCTION]]...",
            help="functions, or files of them (default: all that are locked)",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="compare with what is locked, and write nothing")
    ] = False,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="where the locks are")
    ] = Path("gradients"),
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
) -> int:
    """Keep gradients under version control.

    The generated code of each function is written into a text file of the folder
    gradients, at the readable level, with the types of the arguments and the versions
    of stcompile and NumPy; a list, gradients/locked.txt, says what is locked, and how
    its arguments were given. Commit them. With --check the exit code is 1, with a
    diff, if a change of the model, of stcompile or of NumPy made another program of a
    gradient. Comments, and where a function stands in its file, do not count.

    Examples:
      stcompile lock model.py:loss
      stcompile lock model.py:loss --args "ones((3, 2)), ones((4, 3))" --wrt x
      stcompile lock
      stcompile lock --check
      stcompile lock --check model.py
    """
    locks = Locks(folder)
    said = {"args": args, "npz": None if npz is None else str(npz), "wrt": wrt}
    if check:
        if any(value is not None for value in said.values()):
            given = ", ".join(f"--{flag}" for flag, value in said.items() if value is not None)
            raise UsageError(
                f"--check compares at the arguments that were locked, and takes no {given}",
                hint=f"leave {given} out; to lock at other arguments, leave --check out",
            )
        return _check(locks, functions or [])
    entries = [entry for text in functions or [] for entry in _entries(locks, text, said)]
    for path in locks.write(entries or locks.entries()):
        print(f"locked: {path}")
    return DONE


def _entries(locks: Locks, text: str, said: dict[str, str | None]) -> list[Entry]:
    """The functions that a word of the command line names."""
    target = Target.parse(text)
    if target.name is not None:
        return [locks.entry(target, target.name, **said)]
    module = load(target.path)
    names = []
    for name, value in functions_of(module).items():
        try:
            arguments_of(
                Found(target.path, module, name, value),
                said["args"],
                Path(said["npz"]) if said["npz"] else None,
            )
        except NoArgumentsError:
            print(f"no arguments: {target.path}:{name}")
        else:
            names.append(name)
    if not names:
        raise UsageError(
            f"{target.path} has no function with arguments",
            hint="write a doctest that calls it, or a function example_args()",
        )
    return [locks.entry(target, name, **said) for name in names]


def _check(locks: Locks, asked: list[str]) -> int:
    entries = locks.entries()
    if asked:
        wanted = [Target.parse(text) for text in asked]
        files = [locks.entry(target, target.name or "", args=None).target for target in wanted]
        entries = [e for e in entries if any(_is_of(e.target, file) for file in files)]
        if not entries:
            raise UsageError(f"{', '.join(asked)}: not locked in {locks.folder}")
    failed = 0
    for entry in entries:
        try:
            locks.check(entry)
        except StcompileError as error:
            failed += 1
            print(f"{error}\n")
    stray = [] if asked else locks.stray()
    for path in stray:
        print(f"{path} is of no function in the list: delete it, or lock its function\n")
    done = len(entries) - failed
    print(f"{done} of {len(entries)} gradients are as locked")
    return FAILED if failed or stray else DONE


def _is_of(target: str, asked: str) -> bool:
    return target == asked or (asked.endswith(":") and target.startswith(asked))
