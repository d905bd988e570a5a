"""stcompile: automatic differentiation of plain NumPy functions by source transformation.

Importing it loads the compiler as far as every program needs it. The other public names are loaded
when they are asked for (PEP 562).
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
    InternalError,
    LanguageError,
    NanError,
    SourceError,
    StcompileError,
    StcompileWarning,
    TypingError,
)
from stcompile.static import static
from stcompile.timings import timings

if TYPE_CHECKING:
    from stcompile import nn, optim
    from stcompile.complex_step import complex_step
    from stcompile.hooks import on_cotangent, stop_gradient
    from stcompile.products import hvp, jvp, vjp
    from stcompile.user_primitive import custom_rule, primitive

_LOADED_LATER = {  # public name -> its module
    "complex_step": "complex_step",
    "custom_rule": "user_primitive",
    "hvp": "products",
    "jvp": "products",
    "nn": "nn",
    "on_cotangent": "hooks",
    "optim": "optim",
    "primitive": "user_primitive",
    "stop_gradient": "hooks",
    "vjp": "products",
}

__all__ = [
    "ArgumentsError",
    "DataError",
    "DerivativeError",
    "Differentiable",
    "ExportError",
    "GradientCheckError",
    "InternalError",
    "LanguageError",
    "NanError",
    "SourceError",
    "StcompileError",
    "StcompileWarning",
    "TypingError",
    "checkpoint",
    "compile",
    "complex_step",
    "custom_rule",
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
    "primitive",
    "show",
    "static",
    "stop_gradient",
    "timings",
    "train_step",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("stcompile")
    if name not in _LOADED_LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_LOADED_LATER[name]}")
    value = getattr(module, name, module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package. Importing a module binds its name in the package: not over a public function of
    the same name, such as `jacobian`."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_function = name in __all__ and name not in ("nn", "optim")
        if not (is_function and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        """As other modules for cloudpickle, which knows their own class alone: by its name."""
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package
