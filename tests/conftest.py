"""Options and profiles that all tests share."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from stcompile.base import options

gc.set_threshold(2_000_000, 50, 100)  # compiling makes many objects and few cycles: 10 % faster

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


os.environ.setdefault("STCOMPILE_CACHE", "0")  # else tests of the compiler would not compile
os.environ.setdefault("STCOMPILE_VERIFY", "1")  # whatever a test compiles is verified as well


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


def pytest_configure(config: pytest.Config) -> None:
    level = config.getoption("--level")
    if level is not None:
        options.DEFAULT_LEVEL = level


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """True when golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))
