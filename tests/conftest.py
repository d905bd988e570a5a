"""Options and profiles that all tests share."""

from __future__ import annotations

import compileall
import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

import stcompile
import stcompile_programs
from stcompile import codegen_templates
from stcompile.base import options
from tests.parts import first_part, of_turn

gc.set_threshold(
    10_000_000, 50, 100
)  # compiling makes many objects and few cycles: a tenth of the time

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=6,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=4)
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# Tests change modules within a second, which Python does not see where it keeps them compiled. What
# they do not change is compiled once, the tests themselves included: each process that they start
# would take most of a second, and collecting them a third longer.
sys.dont_write_bytecode = False
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
if "PYTEST_XDIST_WORKER" not in os.environ:
    for package in (stcompile, codegen_templates, stcompile_programs):
        compileall.compile_dir(package.__path__[0], quiet=2)
os.environ.setdefault("STCOMPILE_CACHE", "0")  # else tests of the compiler would not compile
os.environ.setdefault("STCOMPILE_VERIFY", "1")  # whatever a test compiles is verified as well

# They import the packages that they judge.
collect_ignore_glob = ["science/installed/of_*.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them",
    )

    parser.addoption(
        "--level",
        choices=("fast", "readable"),
        help="the level that functions are compiled at where a test does not say it",
    )

    parser.addoption(
        "--cases",
        choices=("part", "rest", "all"),
        help="which cases of tests with many parameters are run, and whether slow tests are: a part"
        " where pytest is called for the whole project, else all",
    )


def pytest_configure(config: pytest.Config) -> None:
    level = config.getoption("--level")
    if level is not None:
        options.DEFAULT_LEVEL = level
    if config.option.cases is None:  # the workers of pytest-xdist get what is decided here
        whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        chosen = ("keyword", "markexpr", "lf", "failedfirst", "update_golden")
        narrowed = any(config.getoption(name, None) for name in chosen)
        config.option.cases = "part" if whole and not narrowed else "all"


def pytest_report_header(config: pytest.Config) -> str:
    more = {
        "part": "; --cases all runs all of them",
        "rest": "; those that the plain command leaves",
    }
    return f"cases: {config.option.cases}{more.get(config.option.cases, '')}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.cases == "all":
        return
    first = first_part(items)
    is_first = config.option.cases == "part"
    chosen = {item.nodeid for item in items if (item.nodeid in first) == is_first}
    turn = os.environ.get("STCOMPILE_TURN", "")
    if turn and not is_first:
        chosen = of_turn([item for item in items if item.nodeid in chosen], int(turn))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = True
    gc.freeze()  # no collection looks at the tests themselves again


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """True when golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))
