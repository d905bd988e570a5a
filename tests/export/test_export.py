"""Exported files: they compute what the compiled function does, alone, and can test themselves."""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import io
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from stcompile.base import trees
from stcompile.base.options import Level, Options
from stcompile.export import write
from tests.golden import models

LEVELS: tuple[Level, ...] = ("readable", "fast", "compiled")
NUMPY_ONLY = {level: Options(level, blas=False) for level in LEVELS}  # as exported files are
ABSENT = ("stcompile", "astor", "scipy")

WEIGHTS = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
FORTRAN = np.asfortranarray(np.arange(6.0).reshape(2, 3) + 0.5)
SINGLE = np.array([0.1, -np.inf, 2.0], np.float32)
SCALE = 0.3
LARGE = np.ones(5000)
GENERATOR = np.random.default_rng(4)
OLD_GENERATOR = np.random.RandomState(4)


class Layer(NamedTuple):
    W: Any
    b: Any


@dataclasses.dataclass
class Model:
    layer: Layer
    scale: Any
    kind: str = "tanh"


def worked(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


def squared(v):
    return v * v


def helped(x):
    cubed = lambda v: v * squared(v)  # noqa: E731
    return np.sum(cubed(x)) * SCALE


def captured(x):
    finite = np.where(np.isfinite(SINGLE), SINGLE, 0)
    return np.sum(x * WEIGHTS * SCALE + FORTRAN.T.ravel().reshape(2, 3) * x * finite)


def structured(model, data):
    x, (labels, _) = data
    h = np.tanh(x @ model.layer.W + model.layer.b) * model.scale
    return st.nn.softmax_cross_entropy(h, labels)


def chatty(x, limit):
    assert np.all(x < limit), "too large"
    print("the sum is", np.sum(x))
    return np.sum(x**3)


def noisy(x, rng):
    draw = rng.normal(size=x.shape) + GENERATOR.normal(size=x.shape) + OLD_GENERATOR.rand()
    return np.sum(x * draw) + np.sum(x * x) * np.random.uniform(1.0, 2.0)


def positive(x, n):
    """Only defined within the range of its arguments."""
    total = np.sum(np.log(x) * np.sqrt(1 - x * x))
    for k in range(n):
        total = total + x[k] ** k
    return total


def gathered(table, index, *more, power=2.0):
    return np.sum(table[index] ** power) + sum(np.sum(m) for m in more)


def kinks(params, x):
    for w in params:
        x = np.maximum(x @ w, 0.0)
    return np.mean(np.abs(x))


def branching(x, limit):
    while np.sum(x * x) > limit:
        x = 0.5 * x
    return np.sum(x * x * x)


def recurrent(params, xs):
    h = np.zeros(4, np.float32)
    for t in range(30):
        h = np.tanh(params["W"] @ h + params["u"] * xs[t])
    return np.sum(h * h)


def directional(w, x):
    g = st.grad(lambda w: np.mean((x @ w) ** 3))(w)
    return np.sum(g * g)


def complex_inside(x, z):
    return np.sum(x * x) * np.sum(np.abs(z))


def draws() -> np.random.Generator:
    return np.random.default_rng(1)


def model() -> Model:
    rng = draws()
    return Model(Layer(rng.normal(size=(5, 3)), np.zeros(3)), 1.5)


def recurrent_arguments() -> tuple[Any, ...]:
    rng = draws()
    params = {"W": rng.normal(0, 0.5, (4, 4)), "u": rng.normal(size=4)}
    return {k: v.astype(np.float32) for k, v in params.items()}, np.ones(30, np.float32)


CASES: dict[str, tuple[Callable[..., Any], Any, Callable[[], tuple[Any, ...]]]] = {
    "worked": (worked, ("x1", "x2"), lambda: (2.0, 5.0)),
    "helped": (helped, 0, lambda: (draws().normal(size=4),)),
    "captured": (captured, 0, lambda: (draws().normal(size=(2, 3)),)),
    "structured": (
        structured, "model",
        lambda: (model(), (draws().normal(size=(7, 5)), [np.arange(7) % 3, "unused"])),
    ),
    "chatty": (chatty, "x", lambda: (draws().normal(size=5), 9.0)),
    "noisy": (noisy, "x", lambda: (draws().normal(size=5), np.random.default_rng(2))),
    "positive": (positive, 0, lambda: (draws().uniform(0.1, 0.9, 5), 3)),
    "gathered": (
        gathered, (0, 2),
        lambda: (draws().normal(3, 0.1, (4, 2)), np.array([0, 3, 3]), np.ones(2)),
    ),
    "mlp": (models.mlp, 0, lambda: models.arguments()["mlp"]),
    "kinks": (kinks, "params", lambda: ([draws().normal(0, 0.2, (40, 40)) for _ in range(3)],
                                        draws().normal(size=(30, 40)))),
    "branching": (branching, 0, lambda: (draws().normal(size=5), 2.0)),
    "recurrent": (recurrent, 0, recurrent_arguments),
    "directional": (directional, 0, lambda: (draws().normal(size=3), draws().normal(size=(4, 3)))),
    "complex": (complex_inside, 0, lambda: (draws().normal(size=3), draws().normal(size=3) * 1j)),
    "transposed": (np_sum_of_product := lambda x, y: np.sum(x * y.T.reshape(-1)), 0,
                   lambda: (draws().normal(size=6), draws().normal(size=(3, 2)).T)),
}  # fmt: skip


def load(path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "exported") -> dict[str, Any]:
    """The names of a file, executed where the compiler cannot be imported."""
    with monkeypatch.context() as patch:
        for module in ABSENT:
            for loaded in [m for m in sys.modules if m.split(".")[0] == module]:
                patch.setitem(sys.modules, loaded, None)
            patch.setitem(sys.modules, module, None)
        return runpy.run_path(str(path), run_name=name)


def self_test(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit status of a file run as a program, and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as left:
        load(path, monkeypatch, "__main__")
    return int(str(left.value.code)), out.getvalue()


def assert_same(found: Any, expected: Any) -> None:
    pairs = zip(trees.leaves(found), trees.leaves(expected), strict=True)
    for (path, one), (other_path, other) in pairs:
        assert path == other_path
        assert type(one) is type(other)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes()
        else:
            assert one == other


@contextlib.contextmanager
def from_state() -> Any:
    """Take back what is drawn from the generators of this file."""
    states = GENERATOR.bit_generator.state, OLD_GENERATOR.get_state(), np.random.get_state()
    yield
    GENERATOR.bit_generator.state = states[0]
    OLD_GENERATOR.set_state(states[1])
    np.random.set_state(states[2])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["value_and_grad", "grad"])
def test_gradients(
    name: str, level: Level, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, wrt, arguments = CASES[name]
    compiled = getattr(st, kind)(function, wrt, level=level)
    compiled.options = NUMPY_ONLY[level]
    path = tmp_path / "exported.py"
    compiled.export(path, *arguments())
    with from_state():
        exported = load(path, monkeypatch)
    with from_state(), contextlib.redirect_stdout(io.StringIO()) as one:
        found = exported[compiled.name](*compiled.bind(arguments(), {}).values.values())
    with from_state(), contextlib.redirect_stdout(io.StringIO()) as other:
        expected = compiled(*arguments())
    assert_same(found, expected)
    assert one.getvalue() == other.getvalue()
    with from_state():
        status, printed = self_test(path, monkeypatch)
    assert (status, printed[:17]) == (0, "ok: largest error"), printed


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: st.optim.SGD(0.1, clip_norm=0.5),
    "Momentum": lambda: st.optim.Momentum(0.1, weight_decay=0.01),
    "Nesterov": lambda: st.optim.Nesterov(0.1),
    "RMSprop": lambda: st.optim.RMSprop(0.1),
    "Adam": lambda: st.optim.Adam(0.1, clip_value=0.01),
    "AdamW": lambda: st.optim.AdamW(0.1),
}


def array_model() -> Model:
    return dataclasses.replace(model(), scale=np.array(1.5))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(
    name: str, level: Level, dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arguments() -> tuple[Any, ...]:
        data = draws().normal(size=(7, 5)), [np.arange(7) % 3, "unused"]
        cast = lambda _, v: v.astype(dtype) if v.dtype.kind == "f" else v  # noqa: E731
        only = lambda p, v: cast(p, v) if isinstance(v, np.ndarray) else v  # noqa: E731
        return trees.map_leaves(only, (array_model(), data))

    optimizer = OPTIMIZERS[name]()
    step = st.train_step(structured, optimizer, "model")
    step.options = NUMPY_ONLY[level]
    path = tmp_path / "exported.py"
    ours, theirs = arguments(), arguments()
    step.export(path, *ours)
    assert not getattr(optimizer, "state", {}), "an export is no step"
    exported = load(path, monkeypatch)["structured_step"]
    bound = step.bind(theirs, {})
    state = {slot: copy.deepcopy(bound.values[slot]) for slot in step._slots}
    for _ in range(3):
        assert exported(*theirs, **state) == step(*ours)
    assert_same(theirs, ours)
    for slot, kept in state.items():
        assert_same(kept, optimizer.state[slot])
    status, printed = self_test(path, monkeypatch)
    assert (status, printed[:17]) == (0, "ok: largest error"), printed


def damaged(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    code = text[text.index("\ndef ") :]
    assert old in code, old
    path.write_text(text[: len(text) - len(code)] + code.replace(old, new, 1))


DAMAGES = [
    ("np.cos(x2)", "np.sin(x2)"),
    ("1 / x1", "2 / x1"),
    ("x1 - np.cos", "x1 + np.cos"),
    ("return value, (d_x1, d_x2)", "return value, (d_x2, d_x1)"),
    ("return value, (d_x1, d_x2)", "return value + x1, (d_x1, d_x2)"),
    ("return value, (d_x1, d_x2)", "return value, (d_x1, 1.001 * d_x2)"),
    ("return value, (d_x1, d_x2)", "return value, (d_x1, float('nan'))"),
    ("return value, (d_x1, d_x2)", "return value * float('nan'), (d_x1, d_x2)"),
    ("return value, (d_x1, d_x2)", "raise ValueError('broken')"),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_damaged_gradient_fails(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exported.py"
    st.value_and_grad(worked, (0, 1), level="readable").export(path, 2.0, 5.0)
    assert self_test(path, monkeypatch)[0] == 0
    damaged(path, old, new)
    status, printed = self_test(path, monkeypatch)
    assert status == 1
    assert printed.startswith("failed: ")


STEP_DAMAGES = [
    ("np.subtract(1, ", "np.subtract(1.1, "),  # the derivative of tanh
    ("number = float(t) + 1", "number = float(t) + 2"),
    ("beta1 ** number", "beta1"),  # right in the first step alone
    ("np.sqrt(v_", "np.abs(v_"),
    ("    t += 1", "    t += 2"),
    ("m_W *= beta1", "m_W *= beta2"),
    ("b -= ", "b += "),
    ("        np.tanh(", "        np.sin("),
]


@pytest.mark.parametrize(("old", "new"), STEP_DAMAGES)
def test_damaged_step_fails(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exported.py"
    data = draws().normal(size=(7, 5)), [np.arange(7) % 3, None]
    step = st.train_step(structured, st.optim.Adam(0.1), "model", level="fast")
    step.export(path, array_model(), data)
    assert self_test(path, monkeypatch)[0] == 0
    damaged(path, old, new)
    status, printed = self_test(path, monkeypatch)
    assert status == 1, printed
    assert "failed: " in printed


def test_alone_in_another_process(tmp_path: Path) -> None:
    """As in an environment that has NumPy and nothing else."""
    path = tmp_path / "exported.py"
    step = st.train_step(structured, st.optim.Adam(0.1), "model", level="fast")
    step.export(path, array_model(), (draws().normal(size=(7, 5)), [np.arange(7) % 3, None]))
    numpy = tmp_path / "packages" / "numpy"
    numpy.parent.mkdir()
    source = Path(np.__file__).parent
    numpy.symlink_to(source)
    libraries = source.parent / "numpy.libs"
    if libraries.exists():
        (numpy.parent / "numpy.libs").symlink_to(libraries)
    run = f"import sys, runpy; sys.path.append({str(numpy.parent)!r})\n"
    run += "try:\n    import astor\nexcept ImportError:\n    print('alone')\n"
    run += f"runpy.run_path({str(path)!r}, run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", run]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("alone\nok: largest error")


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_to_the_byte(level: Level, tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    for path in (one, other):
        function, wrt, arguments = CASES["structured"]
        st.value_and_grad(function, wrt, level=level).export(path, *arguments())
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_says_what_it_is(name: str, tmp_path: Path) -> None:
    function, wrt, arguments = CASES[name]
    path = tmp_path / "exported.py"
    st.value_and_grad(function, wrt, level="fast").export(path, *arguments())
    text = path.read_text()
    title = ast.get_docstring(ast.parse(text))
    assert title is not None
    assert 'level "fast"' in title
    assert f"stcompile {st.__version__}" in title
    for leaf in (
        st.value_and_grad(function, wrt)
        .stage(st.value_and_grad(function, wrt).bind(arguments(), {}))
        .leaves
    ):
        shown = trees.show_path(leaf.argument, leaf.path)
        kind = leaf.variable.type
        row = next(line for line in title.split("\n") if line.split("  ")[0].strip() == shown
                   or line.strip().startswith(shown + " "))  # fmt: skip
        if kind.kind == "array":
            assert str(kind.dtype) in row
            assert str(kind.dims) in row
    assert all(len(line) <= 100 or line.startswith("#") for line in title.split("\n"))
    assert str(tmp_path) not in text
    assert os.path.dirname(__file__) not in text


def test_quotes_the_function_and_its_helpers(tmp_path: Path) -> None:
    path = tmp_path / "exported.py"
    st.grad(helped).export(path, np.ones(3))
    text = path.read_text()
    first, second = text.index("# def helped(x):"), text.index("# def squared(v):")
    assert first < second
    assert "#     cubed = lambda v: v * squared(v)" in text
    assert text.count("\n#     cubed") == 1


def test_structures_come_back_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, wrt, arguments = CASES["structured"]
    path = tmp_path / "exported.py"
    st.grad(function, wrt).export(path, *arguments())
    gradient = load(path, monkeypatch)["structured_grad"](*arguments())
    assert type(gradient) is Model
    assert type(gradient.layer) is Layer
    assert gradient.kind == "tanh"


def test_captured_values_are_keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "exported.py"
    st.grad(captured).export(path, np.ones((2, 3)))
    exported = load(path, monkeypatch)["captured_grad"]
    doubled = exported(np.ones((2, 3)), WEIGHTS=2 * WEIGHTS, SCALE=0.0)
    assert_same(doubled, exported(np.ones((2, 3)), SCALE=0.0))
    assert not np.array_equal(doubled, exported(np.ones((2, 3))))


def test_captured_generators_go_on_from_their_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exported.py"
    compiled = st.grad(noisy)
    compiled.export(path, np.ones(3), draws())
    exported = load(path, monkeypatch)["noisy_grad"]
    with from_state():
        np.random.seed(1)
        ours = [compiled(np.ones(3), draws()) for _ in range(2)]
    np.random.seed(1)
    theirs = [exported(np.ones(3), draws()) for _ in range(2)]
    assert_same(theirs, ours)
    assert not np.array_equal(*theirs)


def test_a_workspace_for_each_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "exported.py"
    function, wrt, arguments = CASES["structured"]
    st.grad(function, wrt, level="fast").export(path, *arguments())
    workspace = load(path, monkeypatch)["workspace"]
    results: list[Any] = []
    expected = st.grad(function, wrt, level="fast")(*arguments())

    def work() -> None:
        own = workspace()
        results.extend(own(*arguments()) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200
    for result in results:
        assert_same(result, expected)


def test_the_decorated_function_exports_value_and_gradient(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    loss = st.differentiable(worked, wrt=(0, 1))
    loss.export(one, 2.0, x2=5.0)
    loss.value_and_grad.export(other, 2.0, 5.0)
    assert one.read_text() == other.read_text()


# --- what is refused, and what stays as it was ---------------------------------------------------


def test_a_large_captured_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "exported.py"
    with pytest.raises(st.ExportError, match=r"LARGE of shape \(5000,\)") as caught:
        st.grad(lambda x: np.sum(x * LARGE)).export(path, 1.0)
    assert "argument" in caught.value.hint
    assert not path.exists()


def test_an_unwritable_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(st.ExportError, match="No such file or directory"):
        st.grad(worked).export(tmp_path / "missing" / "exported.py", 2.0, 5.0)
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(st.ExportError, match="cannot be written"):
        st.grad(worked).export(tmp_path / "folder.py", 2.0, 5.0)
    assert os.listdir(tmp_path) == ["folder.py"]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_an_interrupted_export_leaves_the_old_file(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exported.py"
    path.write_text("old")

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write.os, broken, interrupt)
    with pytest.raises(KeyboardInterrupt):
        st.grad(worked).export(path, 2.0, 5.0)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["exported.py"]
    assert path.read_text() == "old"
    st.grad(worked).export(path, 2.0, 5.0)
    assert os.listdir(tmp_path) == ["exported.py"]
    assert "def worked_grad" in path.read_text()


def test_a_link_keeps_pointing(tmp_path: Path) -> None:
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    target.write_text("old")
    link.symlink_to(target)
    st.grad(worked).export(link, 2.0, 5.0)
    assert link.is_symlink()
    assert "def worked_grad" in target.read_text()
