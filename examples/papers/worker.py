"""The process of one run: ``python -m examples.papers.worker PLAN FOLDER [DATA_DIR]``.

It writes its results into the folder. Its exit status is 0; 1 after an error, which the last line
of its standard error tells.
"""

from __future__ import annotations

import sys
import textwrap
import traceback
from pathlib import Path

from examples.benchmarks.machine import limit_processors
from stcompile.base.errors import StcompileError

from .runs import Plan, save
from .training import run


def main() -> int:
    plan, folder, *data_dir = sys.argv[1:]
    asked = Plan.from_json(plan)
    limit_processors(asked.threads)
    pictures = Path(folder) if asked.seed == 0 else None
    try:
        record = run(asked, Path(data_dir[0]) if data_dir else None, pictures)
        save(Path(folder), asked, record)
    except StcompileError as error:
        print(str(error).replace("\n", "; "), file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exc()
        text = "".join(traceback.format_exception_only(error))
        print(textwrap.shorten(text, 200), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
