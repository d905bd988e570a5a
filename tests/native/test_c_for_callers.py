"""Files of C as programs of others include, call and compile them."""

from __future__ import annotations

import ctypes
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ExportError
from tests.native.test_c import built, needs_gcc, run_self_test

X = np.array([0.5, -1.5, 2.0])


def ran(program: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program)], capture_output=True, text=True, check=False)


# --- texts ---------------------------------------------------------------------------------------


def commented(x):
    y = x * 2.0  # see */ int evil; /*
    if x[0] > 100:
        raise ValueError("bad */ value")
    return np.sum(y**2)


@needs_gcc
def test_lines_of_the_user_end_no_comment(tmp_path: Path) -> None:
    st.value_and_grad(commented).export(tmp_path / "made.c", X)
    run_self_test(tmp_path / "made.c")
    assert "bad * / value" in (tmp_path / "made.h").read_text()


SCALE = 2.5


def scaled(count, x, mode="sum"):
    return np.sum(x * SCALE) * count if mode == "sum" else np.mean(x)


@needs_gcc
def test_the_header_says_what_c_is_not_given(tmp_path: Path) -> None:
    st.value_and_grad(scaled, "x").export(tmp_path / "made.c", 4, X)
    header = (tmp_path / "made.h").read_text()
    assert "Made for count = 4, mode = 'sum'." in header
    assert "SCALE = 2.5" in header


def test_the_header_says_which_lengths_stay_numbers(tmp_path: Path) -> None:
    factored = st.compile(lambda a: np.sum(np.linalg.qr(a)[1] ** 2), dynamic=True)
    with pytest.warns(st.StcompileWarning, match="numbers in place of lengths"):
        factored.export(tmp_path / "made.c", np.random.default_rng(1).random((5, 3)), lapack=True)
    header = (tmp_path / "made.h").read_text()
    assert " * No other length will do of a.shape[1], because\n" in header
    assert "qr: of fewer rows than columns is not supported" in header


@needs_gcc
def test_a_header_of_others_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "made.h").write_text("/* by hand */\n")
    with pytest.raises(ExportError, match="not written by an export"):
        st.compile(commented).export(tmp_path / "made.c", X)
    assert (tmp_path / "made.h").read_text() == "/* by hand */\n"
    assert not (tmp_path / "made.c").exists()


# --- names ---------------------------------------------------------------------------------------


def read(errno, NULL, M_PI, linux, virtual, size_t, x):
    return errno * NULL + M_PI - linux + virtual * size_t + np.sum(x)


@needs_gcc
@pytest.mark.parametrize("dialect", ["c99", "gnu99", "gnu17"])
def test_names_that_c_has_are_others(tmp_path: Path, dialect: str) -> None:
    st.compile(read).export(tmp_path / "made.c", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, X)
    (tmp_path / "user.c").write_text(
        '#include <errno.h>\n#include <math.h>\n#include <unistd.h>\n#include "made.h"\n'
    )
    command = f"gcc -std={dialect} -Wall -Wextra -Werror -c user.c made.c"
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "made.o"], cwd=tmp_path, capture_output=True, text=True)
    assert " T read_\n" in symbols.stdout


@needs_gcc
def test_two_files_of_one_function_are_linked(tmp_path: Path) -> None:
    gradient = st.value_and_grad(lambda x, k: np.sum(x[1:] ** k) * x[k], dynamic=False)
    for name, size in (("small", 3), ("large", 5)):
        gradient.export(tmp_path / f"{name}.c", np.ones(size), 2, name=f"{name}_loss")
    (tmp_path / "user.c").write_text(
        """#include "small.h"
#include "large.h"
#include <stdio.h>
int main(void) {
    const double x[5] = {1, 1, 1, 1, 1};
    double value, gradient[5];
    struct small_loss_workspace small;
    struct large_loss_workspace large;
    printf("%d ", small_loss(x, &value, gradient, &small));
    printf("%g ", value);
    printf("%d ", large_loss(x, &value, gradient, &large));
    printf("%g", value);
    return 0;
}
"""
    )
    program = built(tmp_path / "user.c", f"{tmp_path}/small.c {tmp_path}/large.c", ".out")
    assert ran(program).stdout == "0 2 0 4"


@pytest.mark.parametrize("name", ["read", "2d", "exp", "a b"])
def test_names_that_c_has_not(name: str, tmp_path: Path) -> None:
    with pytest.raises(st.ExportError, match="is no name for a function in C"):
        st.value_and_grad(commented).export(tmp_path / "made.c", X, name=name)


def test_a_file_of_python_has_one_name(tmp_path: Path) -> None:
    with pytest.raises(st.ExportError, match="Python imports a function under another name"):
        st.value_and_grad(commented).export(tmp_path / "made.py", X, name="small")


CPP = """
#include <complex>
#include <cstdio>
#include <cstdlib>
#include "made.h"
int main() {
    const double x[3] = {0.5, -1.5, 2.0};
    double value, gradient[3];
    struct commented_value_and_grad_workspace work;
    const int code = commented_value_and_grad(x, &value, gradient, &work);
    std::printf("%d %.17g %.17g", code, value, gradient[2]);
    return 0;
}
"""


@needs_gcc
def test_cpp_calls_it(tmp_path: Path) -> None:
    st.value_and_grad(commented).export(tmp_path / "made.c", X)
    (tmp_path / "user.cpp").write_text(CPP)
    subprocess.run(
        "gcc -c made.c -o made.o && g++ -Wall -Wextra -Werror -pedantic user.cpp made.o -o user",
        shell=True,
        cwd=tmp_path,
        check=True,
    )
    assert ran(tmp_path / "user").stdout == "0 26 16"


def of_complex(z, matrix):
    return np.sum(np.abs(z @ matrix) ** 2)


@needs_gcc
@pytest.mark.parametrize("dynamic", [False, True])
def test_cpp_reads_headers_of_complex_numbers_and_of_lengths(tmp_path: Path, dynamic: bool) -> None:
    z, matrix = np.array([1 + 2j, 3.0, 1j]), np.ones((3, 4)) * 2j
    st.value_and_grad(of_complex, dynamic=dynamic).export(tmp_path / "made.c", z, matrix)
    (tmp_path / "user.cpp").write_text('#include "made.h"\n')
    subprocess.run("g++ -Wall -Wextra -Werror -c user.cpp", shell=True, cwd=tmp_path, check=True)


# --- complex numbers -----------------------------------------------------------------------------

ROTATED = np.array([complex(-0.0, 1.0), complex(0.0, -np.inf), complex(np.nan, -0.0)])


def rotated(z, w):
    return np.log(z * w).imag, ROTATED * w.real


@needs_gcc
@pytest.mark.parametrize("dialect", ["c99", "c11"])
def test_infinite_and_negative_zero_parts_stay(tmp_path: Path, dialect: str) -> None:
    """C99 has no constant for them: ``0.0 + INFINITY * I`` has NaN as its real part."""
    st.compile(rotated).export(tmp_path / "made.c", complex(-0.0, 1.0), complex(0.0, 1.0))
    program = tmp_path / "made.out"
    command = f"gcc -std={dialect} -DSELF_TEST made.c -lm -o {program}"
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert ran(program).returncode == 0, ran(program).stdout


# --- the self-test -------------------------------------------------------------------------------


def loss(w, x):
    return np.mean((x @ w) ** 2)


@needs_gcc
def test_the_self_test_finds_nan(tmp_path: Path) -> None:
    st.value_and_grad(loss).export(tmp_path / "made.c", X, np.ones((4, 3)))
    text = (tmp_path / "made.c").read_text()
    wrong = text.replace("return work->error;\n}", "d_w[0] = NAN;\n    return work->error;\n}")
    (tmp_path / "made.c").write_text(wrong)
    assert ran(built(tmp_path / "made.c", "-DSELF_TEST", ".out")).returncode == 1


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_self_test_of_a_step_finds_that_nothing_was_trained(tmp_path: Path, dtype: Any) -> None:
    step = st.train_step(loss, st.optim.Adam(1e-3), level="fast")
    w, x = X.astype(dtype), np.random.default_rng(0).standard_normal((4, 3)).astype(dtype)
    step.export(tmp_path / "made.c", w, x)
    run_self_test(tmp_path / "made.c")
    lines = (tmp_path / "made.c").read_text().split("\n")
    (tmp_path / "made.c").write_text("\n".join(line for line in lines if "memcpy(w," not in line))
    assert ran(built(tmp_path / "made.c", "-DSELF_TEST", ".out")).returncode == 1


# --- errors --------------------------------------------------------------------------------------


def chosen(w, x, labels):
    scores = x @ w
    return np.mean(np.log(np.sum(np.exp(scores), axis=1)) - scores[np.arange(4), labels])


@needs_gcc
def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    w, x = np.ones((3, 5)), np.random.default_rng(0).standard_normal((4, 3))
    step = st.train_step(chosen, st.optim.SGD(0.1))
    step.export(tmp_path / "made.c", w.copy(), x, np.array([0, 4, 2, 1]))
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC", ".so")))
    double, integer = ctypes.c_double, ctypes.c_int64
    given = (double * 15)(*w.ravel()), (double * 12)(*x.ravel()), (integer * 4)(0, 7, 2, 1)
    code = library.chosen_step(*given, double(0.1), ctypes.byref(double()), (double * 999)())
    assert code > 0
    assert list(given[0]) == [1.0] * 15


def looked_up(x, table):
    return table[int(x * 2.0)] * x


@needs_gcc
def test_integers_of_nan_are_an_error(tmp_path: Path) -> None:
    table = np.arange(4.0)
    st.value_and_grad(looked_up).export(tmp_path / "made.c", 0.6, table)
    flags = "-fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all -shared -fPIC"
    library = ctypes.CDLL(str(built(tmp_path / "made.c", flags, ".so")))
    double = ctypes.c_double
    results = double(), double()
    for x, code in ((0.6, 0), (np.nan, 1), (1e30, 2), (-9.3e18, 2), (7.0, 3)):
        pointers = [ctypes.byref(one) for one in results]
        given = double(x), (double * 4)(*table), *pointers, (double * 99)()
        assert library.looked_up_value_and_grad(*given) == code


# --- what newcomers met --------------------------------------------------------------------------


class Scales(NamedTuple):
    w: np.ndarray
    b: float


def in_a_dict(m, x):
    return np.sum(x * m["b"])


def in_a_tuple(m, x):
    b = m[0]
    for i in range(60):
        b = 0.5 * b + x[i % 3] * m[1]
    return b


def in_a_named_tuple(m, x):
    return np.sum(m.w * x) * m.b


@needs_gcc
@pytest.mark.parametrize(
    ("function", "scales"),
    [(in_a_dict, {"b": 0.3}), (in_a_tuple, (0.3, 2.0)), (in_a_named_tuple, Scales(X, 0.3))],
)
def test_numbers_in_containers(function, scales: Any, tmp_path: Path) -> None:
    st.value_and_grad(function).export(tmp_path / "made.c", scales, X)
    run_self_test(tmp_path / "made.c")


@needs_gcc
@pytest.mark.parametrize(
    ("name", "argument"),
    [("f", one) for one in ("value_out", "result", "and_eq", "const_cast", "char16_t")]
    + [(one, "a") for one in ("code", "given_x", "found_result", "complex", "gamma", "signgam")],
)
@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_names_of_others(name: str, argument: str, tmp_path: Path) -> None:
    source = f"import numpy as np\ndef {name}({argument}, x):\n    return {argument} * np.sum(x)\n"
    (tmp_path / "model.py").write_text(source)
    function = runpy.run_path(str(tmp_path / "model.py"))[name]
    made = st.compile(function) if argument == "a" else st.value_and_grad(function, argument)
    made.export(tmp_path / "made.c", 2.0, X)
    run_self_test(tmp_path / "made.c")
    (tmp_path / "user.cpp").write_text('#include <cmath>\n#include "made.h"\n')
    command = "g++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only user.cpp"
    subprocess.run(command.split(), cwd=tmp_path, check=True)


def chosen_on_a_path(a, b):
    if a > 1.0:
        t = np.where(2 > 0, a, b)
    else:
        t = a * b
    return t * t


@needs_gcc
def test_a_workspace_that_was_never_cleared(tmp_path: Path) -> None:
    """A boolean that has no value on a path is not read from it: it would be neither of the two."""
    st.value_and_grad(chosen_on_a_path).export(tmp_path / "made.c", 2.0, 3.0, name="tried")
    (tmp_path / "user.c").write_text(
        '#include <string.h>\n#include "made.h"\nint main(void) {\n'
        "    struct tried_workspace work;\n    double value, d_a;\n"
        "    memset(&work, 90, sizeof work);\n"
        "    return tried(0.5, 3.0, &value, &d_a, &work) || value != 2.25 || d_a != 9.0;\n}\n"
    )
    command = "gcc -fsanitize=undefined -fno-sanitize-recover=all user.c made.c -o user -lm"
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    assert ran(tmp_path / "user").returncode == 0


@needs_gcc
def test_convolutions_have_named_lengths(tmp_path: Path) -> None:
    smooth = np.array([1.0, 2.0, 1.0])
    made = st.value_and_grad(lambda x: np.sum(np.convolve(x, smooth) ** 2), dynamic=True)
    made.export(tmp_path / "made.c", np.ones(9), name="smooth")
    assert "double d_x_out[restrict n]" in (tmp_path / "made.h").read_text()
    run_self_test(tmp_path / "made.c")
