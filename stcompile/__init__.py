"""stcompile: automatic differentiation of plain NumPy functions by source transformation."""

from typing import Any

from stcompile import nn, optim
from stcompile.api import (
    Differentiable,
    checkpoint,
    compile,
    differentiable,
    explain,
    grad,
    hessian,
    jacobian,
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
from stcompile.hooks import on_cotangent, stop_gradient
from stcompile.products import hvp, jvp, vjp

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
    "checkpoint",
    "compile",
    "differentiable",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "nn",
    "on_cotangent",
    "optim",
    "show",
    "stop_gradient",
    "train_step",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    """``__version__``, read when it is asked for: the reader of metadata is slow to import."""
    if name == "__version__":
        from importlib.metadata import version

        return version("stcompile")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
