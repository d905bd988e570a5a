"""stcompile: automatic differentiation of plain NumPy functions by source transformation."""

from typing import Any

from stcompile import nn, optim
from stcompile.api import (
    Differentiable,
    differentiable,
    explain,
    grad,
    show,
    train_step,
    value_and_grad,
)
from stcompile.errors import (
    ArgumentsError,
    DataError,
    DerivativeError,
    ExportError,
    GradientCheckError,
    LanguageError,
    NanError,
    SourceError,
    StcompileError,
    StcompileWarning,
    TypingError,
)

__all__ = [
    "ArgumentsError",
    "DataError",
    "DerivativeError",
    "Differentiable",
    "ExportError",
    "GradientCheckError",
    "LanguageError",
    "NanError",
    "SourceError",
    "StcompileError",
    "StcompileWarning",
    "TypingError",
    "differentiable",
    "explain",
    "grad",
    "nn",
    "optim",
    "show",
    "train_step",
    "value_and_grad",
]


def __getattr__(name: str) -> Any:
    """``__version__``, read when it is asked for: the reader of metadata is slow to import."""
    if name == "__version__":
        from importlib.metadata import version

        return version("stcompile")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
