"""stcompile: automatic differentiation of plain NumPy functions by source transformation."""

from importlib.metadata import version

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

__version__ = version("stcompile")

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
