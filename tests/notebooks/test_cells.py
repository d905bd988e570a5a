"""What people do in the cells of a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.notebooks.kernel import Kernel, kernel


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("notebook")) as made:
        yield made


@pytest.fixture
def notebook(started: Kernel) -> Kernel:
    started.ok("%reset -f")
    started.ok("import numpy as np\nimport stcompile as st\nfrom numpy import tanh")
    return started


def shown(notebook: Kernel, expression: str) -> str:
    return notebook.ok(expression).shown


F = "import numpy as np\nimport stcompile as st\n\ndef f(x):\n    return np.sum(x * x)\n\n"


def test_a_cell_that_is_changed_and_run_again(notebook: Kernel) -> None:
    gradient = "st.grad(f)(np.ones(2)).tolist()"
    assert notebook.ok(F + gradient).shown == "[2.0, 2.0]"
    notebook.ok("old = st.grad(f)")
    assert notebook.ok(F.replace("x * x", "x ** 3") + gradient).shown == "[3.0, 3.0]"
    assert shown(notebook, "old(np.ones(2)).tolist(), old(np.ones(3)).tolist()").startswith(
        "([2.0, 2.0]"
    )
    assert notebook.ok(F + gradient).shown == "[2.0, 2.0]"
    assert notebook.ok(F + gradient).shown == "[2.0, 2.0]"  # the same text
    assert notebook.ok("def f(x):\n    return np.sum(x)\n" + gradient).shown == "[1.0, 1.0]"


def test_a_helper_of_another_cell_is_defined_again(notebook: Kernel) -> None:
    notebook.ok("def helper(x):\n    return x * x")
    notebook.ok("@st.differentiable\ndef loss(x):\n    return np.sum(helper(x))")
    assert shown(notebook, "loss.grad(np.ones(2)).tolist()") == "[2.0, 2.0]"
    notebook.ok("def helper(x):\n    return x ** 4")
    assert shown(notebook, "loss.grad(np.ones(2)).tolist()") == "[4.0, 4.0]"


@pytest.mark.parametrize(
    ("definition", "function"),
    [
        ("f, g = lambda x: np.sum(x), lambda x: np.sum(3 * x)", "g"),
        ("import numpy as np; f = lambda x: np.sum(x); g = lambda x: np.sum(3 * x)", "g"),
        ("def make(a):\n    def inner(x): return np.sum(a * x)\n    return inner", "make(3.0)"),
        (
            "class Model:\n    a = 3.0\n    def loss(self, x):\n        return np.sum(self.a * x)",
            "Model().loss",
        ),
        (
            "class Model:\n    __a = 3.0\n    @staticmethod\n    def loss(x):\n"
            "        return np.sum(Model._Model__a * x)",
            "Model.loss",
        ),
        (
            "import functools\ndef keep(f):\n    @functools.wraps(f)\n    def inner(*a):\n"
            "        return f(*a)\n    return inner\n@keep\n@keep\ndef f(x): return np.sum(3 * x)",
            "f",
        ),
        ("if True:\n    import numpy as np\n    def f(x): return np.sum(3 * x)", "f"),
        ("%timeit -n 1 -r 1 1 + 1\n!echo shell\nfiles = !ls\ndef f(x): return np.sum(3 * x)", "f"),
        ("%%capture\nimport numpy as np\ndef f(x): return np.sum(3 * x)", "f"),
        ("import asyncio\nawait asyncio.sleep(0)\ndef f(x): return np.sum(3 * x)", "f"),
        ("from math import pi\ndef f(x: 'float'): return np.sum(3 * x) + np.sum(tanh(0 * x))", "f"),
    ],
)
def test_ways_to_define_a_function(notebook: Kernel, definition: str, function: str) -> None:
    notebook.ok(definition)
    assert shown(notebook, f"st.grad({function}, wrt=-1)(np.ones(2)).tolist()") == "[3.0, 3.0]"
    assert shown(notebook, f"st.grad({function}, wrt=-1)(np.ones(3)).tolist()")


def test_features_of_the_future_stay_on(notebook: Kernel) -> None:
    """An import from ``__future__`` in one cell holds for the next ones."""
    notebook.ok("from __future__ import annotations\ndef f(x: missing): return np.sum(x)")
    notebook.ok("def g(x: missing):\n    def h(y: missing): return 2 * y\n    return f(h(x))")
    assert shown(notebook, "st.grad(g)(np.ones(1)).tolist()") == "[2.0]"


def test_a_function_that_a_magic_repeats_is_refused_with_the_reason(notebook: Kernel) -> None:
    cell = "%%timeit -n 1 -r 1\ndef f(x):\n    return np.sum(x)\nst.grad(f)(np.ones(2))"
    ran = notebook.run(cell)
    assert ran.error == "SourceError"
    assert "a magic such as %%timeit keeps no source of what it runs" in ran.message


def test_cells_that_are_timed(notebook: Kernel) -> None:
    """One after the other, with functions on the same lines."""
    for factor in ("2", "3"):
        notebook.ok(
            f"%%time\nimport numpy as np\ndef f{factor}(x):\n    y = {factor} * x\n"
            f"    return np.sum(y)\n\nst.grad(f{factor})(np.ones(2))"
        )
    notebook.ok("%%time\nf4 = lambda x: np.sum(4 * x)")
    notebook.ok("%time f5 = lambda x: np.sum(5 * x)")
    for factor in (2, 3, 4, 5):
        assert shown(notebook, f"st.grad(f{factor})(np.ones(1)).tolist()") == f"[{factor}.0]"
    assert shown(notebook, "%time st.grad(lambda x: f5(x) + np.sum(x))(np.ones(1)).tolist()")
    ran = notebook.run("%%time\n\ndef f(x):\n    return np.sum(x @ x)\nst.grad(f)(np.ones((2, 3)))")
    assert "return np.sum(x @ x)" in ran.message
    assert re.search(r"^Cell In\[\d+\] \(%%time\), line 2, in f$", ran.message, re.MULTILINE)


def test_a_refusal_shows_the_line_of_the_cell(notebook: Kernel) -> None:
    ran = notebook.run(
        "def f(x):\n    y = x * x\n    return np.sum(x @ y)\n\nst.grad(f)(np.ones((2, 3)))"
    )
    assert ran.error == "TypingError"
    number = notebook.ok("len(In) - 2").shown
    place = rf"Cell In\[{number}\], line 3"
    assert re.search(rf"^{place}, in f\n +3 \| return np.sum\(x @ y\)\n +\| +\^{{5}}", ran.message)
    assert shown(notebook, "st.grad(lambda x: x * x)(3.0)") == "6.0"


def test_the_traceback_of_an_error_in_generated_code_shows_the_cell(notebook: Kernel) -> None:
    notebook.ok("def f(a):\n    return np.sum(np.linalg.inv(a))")
    ran = notebook.run("st.grad(f)(np.zeros((2, 2)))")
    assert ran.error == "LinAlgError"
    assert "return np.sum(np.linalg.inv(a))" in ran.traceback


def test_lines_of_cells_have_one_name_everywhere(notebook: Kernel) -> None:
    notebook.ok("def f(x):\n    y = np.sin(x)\n    return np.sum(y) + np.sum(x * x)")
    place = f"Cell In[{notebook.ok('len(In) - 2').shown}], line "
    assert (
        f"# {place}3  return np.sum(y)"
        in notebook.ok("print(st.grad(f).source(np.ones(2)))").printed
    )
    notebook.ok("d = st.differentiable(f)")
    ran = notebook.ok("print(st.explain(np.floor if 0 else lambda x: f(x) * 0, np.ones(2)))")
    assert "Cell In[" in ran.printed and ".py:" not in ran.printed
    ran = notebook.ok("print(st.explain(lambda x: np.floor(x), 0.5))")
    assert re.search(r"`floor` at Cell In\[\d+\], line 1", ran.printed)
    for view in ("graph", "memory", "cotangents"):
        assert ".py:" not in notebook.ok(f"print(d.{view}(np.ones(2)))").printed
    notebook.ok(
        "import sys\nsys.breakpointhook = lambda: print('stopped')\n"
        f"with st.break_in_adjoint('{place}3'):\n    g = st.grad(f)(np.ones(2))"
    )
    ran = notebook.ok(f"with st.break_in_adjoint('{place}3'):\n    g = st.grad(f)(np.ones(2))")
    assert "stopped" in ran.printed


def test_a_function_without_its_source_names_the_cell(notebook: Kernel) -> None:
    ran = notebook.run("exec('def f(x): return x')\nst.grad(f)(1.0)")
    assert ran.error == "SourceError" and "compiled from <string>" in ran.message


def test_explore_shows_the_page_in_a_frame(notebook: Kernel) -> None:
    pytest.importorskip("igraph", reason="the explorer draws by igraph")
    notebook.ok("@st.differentiable\ndef loss(x):\n    return np.sum(x * x)")
    ran = notebook.ok("page = loss.explore(np.ones(2))\npage")
    assert ran.shown == "loss.html" and ran.html.startswith("<iframe srcdoc=")
    assert "&lt;script" in ran.html and "Cell In[" in ran.html
    assert notebook.ok("import os\nos.remove(page)\npage").html == ""


@pytest.mark.slow
def test_functions_of_cells_in_the_workers_of_joblib(notebook: Kernel) -> None:
    notebook.ok("def helper(x):\n    return x * x")
    notebook.ok("@st.differentiable\ndef loss(w, x):\n    return np.sum(helper(w * x))")
    notebook.ok("from joblib import Parallel, delayed\nw = np.ones(2)")
    ran = notebook.ok(
        "gradients = loss.grad, st.grad(loss, wrt=1)\n"
        "tasks = [delayed(g)(w, i * w) for i in range(3) for g in gradients]\n"
        "[g.tolist() for g in Parallel(n_jobs=2)(tasks)] == "
        "[g(*a).tolist() for g, a, _ in tasks]"
    )
    assert ran.shown == "True"
