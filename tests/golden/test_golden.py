"""Generated code, kept as files: what a user reads changes only on purpose.

A missing golden file fails; ``pytest --update-golden`` writes them anew.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.options import Options
from stcompile.optim import SGD, Adam
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.primal import Primal
from stcompile.transforms.pullback import Vjp
from stcompile.transforms.train_step import TrainStep
from tests.golden import loops, models

HERE = Path(__file__).parent
READABLE = Options("readable")
FAST = Options("fast", blas=True)
LOOPS = Options("compiled", blas=True)


def gradient(function: Any, wrt: Any = 0, options: Options = READABLE) -> Gradient:
    return Gradient(function, wrt, True, options)


def step(loss: Any, optimizer: Any = SGD(0.015), options: Options = READABLE) -> TrainStep:
    return TrainStep(loss, optimizer, 0, options)


GENERATED = {
    "worked_example": lambda: gradient(models.worked_example, ("x1", "x2")),
    "mlp": lambda: gradient(models.mlp, "layers"),
    "mlp_fast": lambda: gradient(models.mlp, "layers", FAST),
    "rnn": lambda: gradient(models.rnn, "params"),
    "rnn_step": lambda: step(models.rnn),
    "rnn_fast_step": lambda: step(models.rnn, options=FAST),
    "rnn_clipped_step": lambda: step(models.rnn, SGD(0.015, clip_value=1.0, clip_norm=5.0)),
    "rnn_adam_step": lambda: step(models.rnn, Adam()),
    "wave": lambda: gradient(models.wave),
    "logistic": lambda: gradient(models.logistic),
    "factors": lambda: gradient(models.factors, ("alphas", "means", "entries")),
    "factors_fast": lambda: gradient(models.factors, ("alphas", "means", "entries"), FAST),
    "directional": lambda: gradient(models.directional),
    "pixel_rnn_step": lambda: step(models.pixel_rnn),
    "square_root": lambda: gradient(models.square_root),
    "huber": lambda: gradient(models.huber, ("residuals", "delta")),
    "recursion": lambda: gradient(models.recursion, ("x", "decay")),
    "rnn_tangent": lambda: Primal(models.rnn_tangent, READABLE),
    "rnn_fast_tangent": lambda: Primal(models.rnn_tangent, FAST),
    "layer_by_columns": lambda: Jacobian(models.layer, "x", "forward", options=READABLE),
    "layer_by_rows": lambda: Jacobian(models.layer, "x", "reverse", options=READABLE),
    "layer_fast_by_rows": lambda: Jacobian(models.layer, "x", "reverse", options=FAST),
    "checkpointed": lambda: gradient(models.checkpointed, ("W", "b")),
    "autoencoder_step": lambda: step(models.autoencoder, SGD(0.02)),
    "autoencoder_fast_step": lambda: step(models.autoencoder, SGD(0.02), FAST),
}
ARGUMENTS = {**models.arguments(), **loops.arguments()}
if find_spec("scipy") is None:
    GENERATED = {name: make for name, make in GENERATED.items() if "fast" not in name}
else:
    from tests.golden import scipy_models

    ARGUMENTS = {**ARGUMENTS, **scipy_models.arguments()}
    GENERATED |= {
        "gaussian_process": lambda: gradient(scipy_models.gaussian_process),
        "mixture": lambda: gradient(scipy_models.mixture, "params"),
        "probit": lambda: gradient(scipy_models.probit),
        "probit_fast": lambda: gradient(scipy_models.probit, 0, FAST),
    }
if find_spec("scipy") is not None and find_spec("numba") is not None:
    GENERATED |= {
        "gauss_seidel_compiled": lambda: gradient(loops.gauss_seidel, ("u", "f"), LOOPS),
        "factorised_compiled": lambda: gradient(loops.factorised, options=LOOPS),
        "stencil_compiled": lambda: gradient(loops.stencil, options=LOOPS),
        "mixed_compiled": lambda: gradient(loops.mixed, ("w", "x"), LOOPS),
        "sparse_rows_compiled": lambda: gradient(loops.sparse_rows, ("values", "x"), LOOPS),
    }


def arguments_of(name: str) -> tuple:
    model = name
    kinds = ("_step", "_clipped", "_adam", "_by_columns", "_by_rows", "_tangent", "_fast")
    for suffix in (*kinds, "_compiled"):
        model = model.removesuffix(suffix)
    model += "_tangent" * ("_tangent" in name)
    return copy.deepcopy(ARGUMENTS[model])


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run as the plain Python that they are."""
    if find_spec("numba") is not None:
        monkeypatch.setattr(import_module("numba").config, "DISABLE_JIT", True)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_code(name: str, update_golden: bool) -> None:
    """Two compilations give equal bytes, those of the golden file; and the kept code needs NumPy
    only (and SciPy's BLAS where it says so), and gives what the compiled function gives."""
    compiled, again = GENERATED[name](), GENERATED[name]()
    source = compiled.source(*arguments_of(name))
    check(name, source, update_golden)
    assert source.encode() == again.source(*arguments_of(name)).encode()
    compare_with_file(name, compiled)


def check(name: str, source: str, update_golden: bool) -> None:
    """Compare generated code with a golden file, or write it."""
    path = HERE / "generated" / f"{name}.py"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    assert path.exists(), "no golden file: run pytest --update-golden and read what it writes"
    assert source == path.read_text(encoding="utf-8")


def compare_with_file(name: str, compiled: Any) -> None:
    namespace: dict = {}
    source = (HERE / "generated" / f"{name}.py").read_text(encoding="utf-8")
    exec(source, namespace)
    alone = namespace["workspace"]() if "workspace" in namespace else namespace[compiled.name]
    mine, theirs = arguments_of(name), arguments_of(name)
    state = {}
    if isinstance(compiled, TrainStep) and compiled.optimizer.slots:
        state = compiled.optimizer.state_for(theirs[0])
    results = compiled(*mine), alone(*theirs, **state)
    for one, other in zip(*map(_arrays, ((results[0], mine), (results[1], theirs))), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["mlp", "rnn"])
def test_for_other_arrays(name: str, update_golden: bool) -> None:
    """By the names of the standard, which arrays of any library may have."""
    pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    wrt = {"mlp": "layers", "rnn": "params"}[name]
    options = Options("readable", xp="array_api_strict")
    compiled = gradient(getattr(models, name), wrt, options)
    check(f"{name}_array_api", compiled.source(*arguments_of(name)), update_golden)


def test_a_pullback(update_golden: bool) -> None:
    """The two functions of a vjp: the values with what is kept, and the adjoint that reads it."""
    x, decay = arguments_of("recursion")
    compiled = Vjp(models.recursion, 2, options=READABLE)
    value, pullback = compiled(x, decay)
    sources = {
        "recursion_with_residuals": compiled.source(x, decay),
        "recursion_pullback": pullback.source,
    }
    namespace: dict = {}
    for name, source in sources.items():
        check(name, source, update_golden)
        exec(source, namespace)
    alone, kept = namespace["recursion_with_residuals"](x, decay)
    assert alone == value
    for d_value in (1.0, -0.5):
        results = pullback(d_value), namespace["recursion_pullback"](*kept, d_value)
        for one, other in zip(*map(_arrays, results), strict=True):
            np.testing.assert_array_equal(one, other)


def _arrays(value: object) -> list:
    if isinstance(value, dict):
        return [array for part in value.values() for array in _arrays(part)]
    if isinstance(value, tuple | list):
        return [array for part in value for array in _arrays(part)]
    return [value]


@pytest.mark.slow
def test_another_process_generates_the_same_code() -> None:
    """No hash order, address or random name leaks into generated code: it is that of the files,
    which processes with other hashes wrote and compare with."""
    script = (
        "from tests.golden.test_golden import GENERATED, arguments_of\n"
        "for name in GENERATED: print(GENERATED[name]().source(*arguments_of(name)))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=HERE.parents[1],
        env={"PYTHONHASHSEED": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    kept = [(HERE / "generated" / f"{name}.py").read_text(encoding="utf-8") for name in GENERATED]
    assert ran.stdout == "".join(f"{text}\n" for text in kept)
