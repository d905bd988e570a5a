"""`stcompile doctor`: what it says of a machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.choosing import Choice
from stcompile.base.extras import MissingExtraError
from stcompile.base.limits import Limits
from stcompile.calls import c_compiler
from stcompile.calls.cache_folder import SWITCH
from stcompile_programs.measuring import doctor, measures
from stcompile_programs.train import sources
from tests.base.test_limits import Library
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "SECONDS", 0.002)
    monkeypatch.setattr(measures, "LARGE", 128)
    monkeypatch.setattr(measures, "STREAMED", 100_000)


def test_report_and_json_have_the_same(run: Run) -> None:
    text = run("doctor")
    report = json.loads(run("doctor", "--json").out)
    assert text.code == 0
    assert [line for line in text.out.splitlines() if line and line[0] != " "][:-1] == list(
        doctor.SECTIONS
    )
    assert list(report) == [*doctor.SECTIONS, "advice"]
    assert report["Versions"]["numpy"] == np.__version__
    for name, value in report["Speed"].items():
        number = value.split()[0]
        assert float(number) >= 0, (name, value)
        assert name in text.out
    assert float(report["Calls"]["calling it"].split()[0]) > 0.2


def advice(section: Callable[[], Any]) -> list[str]:
    return [finding.advice for finding in section() if finding.advice]


def test_what_to_do_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {(measures.LARGE, "float32"): 90.0, (measures.LARGE, "float64"): 40.0}
    monkeypatch.setattr(doctor, "blas_threads", lambda: 4)
    monkeypatch.setattr(
        measures,
        "products",
        lambda side, dtype, threads: rates.get((side, dtype), 5.0 if threads == 1 else 2.0),
    )
    monkeypatch.setattr(measures, "elements", lambda ufunc, dtype: 20.0)
    small = Choice(1, 100, {1: 0.1e-3, 2: 4e-3, 4: 9e-3})
    monkeypatch.setattr(measures, "small_products", lambda: small)
    monkeypatch.setattr(doctor, "_variable", lambda: "OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(doctor, "processors_of_process", lambda: 2)
    found = advice(doctor.speed)
    assert [sentence[:40] for sentence in found] == [
        "Products of float32 are 2.2 times as fas",
        "4 threads make large products only 1.0 t",
        "Set OPENBLAS_NUM_THREADS=1 for models of",
        "NumPy takes 20 ns for a tanh: it has no ",
    ]
    assert found[2] == (
        "Set OPENBLAS_NUM_THREADS=1 for models of small products, or let calls choose "
        '(threads="auto"): with one thread a product of 100 x 196 by 196 x 64 takes 0.1 ms, '
        "with 2 threads 4 ms, with 4 threads 9 ms on the average."
    )
    small = Choice(4, 100, {1: 9e-3, 4: 4e-3})
    assert not any("Set OPENBLAS" in sentence for sentence in advice(doctor.speed))
    assert advice(doctor.blas)[0].startswith("BLAS has 4 threads on 2 processors")
    monkeypatch.setattr(doctor, "blas_threads", lambda: 1)
    assert any(
        "BLAS has one thread on 2 processors" in sentence for sentence in advice(doctor.speed)
    )


def test_a_missing_library_is_advice_where_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("scipy", "jax"):
            raise doctor.importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    assert [sentence[:13] for sentence in advice(doctor.versions)] == ["Install SciPy"]


def test_the_compiler_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    found = {finding.name: finding for finding in doctor.c_compiler()}
    assert found["command"].value == "/bin/false"
    assert found["works"].value == "no"
    assert "/bin/false compiles no C" in found["works"].advice
    monkeypatch.delenv("CC")
    monkeypatch.setattr(c_compiler, "NAMES", ("nowhere-cc",))
    monkeypatch.setattr(c_compiler, "find_spec", lambda name: None)
    assert [(f.name, f.value, f.advice) for f in doctor.c_compiler()] == [("works", "no", "")]


def test_a_cache_that_is_not_used_is_advice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert advice(doctor.caches)[0].startswith("Compiled functions are not kept")
    monkeypatch.setenv(SWITCH, str(tmp_path / "cache"))
    assert advice(doctor.caches) == []
    with measures.without_cache():
        assert os.environ[SWITCH] == "0"
    assert os.environ[SWITCH] == str(tmp_path / "cache")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setenv(SWITCH, str(tmp_path / "shared"))
    assert advice(doctor.caches)[0].startswith("Compiled functions cannot be kept")


def test_what_cannot_be_told_does_not_hide_the_rest(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def missing(name: str) -> Path:
        raise MissingExtraError("training needs pooch", hint="install it")

    def broken() -> float:
        raise OSError("no clock")

    monkeypatch.delenv(sources.ENVIRONMENT, raising=False)
    monkeypatch.setattr(sources, "cache_folder", missing)
    monkeypatch.setattr(measures, "bandwidth", broken)
    shown = run("doctor")
    assert shown.code == 0
    assert "none: the extra train is not installed" in shown.out
    assert "not told" in shown.out and "OSError: no clock" in shown.out
    assert "calling it" in shown.out


def test_measures_are_plausible() -> None:
    assert measures.products(32, "float64", 1) > 0.01
    assert 0.001 < measures.elements(np.sqrt, "float32") < 1000
    assert 0.01 < measures.bandwidth() < 10_000
    first, whole, alone = measures.compiled_call()
    assert first * 1e3 > whole > 0
    assert alone < 10 * whole


def test_medians_and_means() -> None:
    """One of twenty calls waits."""
    now, calls = 0.0, 0

    def function() -> None:
        nonlocal now, calls
        calls += 1
        now += 16e-3 if calls % 20 == 0 else 0.5e-3

    found = measures.times(function, 5.0, clock=lambda: now)
    assert found.median == pytest.approx(0.5e-3)
    assert found.mean == pytest.approx((19 * 0.5e-3 + 16e-3) / 20, rel=0.02)


def test_short_calls_are_timed_together() -> None:
    now, readings = 0.0, 0

    def function() -> None:
        nonlocal now
        now += 1e-6

    def clock() -> float:
        nonlocal readings
        readings += 1
        return now

    found = measures.times(function, 1e-2, clock=clock)
    assert found.mean == pytest.approx(1e-6)
    assert readings < 400  # of 10 000 calls


def test_the_threads_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library("numpy", 2)
    limits = Limits(lambda: [library])
    monkeypatch.setattr(measures, "limits", lambda: limits)
    monkeypatch.setattr(measures, "candidates", lambda: (1, 2))
    now = 0.0

    def function() -> None:
        nonlocal now
        now += 1e-3 if library.number == 1 else 0.6e-3

    choice = measures.best_threads(function, clock=lambda: now)
    assert choice is not None and choice.number == 2
    assert library.number == 2 and now < 1
    monkeypatch.setattr(measures, "candidates", lambda: (1,))
    assert measures.best_threads(function, clock=lambda: now) is None
