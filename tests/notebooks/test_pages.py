"""The first pages that a new user tries, cell by cell in a notebook."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import pages
from tests.notebooks.kernel import Kernel, kernel

PAGES = [pages.ROOT / "README.md", pages.ROOT / "docs/index.md", pages.ROOT / "docs/tutorial.md"]

# What goes wrong between the cells: refusals and errors, of which the notebook shows a traceback.
MISHAPS = [
    ("st.grad(lambda x: x + len(open('x').read()))(1.0)", "LanguageError"),
    ("st.grad(lambda x: np.sum(x @ x))(np.ones((2, 3)))", "TypingError"),
    ("def broken(x):\n    return undefined_name * x\n\nst.grad(broken)(1.0)", "LanguageError"),
    ("1 / 0", "ZeroDivisionError"),
    ("def f(:", "SyntaxError"),
    ("st.compile(lambda a: np.linalg.inv(a))(np.zeros((2, 2)))", "LinAlgError"),
    ("def square(x):\n    return x * x\n\n%timeit -n 1 -r 1 st.grad(square)(3.0)", ""),
    ("%timeit -n 1 -r 1 st.grad(lambda x: x * x)(3.0)", "SourceError"),
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("notebook")) as started:
        yield started


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_cell_prints_what_the_page_says(notebook: Kernel, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    notebook.ok("%reset -f")
    mishaps = itertools.cycle(MISHAPS)
    for block in pages.blocks(text):
        if block.info not in ("python", "python raises"):
            continue
        ran = notebook.run(block.text)
        where = f"{page.name}:{block.line}"
        assert bool(ran.error) == (block.info == "python raises"), f"{where}\n{ran.traceback}"
        output = pages.output_after(text, block)
        if output is not None:
            assert pages.trimmed(output.text) == of_a_file(pages.trimmed(ran.text)), where
        cell, error = next(mishaps)
        ran = notebook.run(f"import numpy as np\nimport stcompile as st\n{cell}")
        assert ran.error == error, ran.traceback


def of_a_file(text: str) -> str:
    """The text with the name of a file in place of a cell's."""
    return re.sub(r"\bCell In\[\d+\], line (\d+)", r"model.py:\1", text)
