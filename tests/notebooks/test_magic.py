"""``%load_ext stcompile``, ``%%gradient``, and what a notebook shows of public results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.notebooks.kernel import Kernel, kernel

LOSS = "def loss(w, x, power=2):\n    h = np.tanh(x @ w)\n    return np.mean(h ** power)\n"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("notebook")) as made:
        made.ok("import sys, stcompile as st\nassert 'stcompile.notebook' not in sys.modules")
        made.ok("import numpy as np\nw, x = np.ones(3), np.ones((4, 3))\n%load_ext stcompile")
        yield made


def test_a_function_beside_its_gradient(notebook: Kernel) -> None:
    ran = notebook.ok(f"%%gradient\n{LOSS}")
    function, generated = ran.shown.split("\n\n\n", 1)
    assert function.startswith("def loss(w, x, power=2):")
    assert "def loss_value_and_grad(w, x, power):" in generated and "d_w = " in generated
    assert ran.html.count("<pre>") == 2 and 'class="beside"' in ran.html
    assert notebook.ok("type(loss).__name__, loss(w, x) > 0").shown == "('function', np.True_)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("w x", "d_w"),
        ("--wrt x", "d_x"),
        ("--wrt w,x w 'np.ones((5, 3))'", "(d_w, d_x)"),
        ("x=np.ones((5,3)) power=3", "d_w"),
        ("--level fast", "out="),
    ],
)
def test_options_and_arguments(notebook: Kernel, line: str, expected: str) -> None:
    assert expected in notebook.ok(f"%%gradient {line}\n{LOSS}").shown


def test_the_last_function_of_a_cell_by_its_own_arguments(notebook: Kernel) -> None:
    cell = "def other(x):\n    return x\n\n@st.differentiable(wrt='x')\n" + LOSS + "\nprint('ran')"
    ran = notebook.ok(f"%%gradient\n{cell}")
    assert ran.printed == "ran\n" and "return value, d_x" in ran.shown
    assert ran.shown.startswith("@st.differentiable(wrt='x')\ndef loss")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%gradient\ny = 3", "there is none"),
        ("%%gradient\ndef f(missing):\n    return missing", "no value for the argument `missing`"),
        (f"%%gradient --level slow\n{LOSS}", "invalid choice"),
        (f"%%gradient unknown\n{LOSS}", "`unknown` raises NameError"),
        (f"%%gradient w x 2 w\n{LOSS}", "too many positional arguments"),
        ("%%gradient\ndef f(w):\n    return w * w", "a gradient is that of one number"),
    ],
)
def test_what_cannot_be_shown_is_refused(notebook: Kernel, cell: str, message: str) -> None:
    ran = notebook.run(cell)
    assert ran.error.endswith("Error") and message in ran.message


def test_a_cell_that_fails_shows_its_error_once(notebook: Kernel) -> None:
    ran = notebook.run("%%gradient\n1 / 0\ndef f(w):\n    return np.sum(w)")
    assert "ZeroDivisionError" in ran.traceback + ran.printed and not ran.shown


@pytest.mark.parametrize(
    ("expression", "inside"),
    [
        ("loss", "<details>"),
        ("loss.value_and_grad", "<details>"),
        ("loss.source(w, x)", '<i class="k">def</i>'),
        ("loss.wengert(w, x)", "<pre>"),
        ("loss.trace(w, x)", "<table>"),
        ("loss.memory(w, x)", "<table>"),
        ("loss.explain(w, x)", "<table>"),
        ("loss.graph(w, x)", "<svg"),
        ("st.show(loss, w, x)", "<table>"),
        ("st.show(loss, w, x, after='share_equations')", "<pre>"),
    ],
)
def test_results_have_html_without_scripts(notebook: Kernel, expression: str, inside: str) -> None:
    notebook.ok(f"@st.differentiable\n{LOSS}\nvalue = loss.value_and_grad(w, x)")
    ran = notebook.ok(expression)
    assert ran.html.startswith('<div class="stcompile">') and inside in ran.html
    assert (
        "<script" not in ran.html
        and "light-dark(" in ran.html
        and "http" not in ran.html.split("<svg")[0]
    )
    assert "object at 0x" not in ran.shown and ran.shown
