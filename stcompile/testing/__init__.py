"""Compare gradients and draw arguments in the tests of projects that use stcompile."""

from stcompile.testing.gradients import assert_gradients
from stcompile.testing.strategies import arguments

__all__ = ["arguments", "assert_gradients"]


def __dir__() -> list[str]:
    return sorted(__all__)
