"""`stcompile lock`: what is written, what is noticed, and what is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stcompile
from tests.cli.conftest import MODEL, Run


def change(folder: Path, old: str, new: str, file: str = "model.py") -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


@pytest.fixture
def locked(folder: Path, run: Run) -> Path:
    """The lock file of a model that is locked."""
    done = run("lock", "model.py:loss")
    assert done.code == 0, done.err
    assert done.out == "locked: gradients/model.loss.txt\n"
    return folder / "gradients" / "model.loss.txt"


def test_the_text_is_readable_code_with_what_it_depends_on(locked: Path) -> None:
    text = locked.read_text()
    lines = text.splitlines()
    assert lines[1] == f"# stcompile {stcompile.__version__}, NumPy {np.__version__}"
    assert lines[3:6] == ["#   wrt: w", "#   w: float64 (3, 2)", "#   x: float64 (4, 3)"]
    assert "    # return np.mean(h * h)\n" in text
    assert "    d_w = x.T @ (d_h * (1 - v1))\n" in text
    assert "model.py:1" not in text and str(locked.parents[1]) not in text
    namespace: dict[str, object] = {}
    exec(text, namespace)
    assert callable(namespace["loss_value_and_grad"])
    assert (locked.parent / "locked.txt").read_text().splitlines()[1:] == ["model.py:loss"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import numpy as np\n", "# moved down\n\n\nimport numpy as np\n"),
        ("    h = np.tanh(x @ w)", "    h = np.tanh(x  @  w)  # spaces"),
        ("Mean square of", "The mean of the squares of"),
    ],
)
def test_what_does_not_change_the_program_does_not_count(
    old: str, new: str, locked: Path, folder: Path, run: Run
) -> None:
    change(folder, old, new)
    checked = run("lock", "--check")
    assert checked.code == 0, checked.out
    assert checked.out == "1 of 1 gradients are as locked\n"


def test_another_model_is_a_diff(locked: Path, folder: Path, run: Run) -> None:
    before = locked.read_text()
    change(folder, "np.tanh", "np.sin")
    checked = run("lock", "--check")
    assert checked.code == 1
    lines = checked.out.splitlines()
    assert lines[0].startswith("model.py:loss: the gradient is not the program")
    assert [line for line in lines if "changed: " in line] == [
        "  changed: model.py:12  h = np.sin(x @ w)"
    ]
    assert "-    d_w = x.T @ (d_h * (1 - v1))" in lines
    assert "+    d_w = x.T @ (d_h * np.cos(v1))" in lines
    assert "hint: if that is meant: stcompile lock model.py:loss" in lines
    assert lines[-1] == "0 of 1 gradients are as locked"
    assert locked.read_text() == before, "a check writes nothing"
    assert run("lock").code == 0
    assert run("lock", "--check").code == 0
    assert locked.read_text() != before


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(4, 3)", "(6, 2)", "-#   x: float64 (4, 3)"),
        ('wrt="w"', 'wrt="x"', "+#   wrt: x"),
        ("np.full((3, 2), 0.5)", "np.full((3, 2), 0.5, np.float32)", "+#   w: float32 (3, 2)"),
    ],
)
def test_other_arguments_are_a_diff(
    old: str, new: str, expected: str, locked: Path, folder: Path, run: Run
) -> None:
    if new == "(6, 2)":
        change(folder, "np.full((3, 2)", "np.full((2, 3)")
    change(folder, old, new)
    checked = run("lock", "--check")
    assert checked.code == 1
    assert expected in checked.out.splitlines()


def test_another_compiler_is_a_diff(locked: Path, run: Run) -> None:
    """The file says which versions wrote it; another program of the same model is told apart."""
    text = locked.read_text().replace(f"NumPy {np.__version__}", "NumPy 2.0.0")
    locked.write_text(text)
    assert run("lock", "--check").code == 0, "the versions alone do not count"
    locked.write_text(text.replace("    d_h = 0.25 * h\n", "    d_h = h * 0.25\n"))
    checked = run("lock", "--check")
    assert checked.code == 1
    assert "NumPy 2.0.0)" in checked.out
    assert "  other code: model.py:13  return np.mean(h * h)" in checked.out.splitlines()


def test_what_was_said_is_kept(folder: Path, run: Run) -> None:
    expression = "ones((2, 2)), ones((5, 2))"
    assert run("lock", "model.py:loss", "--args", expression, "--wrt", "x").code == 0
    assert "#   x: float64 (5, 2)" in (folder / "gradients" / "model.loss.txt").read_text()
    line = (folder / "gradients" / "locked.txt").read_text().splitlines()[1]
    assert line == f"model.py:loss --args '{expression}' --wrt x"
    assert run("lock", "--check").code == 0
    assert run("lock", "model.py:loss", "--npz", "arguments.npz").code == 0
    assert "--npz arguments.npz" in (folder / "gradients" / "locked.txt").read_text()
    assert run("lock", "--check").code == 0


def test_all_functions_of_a_file(folder: Path, run: Run) -> None:
    (folder / "models").mkdir()
    (folder / "models" / "two.py").write_text(
        "scale = 3.0\ndef f(x):\n    return x * x\ndef g(x):\n    return x * scale\n"
        "def h(x):\n    return x\ndef example_args():\n    return {'f': (2.0,), 'g': (1.0,)}\n"
    )
    done = run("lock", "models/two.py")
    assert done.code == 0
    assert done.out.splitlines() == [
        "no arguments: models/two.py:h",
        "locked: gradients/models.two.f.txt",
        "locked: gradients/models.two.g.txt",
    ]
    assert run("lock", "model.py").code == 0
    change(folder, "3.0", "4.0", "models/two.py")
    checked = run("lock", "--check")
    assert checked.code == 1
    assert checked.out.endswith("2 of 3 gradients are as locked\n")
    assert run("lock", "--check", "model.py").code == 0
    assert run("lock", "--check", "models/two.py").code == 1
    assert run("lock", "--check", "models/two.py:f").code == 0


def test_no_lock_depends_on_the_process(folder: Path, command: Run) -> None:
    (folder / "objects.py").write_text(
        "import numpy as np\n\ndef square(x):\n    return x * x\n\n\nclass Scale:\n    k = 2.0\n\n"
        "def f(x, g, rng, scale, n=3):\n"
        "    return np.sum(g(x) + rng.normal(size=x.shape)) * n * scale.k\n\n"
        "def example_args():\n"
        "    return {'f': (np.ones(3), square, np.random.default_rng(0), Scale())}\n"
    )
    locked = command("lock", "objects.py:f", PYTHONHASHSEED="1")
    assert locked.code == 0, locked.err
    text = (folder / "gradients" / "objects.f.txt").read_text()
    assert text.splitlines()[4:9] == [
        "#   x: float64 (3,)",
        "#   g: function square",
        "#   rng: Generator",
        "#   scale: Scale",
        "#   n: 3",
    ]
    assert command("lock", "--check", PYTHONHASHSEED="2").code == 0


def test_long_constants_count(folder: Path, run: Run) -> None:
    (folder / "constants.py").write_text(
        "import numpy as np\ndef f(x):\n    '''\n    >>> f(np.ones(100))\n    '''\n"
        "    return np.sum(x * np.sin(np.array([k * k for k in range(100)], float)))\n"
    )
    assert run("lock", "constants.py").code == 0
    assert run("lock", "--check").code == 0
    change(folder, "k * k", "k * 3", "constants.py")
    assert run("lock", "--check").code == 1


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda f: (f / "gradients" / "model.loss.txt").unlink(), "model.loss.txt does not exist"),
        (lambda f: (f / "gradients" / "model.loss.txt").write_text("x ="), "is not what"),
        (lambda f: (f / "gradients" / "old.f.txt").write_text(""), "is of no function in the list"),
        (lambda f: (f / "model.py").write_text(MODEL.replace("loss", "cost")), "has no `loss`"),
        (lambda f: (f / "model.py").unlink(), "model.py does not exist"),
        (lambda f: (f / "model.py").write_text("1 +"), "SyntaxError"),
        (
            lambda f: (f / "model.py").write_text(MODEL.replace("np.tanh", "np.linalg.eig")),
            "model.py:12, in loss",
        ),
    ],
)
def test_what_cannot_be_compared_fails(
    damage: object, expected: str, locked: Path, folder: Path, run: Run
) -> None:
    assert callable(damage)
    damage(folder)
    checked = run("lock", "--check")
    assert checked.code == 1
    assert expected in checked.out
    assert "Traceback" not in checked.out + checked.err


@pytest.mark.parametrize("flag", [["--args", "ones(3)"], ["--npz", "a.npz"], ["--wrt", "x"]])
def test_check_takes_no_arguments_of_its_own(locked: Path, run: Run, flag: list[str]) -> None:
    checked = run("lock", "--check", "model.py:loss", *flag)
    assert checked.code == 2
    assert f"takes no {flag[0]}" in checked.err and "as locked" not in checked.out


def test_wrong_use(folder: Path, run: Run) -> None:
    assert "no gradient is locked" in run("lock", "--check").err
    assert run("lock").code == 2
    assert run("lock", "model.py:lost").code == 2
    assert not (folder / "gradients").exists()
    assert run("lock", "model.py:loss").code == 0
    assert run("lock", "--check", "other.py").code == 2
    outside = run("lock", "model.py:loss", "--folder", "deeper/gradients")
    assert outside.code == 2 and "is not below" in outside.err
    (folder / "gradients" / "locked.txt").write_text("model.py:loss --level\n")
    refused = run("lock", "--check")
    assert refused.code == 2 and "has the line 'model.py:loss --level'" in refused.err
    (folder / "file").write_text("")
    assert run("lock", "model.py:loss", "--folder", "file").code == 1
