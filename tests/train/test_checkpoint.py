"""Checkpoint files: written whole, read back to the bit, refused if a byte is wrong."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import stcompile as st
from stcompile.base.errors import ArgumentsError
from stcompile_programs.train import CheckpointError, Checkpoints, Results, TrainingOptions, train
from stcompile_programs.train.checkpoint import Checkpoint, read_checkpoint

ARRAYS = {
    'params["W"]': np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32),
    'params["layers"]["b\\u0000/../é"]': np.asfortranarray(np.ones((2, 3))),
    'optimizer["t"]': np.array(7),
    "losses": np.array([0.1, np.nan, 1e-300]),
    "empty": np.zeros((0, 3), np.complex64),
}
RECORD = {
    "epoch": 3,
    "state": 2**127 + 1,
    "loss": 0.1 + 0.2,
    "key": np.arange(4, dtype=np.uint32),
    "name": "é",
    "none": None,
}
SAVED = Checkpoint(RECORD, ARRAYS)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("checkpoint") / "c.npz"
    SAVED.write(path)
    return path.read_bytes()


def refusal(path: Path) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(path)
    assert str(path) in caught.value.reason
    return caught.value


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "c.npz"
    SAVED.write(path)
    found = read_checkpoint(path)
    assert found.position == (3, 3)
    assert found.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
    assert found.record["state"] == 2**127 + 1
    assert found.record["loss"] == 0.1 + 0.2
    assert found.record["key"].dtype == np.uint32
    assert list(path.parent.iterdir()) == [path]
    with np.load(path, allow_pickle=False) as archive:  # others can read it as well
        np.testing.assert_array_equal(archive['params["W"]'], ARRAYS['params["W"]'])


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.data())
def test_a_changed_byte_is_refused(content: bytes, tmp_path: Path, data: Any) -> None:
    at = data.draw(some.integers(0, len(content) - 1))
    value = data.draw(some.integers(0, 255).filter(lambda value: value != content[at]))
    path = tmp_path / "c.npz"
    path.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
    refusal(path)


def test_every_position_is_covered(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
        refusal(path)


def test_every_truncation_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    for length in [0, 1, 3, 64, *range(100, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:length])
        refusal(path)
    path.write_bytes(content + b"\0")
    refusal(path)


def test_what_is_wrong_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    assert refusal(path).reason == f"the checkpoint {path} does not exist"
    assert "leave --resume away" in refusal(path).hint
    assert "cannot be read" in refusal(tmp_path).reason
    for wrong, reason in {
        b"": "is an empty file",
        b"hello": "is not a checkpoint: it starts with 68 65 6c 6c",
        content[:-100]: "is truncated or corrupt",
        content[:90] + b"..." + content[93:]: "is corrupt: its SHA-256 is",
    }.items():
        path.write_bytes(wrong)
        assert reason in refusal(path).reason
    np.savez(path, w=np.ones(3))
    assert "is an archive, but not a checkpoint" in refusal(path).reason


def test_other_formats_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.npz"
    monkeypatch.setattr("stcompile_programs.train.checkpoint.FORMAT", 2)
    SAVED.write(path)
    monkeypatch.undo()
    assert "of format 2; this version of stcompile reads format 1" in refusal(path).reason


def test_nothing_is_unpickled(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        Checkpoint({}, {"w": np.array([object()])}).write(tmp_path / "c.npz")
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.npz"
    SAVED.write(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot be written: No space left on device"):
        Checkpoint({}, {}).write(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# --- runs --------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(20, 3))
Y = X @ np.array([1.0, -2.0, 0.5])


def squares(params: Any, x: Any, y: Any) -> Any:
    return np.mean((x @ params["w"] + params["b"] - y) ** 2)


def absolute(params: Any, x: Any, y: Any) -> Any:
    return np.mean(np.abs(x @ params["w"] + params["b"] - y))


def start(size: int = 3, dtype: Any = np.float64) -> dict[str, Any]:
    return {"w": np.zeros(size, dtype), "b": np.zeros((), dtype)}


def run(
    checkpoints: Checkpoints | None,
    params: Any = None,
    loss: Any = squares,
    optimizer: Any = None,
    arrays: Any = (X, Y),
    epochs: int = 2,
    **keywords: Any,
) -> tuple[Results, Any]:
    params = start() if params is None else params
    step = st.train_step(loss, optimizer or st.optim.Adam(0.1), wrt="params")
    rng = np.random.Generator(np.random.MT19937(0))  # whose state has an array in it
    results = train(
        step,
        params,
        arrays,
        epochs=epochs,
        batch_size=4,
        rng=rng,
        checkpoints=checkpoints,
        **keywords,
    )
    return results, params


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    wanted, whole = run(None, epochs=4)
    run(Checkpoints(path), epochs=2)
    found, params = run(Checkpoints(path, resume=True), epochs=4)
    assert [epoch.loss for epoch in found.epochs] == [epoch.loss for epoch in wanted.epochs]
    for name in whole:
        np.testing.assert_array_equal(params[name], whole[name])
    again, params = run(Checkpoints(path, resume=True), epochs=4)  # it is finished
    assert again.epochs == found.epochs
    assert again.microseconds_per_step == found.microseconds_per_step
    np.testing.assert_array_equal(params["w"], whole["w"])


def test_checkpoints_are_written_when_they_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[int, int]] = []
    write = Checkpoint.write
    monkeypatch.setattr(
        Checkpoint, "write", lambda self, path: (written.append(self.position), write(self, path))
    )
    run(Checkpoints(tmp_path / "c.npz", every=2))
    assert written == [(1, 0), (1, 2), (1, 4), (2, 0), (2, 2), (2, 4), (3, 0)]


@pytest.mark.parametrize("shared", [False, True])
def test_any_step_can_be_gone_on_from(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of every checkpoint of a run, and from each of them the rest of it. The step draws
    random numbers: from a generator of its own, the one that shuffles, and NumPy's global one."""

    def noisy(params: Any, x: Any, y: Any, generator: Any) -> Any:
        noise = generator.normal(size=x.shape) + np.random.normal(0.0, 0.1, x.shape)
        return np.mean(((x + noise) @ params["w"] + params["b"] - y) ** 2)

    def outcome(checkpoints: Checkpoints) -> Any:
        rng = np.random.Generator(np.random.MT19937(0))
        generator = rng if shared else np.random.default_rng(3)
        params, optimizer = start(), st.optim.Adam(0.1)
        results = train(
            st.train_step(noisy, optimizer, wrt="params"),
            params,
            (X, Y),
            epochs=2,
            batch_size=4,
            rng=rng,
            arguments=(generator,),
            checkpoints=checkpoints,
        )
        state = optimizer.state_dict()
        losses = [epoch.loss for epoch in results.epochs]
        return params["w"].tolist(), state["m"]["w"].tolist(), state["t"], losses, rng.random()

    copies: list[tuple[tuple[int, int], Path]] = []
    write = Checkpoint.write

    def write_and_copy(self: Checkpoint, path: Path) -> None:
        copies.append((self.position, tmp_path / f"{len(copies)}.npz"))
        write(self, copies[-1][1])

    np.random.seed(1)
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "write", write_and_copy)
        wanted = outcome(Checkpoints(tmp_path / "c.npz", every=1))
    made = [(1, n) for n in range(5)] + [(2, n) for n in range(5)] + [(3, 0)]
    assert [position for position, _ in copies] == made
    for _, path in copies:
        np.random.seed(2)
        assert outcome(Checkpoints(path, resume=True)) == wanted


def test_hyperparameters_that_were_changed_come_back(tmp_path: Path) -> None:
    def training(checkpoints: Checkpoints | None, epochs: int) -> Any:
        optimizer = st.optim.Momentum(0.1)

        def evaluate() -> tuple[None, None]:
            optimizer.lr *= 0.5
            return None, None

        _, params = run(checkpoints, optimizer=optimizer, evaluate=evaluate, epochs=epochs)
        return params["w"].tolist(), optimizer.lr

    path = tmp_path / "c.npz"
    training(Checkpoints(path), 2)
    assert training(Checkpoints(path, resume=True), 4) == training(None, 4)


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    run(Checkpoints(path, settings={"--seed": 1, "--dtype": "float64"}))
    before = path.read_bytes()
    same = Checkpoints(path, resume=True, settings={"--seed": 1, "--dtype": "float64"})
    other = Checkpoints(path, resume=True, settings={"--seed": 2, "--hidden": 3})
    wide = np.hstack([X, X])
    for message, keywords in {
        "other settings: --seed was 1, not 2; --dtype was float64, not there; "
        "--hidden was not there, not 3": {"checkpoints": other},
        r'another model: params\["w"\] was float64 \(3,\), not float64 \(6,\)': {
            "params": start(6),
            "arrays": (wide, Y),
        },
        "another training step: the generated code": {"loss": absolute},
        "another training step": {"optimizer": st.optim.SGD(0.1)},
        "other training data": {"arrays": (X + 1e-9, Y)},
        "is in epoch 3, beyond the 1 that are asked for": {"epochs": 1},
    }.items():
        params = keywords.get("params", start())
        with pytest.raises(CheckpointError, match=message):
            run(**{"checkpoints": same, **keywords, "params": params})
        assert not params["w"].any()
    run(same)
    monkey = pytest.MonkeyPatch()
    monkey.setattr("stcompile_programs.train.identity.version", lambda name: "9.9")
    with monkey.context(), pytest.raises(CheckpointError, match=r"0\.1\.0 of stcompile, not 9\.9"):
        run(same)
    monkey.undo()
    assert path.read_bytes() == before


def test_comments_in_the_model_make_no_other_step(tmp_path: Path) -> None:
    """The generated code names lines of the model's file; these may move."""
    path = tmp_path / "c.npz"
    _, wanted = run(None, epochs=2)
    run(Checkpoints(path), epochs=1)

    def squares(params: Any, x: Any, y: Any) -> Any:
        return np.mean((x @ params["w"] + params["b"] - y) ** 2)

    _, params = run(Checkpoints(path, resume=True), loss=squares, epochs=2)
    np.testing.assert_array_equal(params["w"], wanted["w"])


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    path.write_text("my thesis")
    with pytest.raises(CheckpointError, match="is there already") as caught:
        run(Checkpoints(path))
    assert "--resume" in caught.value.hint
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        run(Checkpoints(path, resume=True))
    assert path.read_text() == "my thesis"


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "c[1].npz"
    (tmp_path / ".c[1].npz.123.tmp").write_text("half")
    run(Checkpoints(path))
    assert list(tmp_path.iterdir()) == [path]


def test_resume_needs_a_checkpoint() -> None:
    data: Any = None
    with pytest.raises(ArgumentsError, match="--resume needs the checkpoint"):
        TrainingOptions(resume=True).make_checkpoints(data)
    assert TrainingOptions().make_checkpoints(data) is None


def test_the_record_is_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    run(Checkpoints(path))
    with np.load(path) as archive:
        record = json.loads(archive["record"].tobytes())
    assert record["epoch"] == 3
    assert len(record["epochs"]) == 2
