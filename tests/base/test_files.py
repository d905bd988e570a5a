"""Files that are there in whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from stcompile.base.files import write_whole


def test_files_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "results.json"
    write_whole(path, b"before")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_link_names_is_written(tmp_path: Path) -> None:
    path, link = tmp_path / "results.json", tmp_path / "link.json"
    path.write_text("before")
    link.symlink_to(path)
    write_whole(link, "after\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"after\n"


def test_no_folder_is_made_unless_it_may_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "folder" / "results.json", "", make_folder=False)
    assert list(tmp_path.iterdir()) == []
