"""``hessian`` and ``hvp``: second derivatives, forward over reverse.

The gradient in reverse mode is a function like any other; its tangent is the product of the Hessian
with a vector, at a small multiple of the cost of the gradient (Pearlmutter, "Fast exact
multiplication by the Hessian", 1994; Griewank & Walther 2008, ch. 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from stcompile.base.generics import P, R
from stcompile.base.options import Options
from stcompile.calls.arguments import Wrt
from stcompile.calls.travel import Travels
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import function_name
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import Jacobian, Mode
from stcompile.transforms.pushforward import Pushforward, Staged


class Hessian(Jacobian[P, R]):
    """The Jacobian of the gradient, of which a slope may be constant."""

    takes_constants = True

    def __init__(
        self,
        function: Callable[..., Any],
        wrt: Wrt,
        mode: Mode,
        has_aux: bool,
        options: Options,
        holomorphic: bool = False,
    ) -> None:
        gradient: Any = Gradient(function, wrt, False, options, has_aux=has_aux)
        if holomorphic:
            gradient = Jacobian(function, wrt, "reverse", has_aux, options, holomorphic=True)
        super().__init__(gradient, wrt, mode, has_aux, options, holomorphic)
        name = function_name(function)
        self.name = f"{name}_hessian"
        self.title = f"The Hessian of `{name}` with respect to {self.all_shown}."

    def refuse_complex(self, run: Run) -> NoReturn:
        self.refuse_result(
            run,
            "the Hessian of a real function by complex numbers is no matrix of complex numbers",
            "differentiate by the real and imaginary parts, as two arguments; of a holomorphic "
            "function, return its complex value and say holomorphic=True",
        )


class HessianVectorProduct(Travels, Staged):
    """The function of primals, then tangents, that returns the product of the Hessian with the
    tangents: for a single primal in its structure, for several a tuple."""

    takes_apart = True  # objects among its arguments

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self.function = function
        self.count = count
        wrt: Wrt = 0 if count == 1 else tuple(range(count))
        self.pushforward = Pushforward(Gradient(function, wrt, False), count)
        self.__name__ = f"{function_name(function)}_hvp"
        self.__signature__ = self.pushforward.__signature__

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        _, product = self.pushforward.stage_call(run, arguments, keywords)
        return product
