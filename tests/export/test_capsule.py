"""A capsule raises the error of a call again, in a process that has NumPy alone."""

from __future__ import annotations

import collections
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

# A process without any other package than NumPy: site-packages are not on the path, but its folder.
ALONE = """
import importlib.abc, sys
class NumpyAlone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        root = name.split(".")[0]
        if root != "numpy" and root not in sys.stdlib_module_names:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NumpyAlone())
import runpy
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STCOMPILE_CAPSULES", str(tmp_path / "capsules"))
    return tmp_path / "capsules"


def said(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def raised_again(folder: Path, error: BaseException) -> str:
    """What the only capsule in the folder raises in its process."""
    (path,) = folder.iterdir()
    assert str(path) in said(error)
    code = [sys.executable, "-c", ALONE, str(path)]
    ran = subprocess.run(code, capture_output=True, text=True)
    assert ran.returncode == 1
    return ran.stderr.strip().splitlines()[-1]


def check(folder: Path, function: Any, *arguments: Any) -> str:
    with pytest.raises(Exception) as caught:
        function(*arguments)
    plain = str(caught.value).split("\nraised by")[0]
    last = raised_again(folder, caught.value)
    assert plain in last
    assert type(caught.value).__name__ in last
    return (next(folder.iterdir())).read_text()


def inverse(a: Any) -> Any:
    return np.sum(np.linalg.inv(a) @ a)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_singular_matrix(folder: Path, level: Any) -> None:
    text = check(folder, st.grad(inverse, level=level, on_error="capsule"), np.ones((30, 30)).T)
    assert "LinAlgError: Singular matrix" in text
    assert "np.linalg.inv(a) @ a" in text, "the user's line is cited"


def test_labels_out_of_range_of_a_step(folder: Path) -> None:
    def loss(params: Any, x: Any, y: Any) -> Any:
        return st.nn.softmax_cross_entropy(x @ params["w"] + params["b"], y)

    step = st.train_step(loss, st.optim.Adam(0.1), wrt="params", on_error="capsule")
    params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
    x = np.ones((50, 3), np.float32)
    step(params, x, np.zeros(50, int))
    text = check(folder, step, params, x, np.full(50, 2))
    assert "IndexError: softmax_cross_entropy: a label is not one of the classes" in text


def test_the_inputs_are_those_before_the_call(folder: Path) -> None:
    """A step that has changed its first parameter when the second one fails; numbers are drawn."""

    def loss(params: Any, rng: Any) -> Any:
        noise = rng.normal(size=3)
        if np.sum(params["a"]) < 0.5 or noise[0] > 10:
            raise ValueError("too small")
        return np.sum(params["a"] * noise**2)

    step = st.train_step(loss, st.optim.SGD(0.25), wrt="params", on_error="capsule")
    rng, params = np.random.default_rng(1), {"a": np.ones(3)}
    with pytest.raises(ValueError, match="too small") as caught:
        for _ in range(100):
            before = params["a"].copy(), rng.bit_generator.state
            step(params, rng)
    assert raised_again(folder, caught.value) == "ValueError: too small"
    found: dict[str, Any] = {"__name__": "capsule"}
    exec((next(folder.iterdir())).read_text(), found)
    np.testing.assert_array_equal(found["arguments"]["params"]["a"], before[0])
    assert found["arguments"]["rng"].bit_generator.state == before[1]


@dataclasses.dataclass
class Layer:
    w: Any
    n: int = 2


Pair = collections.namedtuple("Pair", ["a", "b"])
SHIFT = np.linspace(-1, 1, 100)
RATE = 2.0


def test_arguments_of_every_kind(folder: Path) -> None:
    def f(layer: Any, pair: Any, items: Any, act: Any, z: Any, x: Any, k: Any) -> Any:
        total = np.sum(act(layer.w) ** layer.n) * pair.a + np.sum(pair.b) + items[0]["x"] * RATE
        total = total + np.sum(SHIFT) + np.sum(np.abs(z)) + np.float64(x)
        return total + np.sum(np.linalg.inv(items[1])) * k

    broken = np.zeros((2, 2), order="F")
    arguments = (
        *(Layer(np.ones((3, 4), order="F")), Pair(2.0, np.array([np.nan, np.inf]))),
        *([{"x": np.float32(3)}, broken], np.tanh, np.array([1 + 2j]), np.arange(200.0)[::2][3], 4),
    )
    text = check(folder, st.compile(f, on_error="capsule"), *arguments)
    found: dict[str, Any] = {"__name__": "capsule"}
    exec(text, found)
    layer, pair, items = (found["arguments"][name] for name in ("layer", "pair", "items"))
    assert layer.w.flags.f_contiguous and layer.n == 2
    np.testing.assert_array_equal(pair.b, [np.nan, np.inf])
    assert type(items[0]["x"]) is np.float32 and items[0]["x"] == 3
    np.testing.assert_array_equal(found["captured"]["SHIFT"], SHIFT)
    assert found["captured"]["RATE"] == 2.0


def test_settings_for_floating_point_errors(folder: Path) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x))

    function = st.compile(f, on_error="capsule")
    with np.errstate(divide="raise"):
        assert "FloatingPointError" in check(folder, function, np.zeros(3))


def test_one_file_for_each_line_and_class(folder: Path) -> None:
    function = st.grad(inverse, on_error="capsule")
    errors = []
    for scale in range(3):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            function(np.zeros((2, 2)) * scale)
        errors.append(said(caught.value).splitlines()[-1])
    assert len({*errors}) == len([*folder.iterdir()]) == 1
    np.testing.assert_allclose(function(np.eye(2)), np.zeros((2, 2)))


def test_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STCOMPILE_CAPSULES", str(tmp_path / "file" / "folder"))
    with pytest.raises(np.linalg.LinAlgError) as caught:
        st.grad(inverse, on_error="capsule")(np.zeros((2, 2)))
    assert "there is no capsule: " in said(caught.value)


def test_without_the_option_there_is_none(folder: Path) -> None:
    with pytest.raises(np.linalg.LinAlgError) as caught:
        st.grad(inverse)(np.zeros((2, 2)))
    assert "to raise it again" not in said(caught.value) and not folder.exists()
    with pytest.raises(ValueError, match="on_error"):
        st.grad(inverse, on_error="mail")  # type: ignore[arg-type]


def test_an_environment_with_numpy_alone_is_one() -> None:
    """The test of tests: stcompile cannot be imported there."""
    script = ALONE.split("import runpy")[0] + "import stcompile"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ModuleNotFoundError: stcompile" in ran.stderr
