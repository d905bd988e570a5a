"""Where a message points: the user's file and line, through helpers, loops and transforms."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import stcompile as st
from stcompile import LanguageError, SourceError, StcompileError, TypingError
from tests.diagnostics.refusals import excerpts, refusal
from tests.frontend import layers

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)


# --- sources -------------------------------------------------------------------------------------


def imported(path: Path):
    """The module of a file, as users import it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path: Path, text: str) -> None:
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    os.utime(path, (path.stat().st_mtime + 10,) * 2)


def test_code_from_exec_has_no_source():
    names = {"np": np}
    exec("def loss(x):\n    return np.sum(x)\n", names)
    error = refusal(names["loss"], X)
    assert type(error) is SourceError
    assert "source of 'loss'" in error.reason
    assert "not available" in error.reason
    assert "file or a notebook cell" in error.hint


def test_a_helper_from_exec_is_shown_at_its_call():
    names = {"np": np}
    exec("def helper(x):\n    return np.sum(x)\n", names)
    helper = names["helper"]

    def loss(x):
        return helper(x) * 2

    error = refusal(loss, X)
    assert type(error) is SourceError
    assert [place.underlined for place in excerpts(str(error))] == ["helper(x)"]


def test_an_edited_file_is_refused_and_a_reloaded_one_taken(tmp_path):
    path = tmp_path / "model.py"
    write(path, "import numpy as np\n\ndef loss(x):\n    return np.sum(x)\n")
    module = imported(path)
    np.testing.assert_array_equal(st.grad(module.loss)(X), np.ones((2, 3)))
    write(path, "import numpy as np\n\ndef loss(x):\n    return np.sum(x * x)\n")
    error = refusal(module.loss, X)
    assert type(error) is SourceError
    assert "has changed since it was imported" in error.reason
    assert "reload" in error.hint
    np.testing.assert_array_equal(st.grad(imported(path).loss)(X), 2 * X)


GIVEN = """import numpy as np, stcompile as st

def f(x):
    return np.sum(x @ x)

st.grad(f)(np.ones((2, 3)))
"""


def test_a_program_of_python_c_is_shown():
    result = subprocess.run([sys.executable, "-c", GIVEN], capture_output=True, text=True)
    assert "python -c, line 4, in f\n     4 | return np.sum(x @ x)\n" in result.stderr


def test_a_program_on_standard_input_is_shown_if_it_is_a_file(tmp_path):
    path = tmp_path / "program"
    path.write_text(GIVEN)
    with path.open() as file:
        result = subprocess.run([sys.executable], stdin=file, capture_output=True, text=True)
    assert "standard input, line 4, in f\n     4 | return np.sum(x @ x)\n" in result.stderr
    result = subprocess.run([sys.executable, "-"], input=GIVEN, capture_output=True, text=True)
    assert "what Python read from a pipe, or was typed at a prompt, is gone" in result.stderr


def test_of_a_long_line_the_part_around_the_expression_is_shown(tmp_path):
    sums = " + ".join(f"{i} * np.sum(x)" for i in range(9))
    path = tmp_path / "long.py"
    write(path, f"import numpy as np\n\ndef f(x):\n    return {sums} + np.sum(x @ x) + {sums}\n")
    error = refusal(imported(path).f, X)
    _, shown, carets, *_ = str(error).splitlines()
    text = shown.partition("| ")[2]
    assert text.startswith("… ") and text.endswith(" …") and len(text) <= 104
    assert [place.underlined for place in excerpts(str(error))] == ["x @ x"]
    assert len(carets) == len(shown.partition("x @ x")[0]) + 5


@pytest.mark.parametrize("function", [math.sin, np.linalg.norm, print], ids=lambda f: f.__name__)
def test_functions_without_a_source(function):
    with pytest.raises(StcompileError):
        st.grad(function)(X)


def test_a_c_function_inside():
    from operator import length_hint

    def loss(x):
        return np.sum(x) * length_hint([1])

    error = refusal(loss, X)
    assert type(error) is LanguageError
    assert "length_hint" in error.reason
    assert [place.underlined for place in excerpts(str(error))] == ["length_hint([1])"]


# --- chains of calls -----------------------------------------------------------------------------


def inner(x):
    return x.reshape(4, 5)


def outer(x):
    return inner(x * 2)


def test_an_error_in_a_helper_shows_each_call():
    def loss(x):
        return np.sum(outer(x))

    error = refusal(loss, X)
    places = excerpts(str(error))
    assert type(error) is TypingError
    assert [place.underlined for place in places] == ["x.reshape(4, 5)", "inner(x * 2)", "outer(x)"]
    assert [place.function for place in places] == ["inner", "outer", "loss"]
    assert str(error).count("called from") == 2


def test_an_error_in_another_module_names_both_files():
    def loss(x):
        return np.sum(layers.fails(x))

    places = excerpts(str(refusal(loss, X)))
    assert [place.file for place in places] == ["layers.py", Path(__file__).name]
    assert [place.underlined for place in places] == ["x @ np.ones((7, 7))", "layers.fails(x)"]


def test_an_error_in_a_package_begins_with_the_user_s_line(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    text = "def fit(x):\n    return step(x)\n\ndef step(x):\n    return x.reshape(4, 5)\n"
    (folder / "fitting_package.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    package = importlib.import_module("fitting_package")

    def model(x):
        return package.fit(x)

    def loss(x):
        return np.sum(model(x))

    error = refusal(loss, X)
    assert [(place.file, place.underlined) for place in excerpts(str(error))] == [
        ("test_sources_and_places.py", "package.fit(x)"),
        ("fitting_package.py", "step(x)"),
        ("fitting_package.py", "x.reshape(4, 5)"),
        ("test_sources_and_places.py", "model(x)"),
    ]
    assert str(error).count("which leads to") == 2


def test_what_only_a_package_knows_is_not_named():
    special, stats = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.stats")
    error = refusal(lambda a: st.grad(lambda a: special.gammaincc(a, 2.0))(a), 1.5)
    assert "the derivative of `special.gammaincc` by `a` has no derivative" in error.reason
    error = refusal(lambda x: stats.betaprime.isf(x, 2.0, 3.0), 0.3)
    assert error.reason == "`stats.betaprime.isf` is not supported"
    error = refusal(lambda x: stats.ncx2.logcdf(x, 2.0, 3.0), 0.3)
    assert error.reason.startswith("`stats.ncx2.logcdf` is not supported: `special.chndtr")


def test_an_error_in_a_method_of_an_object():
    class Layer:
        def __call__(self, x):
            return self.forward(x)

        def forward(self, x):
            return x + np.ones(7)

    layer = Layer()

    def loss(x):
        return np.sum(layer(x))

    places = excerpts(str(refusal(loss, X)))
    assert [p.underlined for p in places] == ["x + np.ones(7)", "self.forward(x)", "layer(x)"]


def test_an_error_in_a_function_that_is_differentiated_inside():
    def energy(x):
        return np.sum(x + np.ones(7))

    def loss(x):
        return np.sum(st.grad(energy)(x))

    places = excerpts(str(refusal(loss, X)))
    assert [p.underlined for p in places] == ["x + np.ones(7)", "st.grad(energy)(x)"]


def test_an_error_in_a_lambda_and_a_comprehension():
    def loss(x):
        scale = lambda v, n: v + np.ones(n)  # noqa: E731
        return np.sum([scale(x, n) for n in (1, 3, 4)])

    places = excerpts(str(refusal(loss, X)))
    assert [p.underlined for p in places] == ["v + np.ones(n)", "scale(x, n)"]


def test_a_wrong_call_of_library_code_is_shown_at_the_user_s_line():
    def loss(x):
        return st.nn.softmax_cross_entropy(x, np.ones(7))

    places = excerpts(str(refusal(loss, X)))
    assert places[-1].underlined == "st.nn.softmax_cross_entropy(x, np.ones(7))"
    assert places[-1].function == "loss"


def test_an_error_that_is_always_raised_has_its_message_filled_in():
    def checked(x, n):
        if x.shape[0] != n:
            raise ValueError(f"{n} rows are needed, not {x.shape[0]}")
        return x

    def loss(x):
        return np.sum(checked(x, 7))

    message = str(refusal(loss, X))
    assert f"raises ValueError('7 rows are needed, not {X.shape[0]}')" in message


def test_an_error_whose_message_is_not_static_is_shown_as_it_is_written():
    def loss(x):
        raise ValueError(f"the sum is {np.sum(x)}")

    assert "raises ValueError(f'the sum is {np.sum(x)}')" in str(refusal(loss, X))


# --- iterations ----------------------------------------------------------------------------------


def test_an_error_in_a_loop_shows_the_iteration():
    def loss(x):
        for t in range(5):
            for name in ("a", "b"):
                if t == 2 and name == "b":
                    x = x + np.ones(7)
        return np.sum(x)

    assert "t = 2" in str(refusal(loss, X))
    assert "name = 'b'" in str(refusal(loss, X))


def test_an_error_in_a_helper_called_in_a_loop_shows_the_iteration():
    def loss(x):
        for t, size in enumerate((1, 3, 7)):
            x = x + np.ones(size)
            x = outer(x) if t == 9 else x
        return np.sum(x)

    assert "t = 2" in str(refusal(loss, X))

    def calls(x):
        for t in range(3):
            x = outer(x) if t == 1 else x
        return np.sum(x)

    message = str(refusal(calls, X))
    assert "t = 1" in message.split("called from")[-1]


def test_an_error_in_a_comprehension_shows_the_iteration():
    def loss(x):
        return sum([np.sum(x + np.ones(n)) for n in (1, 3, 7)])

    assert "n = 7" in str(refusal(loss, X))


def test_what_stands_in_the_place_of_a_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "stands_in_place", types.SimpleNamespace(k=2.0))

    def loss(x):
        import stands_in_place

        return np.sum(x) * stands_in_place.k

    error = refusal(loss, X)
    assert "`import stands_in_place` gives" in error.reason


# --- results -------------------------------------------------------------------------------------


def half(x):
    return x[:2]


def nothing(x):
    half(x)


def named(x):
    return {"name": "x"}


def selected(x):
    return x[0] - MEASURED[GROUPS == 0]


MEASURED, GROUPS = np.arange(4.0), np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("call", "at", "reason"),
    [
        (lambda x: st.jacobian(lambda x: None)(x), "None", "is None"),
        (lambda x: st.jacobian(lambda x: np.argmax(x))(x), "np.argmax(x)", "no Jacobian"),
        (lambda x: st.grad(nothing)(x), "def nothing(x):", "returns None"),
        (lambda x: st.grad(named)(x), '{"name": "x"}', "returns a dict"),
        (lambda x: st.hessian(half)(x), "x[:2]", "a gradient is that of one number"),
        (lambda x: st.vmap(named)(x), '{"name": "x"}', "no batch"),
        (lambda x: st.vmap(lambda x: 2 * x, out_axes=3)(x), "2 * x", "no axis 3"),
        (lambda x: st.sparse_jacobian(lambda x: (x, x))(x), "(x, x)", "does not return one array"),
        (lambda x: st.sparse_jacobian(selected)(x), "MEASURED[GROUPS == 0]", "length of an axis"),
        (lambda x: st.root(half, x), "x[:2]", "for an x of shape"),
        (lambda x: st.fixed_point(nothing, x), "def nothing(x):", "returns None"),
        (lambda x: st.solve_ivp(lambda t, y: y[:2], (0.0, 1.0), x), "y[:2]", "for a state"),
    ],
)
def test_what_is_returned_is_refused_at_the_return(call, at, reason):
    if "length of an axis" in reason:
        pytest.importorskip("scipy")  # of a sparse Jacobian
    with pytest.raises(StcompileError) as caught:
        call(np.ones(4))
    assert reason in caught.value.reason
    assert [place.underlined for place in excerpts(str(caught.value))] == [at]


def test_jacobians_of_selections_are_taken():
    np.testing.assert_array_equal(st.jacobian(selected)(np.ones(3)), [[1, 0, 0], [1, 0, 0]])


# --- odd places ----------------------------------------------------------------------------------


def test_an_expression_over_several_lines():
    def loss(x):
        return np.sum(
            x
            + np.ones(
                7
            )
        )  # fmt: skip

    message = str(refusal(loss, X))
    assert "(2, 3)" in message
    assert "(7,)" in message
    assert excerpts(message)[0].underlined == "x"


def test_letters_beyond_ascii_and_tabs():
    def loss(größe):
        return np.sum(größe) + np.sum("µ" and größe + np.ones(7))

    assert excerpts(str(refusal(loss, X)))[0].underlined == "größe + np.ones(7)"


def test_nothing_runs_before_a_refusal(capsys):
    def loss(x):
        print("this must not be printed")
        return np.roots(x)

    refusal(loss, X)
    assert capsys.readouterr().out == ""


def test_a_refused_call_leaves_the_function_usable():
    def loss(x, n):
        return np.sum(x.reshape(n, -1) @ np.ones((3, 1)))

    gradient = st.grad(loss)
    with pytest.raises(TypingError):
        gradient(X, 3)
    np.testing.assert_array_equal(gradient(X, 2), np.ones((2, 3)))
    with pytest.raises(TypingError):
        gradient(X, 3)


def test_every_error_is_one_class():
    for error in (SourceError, LanguageError, TypingError, st.DerivativeError, st.ArgumentsError):
        assert issubclass(error, st.StcompileError)
