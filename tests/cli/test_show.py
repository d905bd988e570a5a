"""`stcompile show` and what all commands share: files, functions, arguments, errors."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stcompile
from tests.cli.conftest import MODEL, ROOT, Run

OTHERS = {
    "plain.py": "import numpy as np\ndef f(x, y=2.0):\n    return np.sum(np.sin(x) * y)\n",
    "two.py": "def f(x):\n    return x\ndef g(x):\n    return x * x\n",
    "empty.py": "x = 1\n",
    "broken.py": "def f(x):\n    return (x\n",
    "raises.py": "import numpy as np\n\ny = 1 / 0\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "imports.py": "from helper import f\n\nhelp_me = f\n",
    "helper.py": "def f(x):\n    return undefined\n\nf(1)\n",
    "prints.py": "print('loading')\ndef f(x):\n    return x * x\n",
    "refused.py": "def f(x):\n    import os\n    return os.getpid() * x\n",
    "inside/numpy.py": "def f(x):\n    return x * x * x\n",
    "slow.py": "def f(x):\n    return g(x)\ndef g(x):\n    return x ** 2\n\n\n"
    "def example_args():\n    return {'f': (3.0,)}\n",
    "fails.py": "def f(x):\n    '''\n    >>> y = 1 / 0\n    >>> f(2.0)\n    '''\n    return x\n",
    "wrong.py": "import stcompile as st\n\n"
    "@st.differentiable\ndef f(x):\n    return st.stop_gradient(x) * x\n\n"
    "@st.differentiable\ndef g(x):\n    return x * x\n\n"
    "def example_args():\n    return {'f': (3.0,), 'g': (2.0,)}\n",
    "compiled.py": "import numpy as np\nimport stcompile as st\n\ndef f(w, x):\n"
    "    return np.sum(w['a'] * x)\n\ng = st.grad(f)\n"
    "step = st.train_step(f, st.optim.SGD(0.1))\n\n"
    "@st.differentiable(memory='1MB')\ndef small(x):\n    return np.sum(x * x)\n\n"
    "def example_args():\n    return ({'a': np.ones(3)}, np.ones(3))\n",
    "unique.py": "import numpy as np\nimport stcompile as st\n\n@st.differentiable\ndef f(x):\n"
    "    return np.sum(np.load(x))\n",
}


@pytest.fixture(autouse=True)
def others(folder: Path) -> None:
    for name, text in OTHERS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def test_source_is_readable_and_plain_when_piped(command: Run) -> None:
    shown = command("show", "model.py:loss")
    assert shown.code == 0, shown.err
    assert "    h = np.tanh(x @ w)\n" in shown.out
    assert "model.py:13  return np.mean(h * h)" in shown.out
    assert "\x1b" not in shown.out
    compile(shown.out, "shown", "exec")


def test_source_is_in_colours_on_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    arguments = [sys.executable, "-m", "stcompile", "show", "model.py:loss"]
    process = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=theirs)
    os.close(theirs)
    read = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the end, on Linux
            break
        if not part:
            break
        read += part
    assert process.wait(60) == 0
    text = read.decode()
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert "    h = np.tanh(x @ w)" in [line.rstrip() for line in plain.splitlines()]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("wengert", "h: f64[4,2] = tanh(v1)"),
        ("memory", "bytes"),
        ("trace", "tanh"),
        ("graph", "tanh"),
        ("explain", "w"),
        ("stages", "equations"),
        ("staged", "program loss(w: f64[3,2], x: f64[4,3])"),
        ("share_equations", "program loss_value_and_grad"),
    ],
)
def test_views(view: str, expected: str, run: Run) -> None:
    shown = run("show", "model.py", view)
    assert shown.code == 0, shown.err
    assert expected in shown.out


def test_where_arguments_come_from(run: Run) -> None:
    assert "x: f64[4,3]" in run("show", "model.py", "wengert").out
    typed = run("show", "model.py", "wengert", "--args", "ones((5, 2)), x=rng.normal(size=(7, 5))")
    assert "loss(w: f64[5,2], x: f64[7,5])" in typed.out
    assert "x: f64[3,3]" in run("show", "model.py", "wengert", "--npz", "arguments.npz").out
    assert "f(x: float)" in run("show", "slow.py:f", "wengert").out
    assert "f(x: float, y: float)" in run("show", "plain.py", "wengert", "--args", "1.0").out
    assert "d_x = " in run("show", "model.py", "--wrt", "x").out
    assert "def workspace" in run("show", "model.py", "--level", "fast").out


def test_what_is_compiled_is_shown_as_it_is(run: Run) -> None:
    assert "def f_grad(w, x):" in run("show", "compiled.py:g").out
    assert "--- update" in run("show", "compiled.py:step").out
    assert "program f_step" in run("show", "compiled.py:step", "wengert").out
    assert "program f_grad" in run("show", "compiled.py:g", "reverse").out
    assert "def small_value_and_grad" in run("show", "compiled.py:small", "--args", "ones(3)").out
    for more in (["--wrt", "x"], ["--level", "fast"], ["trace"]):
        refused = run("show", "compiled.py:g", *more)
        assert refused.code == 2
        assert "hint: name the function that it was made of" in refused.err
    assert run("export", "compiled.py:step", "-o", "step.py").code == 0


def test_version(run: Run) -> None:
    shown = run("--version")
    assert (shown.code, shown.out) == (0, f"stcompile {stcompile.__version__}\n")


def test_a_file_called_like_a_library_is_loaded(run: Run) -> None:
    assert "x: float" in run("show", "inside/numpy.py:f", "wengert", "--args", "2.0").out


def test_what_a_file_prints_does_not_mix_with_the_output(run: Run) -> None:
    shown = run("show", "prints.py:f", "--args", "2.0")
    assert shown.out.startswith(("import", "def"))
    assert shown.err == "loading\n"


def test_a_module_of_a_package(folder: Path, run: Run) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "parts.py").write_text("def square(x):\n    return x * x\n")
    (folder / "package" / "whole.py").write_text(
        "from .parts import square\n\ndef f(x):\n    return square(x) + 1\n"
    )
    shown = run("show", "package/whole.py:f", "--args", "2.0")
    assert "parts.py:2" in shown.out, shown.err


WRONG_USE = {
    "show": "Missing argument",
    "show nofile.py:f": "nofile.py does not exist",
    "show modle.py:f": "is it model.py?",
    "show .:f": "names no Python file",
    "show model:loss": "names no Python file",
    "show model.py:los": "model.py has no `los`\nhint: is it `loss`?",
    "show model.py:np": "`np` of model.py is a module, not a function",
    "show two.py": "two.py has 2 functions\nhint: name one: two.py:f, two.py:g",
    "show empty.py": "empty.py defines no function",
    "show plain.py:f": "there are no arguments to call `f` with",
    "show plain.py:f --args ones(": "write them as in a call",
    "show plain.py:f --args onse(3)": "NameError: name 'onse' is not defined",
    "show plain.py:f --args exit()": "SystemExit",
    "show plain.py:f --args 1)+(2": "is no list of arguments",
    "show model.py --npz model.py": "cannot be read as an .npz file",
    "show model.py --npz no.npz": "cannot be read as an .npz file",
    "show plain.py --npz arguments.npz": "has w, x, but `f` takes x, y",
    "show model.py --args 1 --npz arguments.npz": "leave one of them out",
    "show model.py nonsense": "there is no view 'nonsense': the views are source,",
    "show model.py --level slow": "'slow' is none of fast, readable",
    "show model.py --wrt ,": "--wrt names no argument",
    "export model.py -o model.py": "model.py is the file of the function",
    "check empty.py": "empty.py defines no function",
    "check two.py": "there are no arguments to check a function with",
    "check two.py:f": "there are no arguments to call `f` with",
}
FAILED = {
    "show broken.py:f": "broken.py:2\n     2 | return (x\n",
    "show raises.py:f": "raises.py:3, in module",
    "show imports.py:help_me": "NameError: name 'undefined' is not defined",
    "show leaves.py:f": "leaves.py ends the program when it is imported",
    "show fails.py:f": "has a doctest of `f` that fails: ZeroDivisionError",
    "show refused.py:f --args 2.0": "refused.py:3, in f\n     3 | return os.getpid() * x\n",
    "show plain.py:f --args 1,2,3": "too many positional arguments",
    "show model.py --args ones(3),ones(4)": "matmul: shapes (4,) and (3,) do not fit",
    "show model.py --wrt z": "z",
    "export model.py -o nofolder/loss.py": "nofolder/loss.py cannot be written",
    "export model.py -o .": "cannot be written",
    "check refused.py:f --args 2.0": "refused.py:3, in f",
}


@pytest.mark.parametrize("line", [*WRONG_USE, *FAILED])
def test_errors_are_messages(line: str, run: Run) -> None:
    done = run(*line.split(" "))
    assert done.code == (2 if line in WRONG_USE else 1), done.err
    expected = WRONG_USE.get(line) or FAILED[line]
    assert expected in done.out + done.err
    assert "Traceback" not in done.err
    assert "Error(" not in done.err


def test_traceback_has_the_frames(command: Run) -> None:
    short, long = (command("show", "raises.py:f", *more) for more in ([], ["--traceback"]))
    assert short.code == long.code == 1
    assert "Traceback" not in short.err
    assert "Traceback" in long.err and "in load" in long.err
    assert "ZeroDivisionError" in short.err


def test_without_typer_there_is_a_hint(command: Run, folder: Path) -> None:
    (folder / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')\n")
    done = command("show", "model.py:loss", PYTHONPATH=f"{folder}{os.pathsep}{ROOT}")
    assert done.code == 2
    assert done.err == (
        "error: the command line needs typer, which is not installed\n"
        'hint: python -m pip install "stcompile[cli]"\n'
    )


def test_a_pipe_that_is_closed_is_no_error(folder: Path) -> None:
    line = f"{sys.executable} -m stcompile show model.py stages | head -1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("stage ")
    assert "Traceback" not in done.stderr


# --- check and export -----------------------------------------------------------------------------


def test_check_is_a_table(run: Run) -> None:
    checked = run("check", "model.py")
    assert checked.code == 0, checked.err
    head, _, row = checked.out.splitlines()
    assert head.split() == [
        "function",
        "arguments",
        "from",
        "entries",
        "worst",
        "error",
        "gradient",
    ]
    assert row.split()[:3] == ["loss", "doctest", "6"] and row.endswith("right")


def test_check_finds_a_wrong_gradient(run: Run) -> None:
    checked = run("check", "wrong.py")
    assert checked.code == 1, checked.err
    assert re.search(r"^f .* WRONG$", checked.out, re.MULTILINE)
    assert re.search(r"^g .* right$", checked.out, re.MULTILINE)
    assert (
        "f: the gradient with respect to x is 3.0, but finite differences give 6.0" in checked.out
    )


INDEXED = """\
import numpy as np
import stcompile as st
from stcompile.transforms.custom_rule import CustomRule


def taken(x, i):
    return x[i], (x, i)


def adjoint(kept, d_y):
    x, i = kept
    d_x = np.zeros_like(x)
    np.add.at(d_x, i, d_y)
    return d_x, None


rule = CustomRule(taken, adjoint)


@st.differentiable
def f(x, i, mask):
    if np.max(i) < 0:
        raise ValueError("all of them are negative")
    return np.sum(rule(x, i) ** 2) + np.sum(np.where(mask, x, 2.0))
"""


def test_check_tells_which_integers_it_varied(run: Run, folder: Path) -> None:
    (folder / "indexed.py").write_text(INDEXED)
    given = ["indexed.py:f", "--args", "linspace(1, 2, 4), array([2, 0]), array([True, False] * 2)"]
    checked = run("check", *given)
    assert checked.code == 0, checked.out + checked.err
    assert checked.out.splitlines()[-3:] == [
        "f: also compared with i: repeated, all the least, the other way round; mask: none, all, "
        "the others",
        "",
        "f: not compared with i negative (raises ValueError); i repeated and negative (raises "
        "ValueError)",
    ]


def test_check_finds_what_is_wrong_for_negative_integers(run: Run, folder: Path) -> None:
    wrong = INDEXED.replace("np.add.at(d_x, i, d_y)", "np.add.at(d_x, np.abs(i), d_y)")
    (folder / "indexed.py").write_text(wrong.replace("np.max(i) < 0", "np.max(i) < -9"))
    given = ["indexed.py:f", "--args", "linspace(1, 2, 4), array([2, 0]), array([True, False] * 2)"]
    checked = run("check", *given)
    assert checked.code == 1
    assert re.search(r"^f .* WRONG$", checked.out, re.MULTILINE)
    assert re.search(r"^f: the gradient with respect to x.*, with i .*negative", checked.out, re.M)


def test_check_of_one_function(run: Run) -> None:
    assert run("check", "wrong.py:g").code == 0
    assert run("check", "slow.py:f").code == 0
    assert run("check", "unique.py:f", "--args", "'no.npy'").code == 1


def test_show_and_export_have_the_same_level(folder: Path, run: Run) -> None:
    """The readable one, unless the function has another or the command line says so."""
    chosen = MODEL.replace('wrt="w"', 'wrt="w", memory="1MB"')
    (folder / "chosen.py").write_text(chosen)
    for file, flags, is_readable in (
        ("model.py", [], True),
        ("chosen.py", [], False),
        ("model.py", ["--level", "fast"], False),
        ("chosen.py", ["--level", "readable"], True),
    ):
        assert run("export", f"{file}:loss", "-o", "out.py", *flags).code == 0
        texts = run("show", f"{file}:loss", *flags).out, (folder / "out.py").read_text()
        assert ["def workspace" not in text for text in texts] == [is_readable, is_readable]


def test_export_of_c_has_a_name_and_calls_lapack(folder: Path, run: Run) -> None:
    (folder / "spectrum.py").write_text(
        "import numpy as np\nimport stcompile as st\n\n"
        "@st.differentiable\ndef radius(a):\n    return np.linalg.eigvalsh(a)[-1]\n"
    )
    command = ["export", "spectrum.py", "-o", "r.c", "--args", "np.eye(3)"]
    refused = run(*command)
    assert refused.code == 1 and "--lapack" in refused.err
    done = run(*command, "--lapack", "--name", "radius")
    assert done.code == 0, done.err
    assert "-llapack" in done.out
    assert "int radius(const double" in (folder / "r.c").read_text()


def test_export_runs_alone(folder: Path, run: Run) -> None:
    done = run("export", "model.py:loss")
    assert done.code == 0, done.err
    assert "loss_grad.py" in done.out
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    alone = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['stcompile'] = None; import runpy\n"
         "runpy.run_path('loss_grad.py', run_name='__main__')"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert alone.stdout.startswith("ok: "), alone.stderr
    assert (folder / "model.py").read_text() == MODEL
