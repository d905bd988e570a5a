"""The loop suite: its programs are right, compiled and plain, and the run that measures them."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.benchmarks.loops import PROGRAMS, candidates, compilers, table
from examples.benchmarks.loops.command import main, wrong
from examples.benchmarks.loops.differences import Differences
from examples.benchmarks.loops.limits import Late, limited
from stcompile.base.errors import StcompileError
from tests.benchmarks.running import ROOT

SUITE = ROOT / "examples" / "benchmarks" / "loops"

# Programs that are refused, and why.
REFUSED: dict[str, str] = {}
# Programs that take a second or more to compile.
SLOW = {"kalman", "soft_dtw", "hand_tracking"}
# Sides of programs whose arrays would take more than 100 MB at a side of 2000.
LARGEST = {"heat_3d": 200, "horizontal_diffusion": 400, "convolve_pixels": 200}
# Programs of which somebody has written a gradient for Numba.
HAND_WRITTEN = ("gauss_seidel", "cholesky", "convolve_scalars", "convolve_pixels")


def failing(reasons: Mapping[str, str], name: str, *raised: type[BaseException]) -> Any:
    return pytest.mark.xfail(reason=reasons[name], strict=True, raises=raised)


def marked(name: str) -> Any:
    if name in REFUSED:
        return pytest.param(name, marks=failing(REFUSED, name, StcompileError))
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("name", [*map(marked, PROGRAMS)])
def test_value_and_derivative(name: str) -> None:
    program = PROGRAMS[name]
    arguments = program.arguments(program.small)
    plain = program.loss(*arguments.values())
    derivative = candidates.compiled_derivative(program, arguments, "fast")
    result = derivative(*arguments.values())
    if not program.jacobian:
        assert result[0] == pytest.approx(plain, rel=1e-10)
    _, parts = candidates.reader(program)(result)
    assert [part.shape for part in parts] == [
        (*np.shape(plain), *np.shape(arguments[name])) for name in program.wrt
    ]
    assert Differences.of(program, arguments).error(parts) < 1e-7


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_code_does_not_grow(name: str) -> None:
    """That of the function: the code of its adjoint has a loop for each loop."""
    program = PROGRAMS[name]
    larger = {side: n + 2 * (side in program.grows) for side, n in program.small.items()}
    sources = (
        str(candidates.compiled_value(program, "fast").source(*arguments.values()))
        for arguments in map(program.arguments, (program.small, larger))
    )
    one, other = (len(source.splitlines()) for source in sources)
    assert one == other


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_code_of_derivatives_is_as_long_for_a_hundred_times_the_size(name: str) -> None:
    """In statements: a longer number may break a line."""
    program = PROGRAMS[name]

    def statements(side: int) -> int:
        arguments = program.arguments(
            {k: side if k in program.grows else n for k, n in program.small.items()}
        )
        derivative = candidates.compiled_derivative(program, arguments, "readable")
        tree = ast.parse(str(derivative.source(*arguments.values())))
        return len(ast.unparse(tree).splitlines())

    assert statements(20) == statements(LARGEST.get(name, 2000))


def test_expected_failures_are_programs() -> None:
    assert REFUSED.keys() | SLOW | LARGEST.keys() <= PROGRAMS.keys()


def test_sizes_grow() -> None:
    for program in PROGRAMS.values():
        small, middle, large = program.small, program.middle, program.large
        assert small.keys() == middle.keys() == large.keys(), program.name
        assert all(small[side] <= middle[side] <= large[side] for side in small), program.name
        assert set(program.grows) <= small.keys(), program.name
        assert any(small[side] < middle[side] < large[side] for side in program.grows)
        assert program.grown() == {
            side: 4 * count if side in program.grows else count for side, count in small.items()
        }


def test_arguments_are_the_same_each_time_and_stay() -> None:
    for program in PROGRAMS.values():
        first, second = (program.arguments(program.small) for _ in range(2))
        program.loss(*first.values())
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name], err_msg=program.name)


def test_each_program_has_a_form_for_jax() -> None:
    """Seen in the text, as JAX need not be installed."""
    for program in PROGRAMS.values():
        text = (SUITE / "with_jax" / f"{program.family}.py").read_text(encoding="utf-8")
        names = set()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        assert program.name in names


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_form_for_jax_agrees(name: str) -> None:
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    program = PROGRAMS[name]
    arguments = program.arguments(program.small)
    evaluator = candidates.jax_derivative(program, arguments)
    assert evaluator is not None
    value, parts = evaluator.read(evaluator.call())
    if not program.jacobian:
        assert value == pytest.approx(program.loss(*arguments.values()), rel=1e-9)
    assert Differences.of(program, arguments).error(parts) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_the_gradient_written_by_hand_agrees(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    program = PROGRAMS[name]
    arguments = program.arguments(program.small)
    evaluator = candidates.written_by_hand(program, arguments)
    assert evaluator is not None
    value, parts = evaluator.read(evaluator.call())
    assert value == pytest.approx(program.loss(*arguments.values()), rel=1e-9)
    if name != "gauss_seidel":  # Numba takes 20 seconds for slices of four axes
        monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert candidates.numba_value(program, arguments).call() == pytest.approx(value, rel=1e-9)
    assert Differences.of(program, arguments).error(parts) < 1e-7


def test_a_wrong_derivative_is_far_from_differences() -> None:
    program = PROGRAMS["mvt"]
    arguments = program.arguments(program.small)
    differences = Differences.of(program, arguments)
    _, parts = program_derivative = candidates.compiled_derivative(program, arguments, "fast")(
        *arguments.values()
    )
    assert program_derivative[0] == pytest.approx(program.loss(*arguments.values()))
    assert differences.error(parts) < 1e-8
    assert differences.error([1.0005 * part for part in parts]) > 1e-4
    assert differences.error([*parts[:-1], parts[-1].T]) > 1e-2


def test_a_limit_ends_what_takes_too_long() -> None:
    def endless() -> None:
        while True:
            pass

    with pytest.raises(Late), limited(0.05):
        endless()
    with limited(0.05):
        reached = True
    assert reached


FACTS = {
    "program": "syrk",
    "numpy seconds": 0.002,
    "fast compile": 0.5,
    "fast value seconds": 0.004,
    "fast seconds": 0.01,
    "fast error": 3e-11,
    "lines S": 70,
    "lines L failed": "> 10 s",
    "jax failed": "jax is not installed",
    "counts S": [100, 350],
}


def test_the_table() -> None:
    chosen = table.columns(["fast"], counted=True, with_jax=True)
    headings, line = table.cells([FACTS], chosen)
    shown = dict(zip(headings, line, strict=True))
    assert shown["NumPy ms"] == "2"
    assert shown["× NumPy"] == "5"
    assert shown["× value"] == "2.5"
    assert (shown["lines S"], shown["lines M"], shown["lines L"]) == ("70", "–", "> 10 s")
    assert (shown["counts S"], shown["counts 4S"]) == ("3.5", "–")
    assert shown["error"] == "3e-11"
    assert list(table.notes([FACTS])) == [
        "syrk: lines L: > 10 s",
        "syrk: jax: jax is not installed",
    ]
    assert not wrong(FACTS)
    assert wrong(FACTS | {"fast value error": 1e-3})
    assert not wrong(FACTS | {"jax error": 1e-3})


def test_means() -> None:
    ahead = [{"program": name, "jax seconds": 8.0, "compiled seconds": 1.0} for name in "ab"]
    behind = {"program": "c", "jax seconds": 1.0, "compiled seconds": 2.0}
    unknown = {"program": "d", "compiled seconds": 2.0}
    assert list(table.means([*ahead, behind, unknown], {"a", "c"}, "compiled")) == [
        "compiled against jax.jit, 1 programs of numbers and parts: geometric mean 8",
        "compiled against jax.jit, 2 programs of whole arrays: geometric mean 2",
        "compiled behind jax.jit: c 0.5",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--programs", "syrk,syrrk"], "no program is called 'syrrk'; there are jacobi, "),
        (["--levels", "slow"], "no level is called 'slow'; there are "),
        (["--size", "XL"], "invalid choice: 'XL'"),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_run(tmp_path: Path) -> None:
    file, page = tmp_path / "facts.json", tmp_path / "page.md"
    command = [sys.executable, "-m", "examples.benchmarks.loops", "--size", "S", "--rounds", "1"]
    command += ["--programs", "garch,csr_product", "--levels", "fast", "--counts", "--no-jax"]
    done = subprocess.run(
        [*command, "--json", str(file), "--markdown", str(page)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    garch, csr = json.loads(file.read_text(encoding="utf-8"))
    assert garch["fast error"] < 1e-8
    assert garch["lines S"] == garch["lines M"] == garch["lines L"] > 10
    assert garch["fast seconds"] > 0
    value, both = garch["counts S"]
    assert 1 < both / value < 10
    assert csr["fast error"] < 1e-8
    assert "| garch |" in page.read_text(encoding="utf-8")


def test_the_command_that_compares_compilers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        compilers.main(["--help"])
    assert ended.value.code == 0 and "PROGRAM" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        compilers.main(["nothing"])
    assert "there is no program nothing" in capsys.readouterr().err
