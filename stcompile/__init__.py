"""stcompile: automatic differentiation of plain NumPy functions by source transformation.

Importing it loads the compiler as far as every program needs it. The other public names are loaded
when they are asked for (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stcompile.api import (
    checkpoint,
    compile,
    differentiable,
    explain,
    grad,
    hessian,
    jacobian,
    show,
    sparse_hessian,
    sparse_jacobian,
    train_step,
    value_and_grad,
    vmap,
)
from stcompile.base.errors import (
    ArgumentsError,
    DataError,
    DerivativeError,
    ExportError,
    GradientCheckError,
    InternalError,
    LanguageError,
    LevelWarning,
    NanError,
    PrecisionWarning,
    RecompilationWarning,
    SourceError,
    StcompileError,
    StcompileWarning,
    TypingError,
    UnrolledWarning,
)
from stcompile.base.static import static
from stcompile.base.structures import register_structure
from stcompile.base.timings import Compilation, on_compile, timings
from stcompile.differentiable import Differentiable

if TYPE_CHECKING:
    __version__: str
    from stcompile import interop, nn, optim, testing
    from stcompile.calls.breakpoints import break_in_adjoint
    from stcompile.calls.cache import CacheState, cache_state, clear_cache
    from stcompile.interop import optimize
    from stcompile.transforms.complex_step import complex_step
    from stcompile.transforms.hooks import on_cotangent, stop_gradient
    from stcompile.transforms.implicit import fixed_point, root
    from stcompile.transforms.initial_value import solve_ivp
    from stcompile.transforms.products import hvp, jvp, linearize, vjp
    from stcompile.transforms.user_primitive import custom_rule, primitive

_LOADED_LATER = {  # public name -> its module
    "CacheState": "calls.cache",
    "break_in_adjoint": "calls.breakpoints",
    "cache_state": "calls.cache",
    "clear_cache": "calls.cache",
    "complex_step": "transforms.complex_step",
    "custom_rule": "transforms.user_primitive",
    "fixed_point": "transforms.implicit",
    "hvp": "transforms.products",
    "interop": "interop",
    "jvp": "transforms.products",
    "linearize": "transforms.products",
    "nn": "nn",
    "on_cotangent": "transforms.hooks",
    "optim": "optim",
    "optimize": "interop.optimize",
    "primitive": "transforms.user_primitive",
    "root": "transforms.implicit",
    "solve_ivp": "transforms.initial_value",
    "stop_gradient": "transforms.hooks",
    "testing": "testing",
    "vjp": "transforms.products",
}

__all__ = [
    "ArgumentsError",
    "CacheState",
    "Compilation",
    "DataError",
    "DerivativeError",
    "Differentiable",
    "ExportError",
    "GradientCheckError",
    "InternalError",
    "LanguageError",
    "LevelWarning",
    "NanError",
    "PrecisionWarning",
    "RecompilationWarning",
    "SourceError",
    "StcompileError",
    "StcompileWarning",
    "TypingError",
    "UnrolledWarning",
    "break_in_adjoint",
    "cache_state",
    "checkpoint",
    "clear_cache",
    "compile",
    "complex_step",
    "custom_rule",
    "differentiable",
    "explain",
    "fixed_point",
    "grad",
    "hessian",
    "hvp",
    "interop",
    "jacobian",
    "jvp",
    "linearize",
    "nn",
    "on_compile",
    "on_cotangent",
    "optim",
    "optimize",
    "primitive",
    "register_structure",
    "root",
    "show",
    "solve_ivp",
    "sparse_hessian",
    "sparse_jacobian",
    "static",
    "stop_gradient",
    "testing",
    "timings",
    "train_step",
    "value_and_grad",
    "vjp",
    "vmap",
]


if not TYPE_CHECKING:  # else type checkers would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("stcompile")
        if name not in _LOADED_LATER:
            from difflib import get_close_matches

            near = get_close_matches(name, __all__, n=1)
            meant = f". Did you mean: {near[0]!r}?" if near else ""
            # With the name alone: given the module as well, Python would add what it finds.
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}", name=name)
        module = import_module(f"{__name__}.{_LOADED_LATER[name]}")
        value = getattr(module, name, module)
        globals()[name] = value
        return value


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic ``%%gradient``; IPython calls this function for ``%load_ext
    stcompile``."""
    from stcompile.notebook import load

    load(shell)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
