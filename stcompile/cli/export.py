"""``stcompile export``: the generated code as a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stcompile.base.command import UsageError
from stcompile.cli.arguments import arguments_of
from stcompile.cli.files import Target, parse_wrt
from stcompile.cli.flags import ARGS, FUNCTION, LEVEL, NPZ, WRT, output_to


def export(
    function: FUNCTION,
    output: Annotated[Path | None, output_to("FUNCTION_grad.py")] = None,
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
    level: LEVEL = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="of the function in a file of C")
    ] = "",
    lapack: Annotated[
        bool, typer.Option("--lapack", help="let a function in C call LAPACK's functions")
    ] = False,
) -> None:
    """Write a gradient into a file.

    The file has the generated value and gradient, and needs NumPy only: the code that
    `stcompile show` prints, at the readable level unless the function is decorated
    with another level, or --level is given. Run as a program, it compares its gradient
    with finite differences. A file whose name ends with .c is C99, with a header beside it.

    Examples:
      stcompile export model.py:loss
      stcompile export model.py:loss -o loss_grad.py --args "ones((3, 2)), ones((4, 3))"
      stcompile export model.py:loss --wrt x --level fast -o by_x.py
      stcompile export model.py:loss -o small.c --name small_loss
    """
    found = Target.parse(function).load()
    chosen = level or found.reading_level
    shown = found.shown(parse_wrt(wrt), chosen)  # type: ignore[arg-type]
    given = arguments_of(found, args, npz)
    path = output or Path(f"{found.name.rpartition('.')[2]}_grad.py")
    if path.resolve() == found.path.resolve():
        raise UsageError(f"{path} is the file of the function", hint="name another with -o FILE")
    write: Any = getattr(shown, "export", None)
    if write is None:
        raise UsageError(f"`{found.name}` is not exported", hint="name a function or a gradient")
    chosen_for_c = {k: v for k, v in (("name", name), ("lapack", lapack)) if v}
    write(path, *given.positional, **chosen_for_c, **given.keywords)
    tested = f"python {path} tests it"
    if path.suffix == ".c":
        libraries = "-llapack -lm" if lapack else "-lm"
        tested = f"cc -DSELF_TEST {path} {libraries} && ./a.out tests it"
    print(f"written: {path} ({tested})")
