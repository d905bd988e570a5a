"""Files that this user alone has written: whole or not there, and nobody else's."""

from __future__ import annotations

import os
import random
import signal
import stat
import time

import pytest

from stcompile.base.private import KEY, SUFFIX, DamageError, PrivacyError, PrivateFolder

KILLS = int(os.environ.get("STCOMPILE_TEST_KILLS", "10"))
needs_posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")


@pytest.fixture
def folder(tmp_path):
    return PrivateFolder(tmp_path / "deep" / "cache")


def test_what_was_written_is_read(folder):
    folder.write("a-1", b"one")
    folder.write("a-2", b"")
    assert (folder.read("a-1"), folder.read("a-2")) == (b"one", b"")
    assert sorted(folder.names("a-")) == ["a-1", "a-2"]
    assert folder.names("b-") == []
    folder.remove("a-1")
    with pytest.raises(FileNotFoundError):
        folder.read("a-1")


@needs_posix
def test_nobody_else_may_read_or_write(folder):
    old = os.umask(0)
    try:
        folder.write("a", b"one")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.path.iterdir()}
    assert modes == {KEY: 0o600, f"a{SUFFIX}": 0o600}
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


@pytest.mark.parametrize("length", [0, 1, 17, 18, 40, 50, -1])
def test_a_file_that_is_cut_short(folder, length):
    folder.write("a", b"content" * 10)
    path = folder.path / f"a{SUFFIX}"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DamageError):
        folder.read("a")


def test_every_byte_counts(folder):
    folder.write("a", b"content")
    path = folder.path / f"a{SUFFIX}"
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamageError):
            folder.read("a")


def test_a_file_under_another_name(folder):
    folder.write("a", b"content")
    os.rename(folder.path / f"a{SUFFIX}", folder.path / f"b{SUFFIX}")
    with pytest.raises(DamageError):
        folder.read("b")


def test_a_file_of_another_folder(folder, tmp_path):
    other = PrivateFolder(tmp_path / "other")
    other.write("a", b"foreign")
    folder.write("a", b"content")
    os.replace(other.path / f"a{SUFFIX}", folder.path / f"a{SUFFIX}")
    with pytest.raises(DamageError):
        folder.read("a")


@needs_posix
def test_what_others_may_write(folder):
    folder.write("a", b"content")
    (folder.path / f"a{SUFFIX}").chmod(0o620)
    with pytest.raises(PrivacyError, match="written by other users"):
        folder.read("a")
    (folder.path / f"a{SUFFIX}").chmod(0o600)
    (folder.path / KEY).chmod(0o640)
    with pytest.raises(PrivacyError, match="read by other users"):
        PrivateFolder(folder.path).read("a")
    (folder.path / KEY).chmod(0o600)
    folder.path.chmod(0o770)
    with pytest.raises(PrivacyError, match="chmod"):
        PrivateFolder(folder.path).read("a")
    with pytest.raises(PrivacyError):
        PrivateFolder(folder.path).write("b", b"")


@needs_posix
def test_links_are_not_followed(folder, tmp_path):
    folder.write("a", b"content")
    os.symlink(folder.path / f"a{SUFFIX}", folder.path / f"b{SUFFIX}")
    with pytest.raises(OSError):
        folder.read("b")
    (tmp_path / "link").symlink_to(folder.path)
    with pytest.raises(PrivacyError, match="link"):
        PrivateFolder(tmp_path / "link").read("a")


@needs_posix
def test_what_belongs_to_another_user(folder, monkeypatch):
    folder.write("a", b"content")
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    with pytest.raises(PrivacyError, match="another user"):
        PrivateFolder(folder.path).read("a")


def test_the_least_recently_used_are_removed(folder):
    for number in range(6):
        folder.write(f"a-{number}", bytes(1000))
        os.utime(folder.path / f"a-{number}{SUFFIX}", (number, number))
    folder.touch("a-0")
    size = folder.sizes()[0][1]
    assert folder.trim(3 * size, time.time()) == 3
    assert sorted(folder.names("")) == ["a-0", "a-4", "a-5"]
    abandoned = folder.path / ".a.1.tmp"
    abandoned.write_bytes(b"")
    folder.trim(3 * size, time.time())
    assert abandoned.exists()  # its writer may be at work
    folder.trim(3 * size, time.time() + 10_000)
    assert not abandoned.exists()


@needs_posix
def test_a_kill_at_any_moment_of_a_write(folder):
    """Writers that are killed: what they had written before is there, and all there is is whole.

    ``STCOMPILE_TEST_KILLS=200`` for a longer run.
    """
    folder.write("kept", b"kept" * 1000)
    generator = random.Random(0)
    for _ in range(KILLS):
        child = os.fork()
        if child == 0:
            try:
                own = PrivateFolder(folder.path)
                while True:
                    for number in range(3):
                        own.write(f"a-{number}", bytes([number]) * 200_000)
            finally:
                os._exit(1)
        time.sleep(generator.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        reader = PrivateFolder(folder.path)
        assert reader.read("kept") == b"kept" * 1000
        for name in reader.names("a-"):
            assert reader.read(name) == bytes([int(name[2:])]) * 200_000


@needs_posix
def test_the_first_writers_agree_on_one_secret(tmp_path):
    """Processes that make the folder at the same moment can read what each has written."""
    for turn in range(5):
        path = tmp_path / str(turn)
        children = []
        start = time.time() + 0.03
        for number in range(4):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    time.sleep(max(start - time.time(), 0))
                    PrivateFolder(path).write(f"a-{number}", b"content")
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
        reader = PrivateFolder(path)
        assert [reader.read(f"a-{number}") for number in range(4)] == [b"content"] * 4


@pytest.mark.parametrize("left", [b"", b"cut"])
def test_a_damaged_secret_is_made_anew_by_the_next_writer(folder, left):
    folder.write("a", b"one")
    key = folder.path / KEY
    key.write_bytes(left)
    again = PrivateFolder(folder.path)
    with pytest.raises(DamageError):
        again.read("a")
    again.write("b", b"two")
    assert PrivateFolder(folder.path).read("b") == b"two"
    with pytest.raises(DamageError):
        again.read("a")
