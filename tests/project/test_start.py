"""What `import stcompile` and a first gradient load. Counts do not vary from run to run."""

from __future__ import annotations

import dis
import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import stcompile as st
from stcompile.frontend.callables import LIBRARIES
from stcompile.frontend.functions import FUNCTIONS, STATIC

# Of code of Python 3.11 to 3.13; instructions of later versions take a quarter more.
BYTES = 680_000 if sys.version_info < (3, 14) else 875_000
SPACES = ("interop", "nn", "optim", "optimize", "testing")
PROGRAM = """
import json, sys
import numpy
before = set(sys.modules)
import stcompile as st
{code}
print(json.dumps(sorted(set(sys.modules) - before)))
"""
SQUARE = """
import tempfile, importlib.util, os
path = os.path.join(tempfile.mkdtemp(), "square.py")
with open(path, "w") as file:
    file.write("def square(x): return x * x")
spec = importlib.util.spec_from_file_location("square", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
before = set(sys.modules)
assert st.grad(module.square)(3.0) == 6.0
"""


def loaded(code: str = "") -> list[str]:
    """The modules that a program loads beside NumPy."""
    text = PROGRAM.format(code=code)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(ran.stdout)
    return found


def size_of_code(code: types.CodeType) -> int:
    """Bytes of the instructions of code and of the functions in it. Inline caches do not count,
    since their sizes depend on the version of Python, nor do the NOPs in place of docstrings."""
    left_out = {dis.opmap["CACHE"], dis.opmap["NOP"]}
    own = 2 * sum(operation not in left_out for operation in code.co_code[::2])
    return own + sum(size_of_code(c) for c in code.co_consts if isinstance(c, types.CodeType))


def size_of_module(name: str) -> int:
    """Bytes of the compiled code of a module, without docstrings."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    return size_of_code(compile(text, spec.origin, "exec", dont_inherit=True, optimize=2))


def test_docstrings_and_comments_do_not_count() -> None:
    plain = "def double(x):\n    return 2 * x\n"
    told = plain.replace(":\n", ':\n    """Twice a number."""  # a comment\n\n')
    sizes = [size_of_code(compile(text, "", "exec", optimize=2)) for text in (plain, told)]
    assert sizes[0] == sizes[1] > 10
    assert size_of_code(compile(2 * plain, "", "exec", optimize=2)) > sizes[0]


def test_importing_loads_what_every_program_needs() -> None:
    modules = loaded()
    own = [name for name in modules if name.startswith("stcompile")]
    assert BYTES / 2 < sum(map(size_of_module, own)) < BYTES
    later = (
        "nn",
        "interop",
        "optim",
        "train",
        "reports.graph",
        "export",
        "library",
        "views",
        "frontend.functions",
        "passes.kernels",
    )
    for name in later:
        assert not [m for m in own if f"{m}.".startswith(f"stcompile.{name}.")], name
    foreign = {name.partition(".")[0] for name in modules}
    assert not foreign & {
        "scipy",
        "importlib_metadata",
        "email",
        "matplotlib",
        "tempfile",
        "pygments",
    }
    assert not foreign & {"IPython", "argparse", "html", "typing_extensions"}
    assert "numpy.random" not in modules


def test_a_first_gradient_loads_next_to_nothing() -> None:
    own = [name for name in loaded(SQUARE) if name.startswith("stcompile")]
    assert len(own) <= 2, own  # the generated code is a module of its own


def test_every_public_name_is_found_in_a_new_process() -> None:
    """Also after Python has bound modules, of which some are called like functions."""
    modules = ("transforms.jacobian", "views.explain", "views.show", "transforms.complex_step")
    loads = "\n".join(f"import stcompile.{name}" for name in modules)
    names = [name for name in st.__all__ if name not in SPACES]
    checks = f"for name in {names!r}: assert callable(getattr(st, name)) and name in dir(st), name"
    assert "stcompile.nn" in loaded(f"{loads}\n{checks}\nst.nn.softmax, st.optim.SGD")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'gradient_of'"):
        st.gradient_of  # type: ignore[attr-defined]


def test_a_misspelt_name_is_suggested_once() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import stcompile as st\nst.gard"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "has no attribute 'gard'. Did you mean: 'grad'?\n" in ran.stderr
    assert ran.stderr.count("Did you mean") == 1


@pytest.mark.parametrize(
    "module", [st, *(getattr(st, name) for name in SPACES)], ids=lambda m: m.__name__
)
def test_dir_lists_what_is_public(module: Any) -> None:
    beside = {"__version__"} if module is st else set()
    assert set(dir(module)) == {*module.__all__, *beside}


def test_functions_of_the_tables_are_of_known_libraries() -> None:
    """Other Python functions are the user's, and are not looked up."""
    tables: list[Any] = [*FUNCTIONS, *STATIC]
    python = [f for f in tables if isinstance(f, types.FunctionType)]
    assert len(python) > 100
    assert [f for f in python if not f.__module__.startswith(LIBRARIES)] == []
