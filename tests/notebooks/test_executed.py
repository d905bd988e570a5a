"""The notebooks of the documentation, executed: their outputs are those that they are kept with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def executed(notebook: Any, folder: Path) -> Any:
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return client.execute(env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"})


def seen(cell: Any) -> list[Any]:
    """What a reader sees of a cell's outputs: text as it is, and which other forms there are. A
    drawing and the colours of code differ between versions of the libraries that make them."""
    found: list[Any] = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            found.append((output["name"], output["text"]))
        else:
            assert output["output_type"] in ("execute_result", "display_data"), output
            found.append((sorted(output["data"]), output["data"]["text/plain"]))
    return found


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_that_are_kept(path: Path, tmp_path: Path, update_golden: bool) -> None:
    kept = nbformat.read(path, 4)
    made = executed(nbformat.from_dict(kept.copy()), tmp_path)
    if update_golden:
        made.metadata.pop("language_info", None)
        for cell in made.cells:
            cell.metadata = {}
        nbformat.write(made, path)
        return
    again = nbformat.read(path, 4)
    assert any(seen(cell) for cell in again.cells)
    for cell, before in zip(made.cells, again.cells, strict=True):
        assert seen(cell) == seen(before), (
            f"{cell.source}\nrenew it: pytest tests/notebooks --update-golden"
        )
    nbformat.validate(again)
