"""Files of C: they compile without a warning, run under sanitizers, and their self-tests pass."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.fuzz.judge_native import COMPILER, SANITIZERS, STRICT

needs_gcc = pytest.mark.skipif(COMPILER is None, reason="there is no gcc")
RNG = np.random.default_rng(0)


def built(source: Path, options: str, made: str) -> Path:
    """Compile a file; its warnings are errors."""
    target = source.with_suffix(made)
    command = [str(COMPILER), *STRICT.split(), *options.split(), str(source), "-o", str(target)]
    found = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return target


def run_self_test(source: Path, options: str = "") -> str:
    """Run the self-test of a file under sanitizers."""
    program = built(source, f"-DSELF_TEST {SANITIZERS} {options}", ".out")
    found = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stderr == ""
    return found.stdout


# --- programs ------------------------------------------------------------------------------------


def network(p, x, y):
    h = np.zeros((x.shape[0], p["Wh"].shape[0]))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ p["Wx"] + h @ p["Wh"] + p["b"])
    return np.mean((h @ p["Wo"] - y) ** 2)


def filtered(q, zs, F, H):
    x, P, total = np.zeros(2), np.eye(2), 0.0
    for z in zs:
        x, P = F @ x, F @ P @ F.T + q * np.eye(2)
        S = H @ P @ H.T + np.eye(1)
        K = P @ H.T @ np.linalg.inv(S)
        e = z - H @ x
        x, P = x + K @ e, P - K @ H @ P
        total += np.sum(e**2)
    return total


def convolved(p, x, y):
    a = np.maximum(st.nn.conv2d(x, p["k"]), 0)
    a = st.nn.max_pool2d(a, 2)
    return st.nn.softmax_cross_entropy(a.reshape(len(x), -1) @ p["W"] + p["b"], y)


def branching(w, k):
    total = w[0]
    for i in range(40):
        if total > 5.0:
            total = total * w[1] / (1 + total)
        elif i % 3 < 2:
            total = total + w[k - 1] ** 2
    return total * w[-1]


def iterated(x, limit):
    count = 0
    while x * x < limit and count < 1000:
        x = x + 0.5 * x
        count += 1
    return x, count


def picked(w, k):
    return w[k] * w[1:][k - 1]


def waves(z, phases):
    total = np.zeros(3) + 0j
    for phase in phases:
        total = total * np.exp(1j * phase) + z / (1.0 + phase * z)
    return np.sum(np.abs(total) ** 2)


def relaxed(u, f):
    for _ in range(30):
        new = u.copy()
        new[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
        u = new
    return np.sum(u**2)


def swinging(u, k):
    """Three arrays that are carried in turn, one of them in some steps only."""
    before, seen = u.copy(), u * 0
    for t in range(30):
        after = 2 * u - before - k * np.sin(u) / 10
        if after[0] > 0.3:
            seen = seen + after * t
        before = u
        u = after
    return np.sum(u * before) + np.sum(seen**2)


def counted(x):
    return x @ np.arange(3.0) + np.sum(np.arange(2, 3)) + x[1:] @ np.arange(0.5, 1.5, 0.5)


def replaced(x, s):
    """An argument of a kernel whose name gets other arrays, into which is written."""
    total = s
    for k in range(20):
        x = x * 0.9
        if s > 0.1 * k:
            x[:-1] = x[1:] * total
        x[k % 5] = np.sin(x[k % 5])
        total = total + np.sum(x) * 0.01
    return total


def tangent(w, x, dw):
    return st.jvp(lambda w: np.sum(np.tanh(x @ w)), (w,), (dw,))


def pulled_back(w, x, d_y):
    y, pullback = st.vjp(lambda w, x: np.tanh(x @ w), w, x)
    return y, pullback(d_y)


PARAMS = {
    "Wx": RNG.normal(size=(3, 8)),
    "Wh": 0.3 * RNG.normal(size=(8, 8)),
    "b": np.zeros(8),
    "Wo": RNG.normal(size=(8, 2)),
}
SEQUENCES = (PARAMS, RNG.normal(size=(4, 6, 3)), RNG.normal(size=(4, 2)))
IMAGES = (
    {
        "k": RNG.normal(size=(2, 1, 3, 3)).astype(np.float32),
        "W": RNG.normal(size=(32, 4)).astype(np.float32),
        "b": np.zeros(4, np.float32),
    },
    RNG.normal(size=(3, 1, 10, 10)).astype(np.float32),
    np.array([1, 0, 3]),
)
MEASURED = (0.1, RNG.normal(size=(20, 1)), np.array([[1, 0.1], [0, 1.0]]), np.array([[1.0, 0]]))
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "network": (st.value_and_grad(network), SEQUENCES),
    "filter": (st.value_and_grad(filtered, wrt="q"), MEASURED),
    "images": (st.value_and_grad(convolved), IMAGES),
    "branches": (st.value_and_grad(branching, wrt="w"), (np.array([1.5, 2.0, 0.5]), 3)),
    "while": (st.compile(iterated), (0.01, 100.0)),
    "complex": (
        st.value_and_grad(waves, wrt="phases"),
        (np.array([1 + 1j, 0.5j, 2.0]), np.linspace(0.1, 0.9, 5)),
    ),
    "relaxation": (st.value_and_grad(relaxed, (0, 1)), (np.arange(30.0), np.ones(30))),
    "three in turn": (
        st.value_and_grad(swinging, (0, 1)),
        (np.linspace(0.3, -0.2, 30), np.linspace(0.1, 0.3, 30)),
    ),
    "arange": (st.value_and_grad(counted), (np.array([1.0, 2.0, 3.0]),)),
    "replaced": (st.value_and_grad(replaced, (0, 1)), (np.linspace(0.1, 0.9, 12), 0.7)),
    "jvp": (st.compile(tangent), (np.ones(3), np.ones((4, 3)), np.arange(3.0))),
    "pullback": (st.compile(pulled_back), (np.ones(3), np.ones((4, 3)), np.arange(4.0))),
    "step": (st.train_step(network, st.optim.SGD(0.1)), SEQUENCES),
    "Adam": (st.train_step(network, st.optim.Adam(0.01)), SEQUENCES),
    "booleans": (
        st.compile(lambda x: np.where(~(x > 0.5) & (x < 2) | (x == 3), x, -x)),
        (np.array([0.2, 0.5, 1.0, 3.0]),),
    ),
    "Jacobian": (st.jacobian(lambda x: np.sin(x) * x[0]), (np.arange(1.0, 5.0),)),
    "function": (
        st.compile(lambda x, y: {"sum": x + y, "rest": [x * 2, np.sum(y)]}),
        (X := np.ones(3), X),
    ),
    "strided": (st.grad(lambda x: np.sum(x[::2] * x.T[0, 0])), (np.ones((4, 3)).T,)),
}


@needs_gcc
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_self_test_passes(name: str, tmp_path: Path) -> None:
    function, args = PROGRAMS[name]
    function.export(tmp_path / "made.c", *args)
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")


@needs_gcc
def test_a_wrong_number_fails_the_self_test(tmp_path: Path) -> None:
    function, args = PROGRAMS["Jacobian"]
    source = tmp_path / "made.c"
    function.export(source, *args)
    text = source.read_text()
    assert "cos(" in text
    source.write_text(text.replace("cos(", "sin("))
    with pytest.raises(AssertionError, match="largest error"):
        run_self_test(source)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_allocated_and_the_text_is_the_same_again(name: str, tmp_path: Path) -> None:
    function, args = PROGRAMS[name]
    texts = []
    for own in ("made.c", "made.c"):
        function.export(tmp_path / own, *args)
        texts.append((tmp_path / own).read_text() + (tmp_path / "made.h").read_text())
    assert texts[0] == texts[1]
    assert "malloc" not in texts[0]
    lines = [line for line in texts[0].splitlines() if not line.strip().startswith("/*")]
    assert all(len(line) <= 100 for line in lines)


def test_what_a_loop_carries_is_exchanged_not_copied(tmp_path: Path) -> None:
    function, args = PROGRAMS["relaxation"]
    function.export(tmp_path / "made.c", *args)
    text = (tmp_path / "made.c").read_text().split("#ifdef SELF_TEST")[0]
    loops = [line for line in text.splitlines() if line.startswith(" " * 8)]
    assert not any("memcpy" in line for line in loops)
    assert sum("*held_" in line for line in loops) == 2  # forwards and backwards


def chosen(w, x, labels):
    """Its integers have two bytes, its floats four."""
    return st.nn.softmax_cross_entropy(x @ w, labels)


def turning(x, z):
    """Complex numbers of eight bytes, which lie at multiples of four."""
    y = np.cumsum(x) * np.cumsum(z * x)
    return np.sum(np.abs(y) ** 2)


def transformed(x, z):
    """Of an odd length, of which a part in the middle is empty: C has an element there."""
    return np.sum(np.fft.irfft(x[:6] * z[0], 11) ** 3)


@needs_gcc
@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("function", [chosen, turning, transformed])
def test_a_header_says_how_large_the_workspace_is(
    function: Any, columns: int, tmp_path: Path
) -> None:
    rows = 2 * columns + 1
    w, x = np.ones((2, columns), np.float32), np.ones((rows, 2), np.float32)
    args = (w, x, np.zeros(rows, np.int64)) if function is chosen else (x[:, 0], 1j * x[:, 1])
    st.grad(function).export(tmp_path / "made.c", *args)
    header = (tmp_path / "made.h").read_text()
    said = re.search(r"\bhas ([\d,]+) bytes", header.replace("\n *", ""))
    struct = re.search(r"struct \w+_workspace", header)
    assert said is not None and struct is not None
    main = '#include <stdio.h>\n#include "made.h"\n'
    main += f'int main(void) {{ printf("%zu", sizeof({struct[0]})); }}\n'
    (tmp_path / "main.c").write_text(main)
    made = built(tmp_path / "main.c", "", ".out")
    found = subprocess.run([made], capture_output=True, text=True, check=True)
    assert int(said[1].replace(",", "")) == int(found.stdout)


@needs_gcc
def test_an_index_out_of_range_is_a_code(tmp_path: Path) -> None:
    source = tmp_path / "picked.c"
    w = np.arange(1.0, 5.0)

    @st.differentiable(wrt="w")
    def at(w, data):
        k = int(data[0])
        return w[k] * w[1:][k - 1]

    at.export(source, w, np.array([2.0]))
    header = (tmp_path / "picked.h").read_text()
    assert "IndexError: index is out of bounds" in header
    assert "test_c.py:" in header
    library = ctypes.CDLL(str(built(source, "-O2 -fPIC -shared", ".so")))

    def call(k: float) -> tuple[int, float, Any]:
        value, gradient, work = np.zeros(1), np.zeros(4), np.zeros(4096)
        arrays = (w, np.array([k]), value, gradient, work)
        code = library.at_value_and_grad(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        return code, value[0], gradient

    for k in (2.0, -1.0, -2.0):  # negative ones count from the end of the part
        code, value, gradient = call(k)
        expected = at.value_and_grad(w, np.array([k]))
        assert code == 0
        assert value == expected[0]
        np.testing.assert_array_equal(gradient, expected[1])
    assert call(7.0)[0] != 0
    assert call(2.0)[0] == 0  # an error is not kept


def carried(x):
    z = x
    for _ in range(5):
        z = np.sin(z) * z
    return np.sum(z)


@pytest.mark.parametrize("derivative", [st.grad, st.value_and_grad])
def test_gradients_have_the_names_of_parameters(derivative: Any, tmp_path: Path) -> None:
    derivative(carried).export(tmp_path / "made.c", np.ones(3))
    header = (tmp_path / "made.h").read_text()
    assert "double d_x[restrict 3]" in header
    assert "d_z" not in header
    derivative(network, wrt=("p",)).export(tmp_path / "made.c", *SEQUENCES)
    header = (tmp_path / "made.h").read_text()
    assert all(f"double d_{name}[restrict" in header for name in PARAMS)


def test_numbers_of_an_optimiser_stand_in_its_own_order(tmp_path: Path) -> None:
    for optimizer in (st.optim.Momentum(0.1), st.optim.Adam(0.1, clip_norm=1.0)):
        st.train_step(network, optimizer).export(tmp_path / "made.c", *SEQUENCES)
        header = (tmp_path / "made.h").read_text().rpartition("#else")[2]
        own = [name for name in vars(optimizer) if re.search(rf"double {name}\b", header)]
        assert own[0] == "lr"
        assert own == re.findall(rf"double ({'|'.join(own)})\b", header)


def broadcast(x, y):
    if x[0] > 0:
        raise ValueError(f"{x.shape[0]} numbers, of which one is positive")
    return np.sum(x * y)


def test_errors_are_told_in_words(tmp_path: Path) -> None:
    x = -np.ones(4)
    for dynamic, number in ((False, "4"), (True, "n")):
        st.grad(broadcast, dynamic=dynamic).export(tmp_path / "made.c", x, x)
        header = (tmp_path / "made.h").read_text()
        assert f"ValueError: {number} numbers, of which one is positive" in header
    st.grad(lambda x, y: np.sum(x[np.argsort(y)] ** 2)).export(tmp_path / "made.c", x, x)
    header = (tmp_path / "made.h").read_text()
    assert "IndexError: index ... is out of bounds for axis 0 with size 4" in header


def test_a_part_whose_length_data_decide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(st.LanguageError, match="whose length only the run knows") as refused:
        st.grad(lambda x: np.prod(x), dynamic=True).export(tmp_path / "made.c", np.ones(5))
    assert "slice" not in str(refused.value)


def test_what_is_not_c_is_refused_at_the_line(tmp_path: Path) -> None:
    def spaced(x):
        gaps = np.spacing(x)
        return np.sum(x * gaps)

    with pytest.raises(st.LanguageError, match="`np.spacing` stays") as refused:
        st.grad(spaced).export(tmp_path / "made.c", np.array([3.0, 1.0, 2.0]))
    assert refused.value.location is not None
    assert refused.value.location.line in (spaced.__code__.co_firstlineno + k for k in (1, 2))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["i0", "spacing"])
def test_a_call_that_stays_numpys_is_no_c(name: str, tmp_path: Path) -> None:
    with pytest.raises(st.LanguageError, match=f"`np.{name}` stays a call of NumPy's, so that"):
        st.compile(lambda x: getattr(np, name)(x)).export(tmp_path / "made.c", np.ones(3))


def test_what_to_write_instead_is_c(tmp_path: Path) -> None:
    x = np.array([3.0, 1.0, 2.0])
    with pytest.raises(st.LanguageError) as refused:
        st.compile(lambda x: np.i0(x)).export(tmp_path / "made.c", x)
    assert "write a loop over the elements" in str(refused.value)
    with pytest.raises(st.LanguageError) as refused:
        st.compile(lambda z: np.log1p(z)).export(tmp_path / "made.c", x + 1j)
    assert "by real functions of `z.real` and `z.imag`" in str(refused.value)


def test_only_gradients_and_steps_are_exported_to_python(tmp_path: Path) -> None:
    with pytest.raises(st.ExportError, match="as C, not as Python"):
        st.compile(lambda x: x * 2).export(tmp_path / "made.py", np.ones(2))


@needs_gcc
@pytest.mark.parametrize("operation", [np.floor_divide, np.remainder])
def test_integers_by_zero_and_at_their_limits(operation: Any, tmp_path: Path) -> None:
    """NumPy gives 0 by 0, and integers wrap around."""
    a, b = np.array([7, -(2**63), 5, -7]), np.array([2, -1, 0, 2])
    with np.errstate(divide="ignore", over="ignore"):
        st.compile(lambda a, b: operation(a, b)).export(tmp_path / "made.c", a, b)
    assert "result: 0 of 4 differ" in run_self_test(tmp_path / "made.c")


@needs_gcc
@pytest.mark.parametrize("compiler", ["c", "numba"])
def test_functions_that_loops_are_compiled_of(compiler: Any, tmp_path: Path) -> None:
    """The compiler of the loops does not matter for the file."""
    gradient = st.value_and_grad(
        lambda x: np.sum(np.sin(x)), level="compiled", compiler=compiler, fastmath=True
    )
    gradient.export(tmp_path / "made.c", np.ones(3))
    run_self_test(tmp_path / "made.c")
