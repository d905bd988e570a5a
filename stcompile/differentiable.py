"""``differentiable``: a plain function with its derivatives at hand."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, overload

from stcompile.base.boundary import public
from stcompile.base.generics import G, P, Q, R, S
from stcompile.base.options import Options
from stcompile.base.shown import Page, Shown, Source
from stcompile.calls.arguments import Wrt
from stcompile.calls.described import call_of, types_of
from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.travel import Travels
from stcompile.frontend.state.run import Run
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal

if TYPE_CHECKING:  # loaded when they are asked for
    from stcompile.reports.graph.model import Graph
    from stcompile.reports.memory import Memory
    from stcompile.views.cotangents import Contributions, Cotangents
    from stcompile.views.explain import Explanation
    from stcompile.views.trace import Trace
    from stcompile.wengert.ir import Program


class Differentiable(Travels, Shown, Generic[P, R, G]):
    """A plain function with its derivatives at hand.

    Calling it calls the user's function, untouched. ``grad`` and ``value_and_grad`` are functions
    of the same arguments; the other methods show the computations for the arguments given.
    """

    def __init__(
        self, function: Callable[P, R], wrt: Wrt = 0, options: Options | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.wrt = wrt
        self.options = options
        self._bound: dict[int, tuple[weakref.ref[Any], Differentiable[..., Any, Any]]] = {}
        self.primal: Primal[P, R] = Primal(function, options)
        self.grad: Gradient[P, G] = Gradient(function, wrt, False, options)
        self.value_and_grad: Gradient[P, tuple[R, G]] = Gradient(function, wrt, True, options)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        return self.function(*arguments, **keywords)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Differentiable[P, R, G]: ...
    @overload
    def __get__(
        self: Differentiable[Concatenate[S, Q], R, G], instance: S, owner: type | None = None
    ) -> Differentiable[Q, R, Any]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A decorated method is bound like any other."""
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is None or known[0]() is not instance:
            function = self.function.__get__(instance, owner)
            method: Differentiable[..., Any, Any] = Differentiable(function, self.wrt, self.options)
            self._bound[id(instance)] = known = weakref.ref(instance), method
        return known[1]

    def __str__(self) -> str:
        lines = [
            f"  {name} compiled for {types_of(form)}"
            for name, made in self._made.items()
            for form in made.compiled_forms
        ]
        return "\n".join([self._head, *lines]) if lines else f"{self._head}, not compiled yet"

    def html(self) -> str:
        """The function, and folded below it the code that it was compiled to."""
        from stcompile.base import html

        forms = [
            html.folded(f"{name} compiled for {types_of(form)}", html.code(form.source))
            for name, made in self._made.items()
            for form in made.compiled_forms
        ]
        shown = html.sentence(self._head) + html.code(self.grad.definition_text)
        return shown + ("".join(forms) or html.sentence("Not compiled yet."))

    @property
    def _made(self) -> dict[str, Dispatcher[P, Any]]:
        return {"primal": self.primal, "grad": self.grad, "value_and_grad": self.value_and_grad}

    @property
    def _head(self) -> str:
        call = call_of(self.function, self.grad.function_name)
        return f"{call}, differentiable by {self.grad.all_shown}, level {self.grad.options.level!r}"

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return run.call(self.function, arguments, keywords)

    @public
    def source(self, *arguments: P.args, **keywords: P.kwargs) -> Source:
        """The generated forward and adjoint function."""
        return self.value_and_grad.source(*arguments, **keywords)

    @public
    def compile(self, *arguments: P.args, **keywords: P.kwargs) -> Callable[..., Any]:
        """The generated forward and adjoint function alone, as `source` shows it; it checks
        nothing, as `Dispatcher.compile` says. ``f.primal.compile`` compiles the function itself.
        """
        return self.value_and_grad.compile(*arguments, **keywords)

    @public
    def compiled(self, *arguments: P.args, **keywords: P.kwargs) -> Any:
        """The function and its gradient, ``(value, gradient)``, as one function of Numba's, which
        other functions under ``@njit`` call. It is compiled at ``level="compiled"``, for the types
        and shapes of these arguments, as `Dispatcher.compiled` says.
        """
        return self._for_numba.compiled(*arguments, **keywords)

    @functools.cached_property
    def _for_numba(self) -> Gradient[P, tuple[R, G]]:
        if self.value_and_grad.options.level == "compiled":
            return self.value_and_grad
        chosen = replace(self.value_and_grad.options, level="compiled", memory=None, dynamic=None)
        return Gradient(self.function, self.wrt, True, chosen)

    @public
    def export(
        self,
        path: str | os.PathLike[str],
        *arguments: Any,
        name: str = "",
        lapack: bool = False,
        **keywords: Any,
    ) -> None:
        """Write the generated forward and adjoint function into a file of its own, as
        `Gradient.export` says."""
        self.value_and_grad.export(path, *arguments, name=name, lapack=lapack, **keywords)

    @public
    def memory(self, *arguments: P.args, **keywords: P.kwargs) -> Memory:
        """The memory of the generated forward and adjoint function; prints as a table."""
        return self.value_and_grad.memory(*arguments, **keywords)

    @public
    def wengert(self, *arguments: P.args, **keywords: P.kwargs) -> Program:
        """The Wengert list of the function, one line an operation when printed."""
        program: Program = self.primal.program(*arguments, **keywords)
        return program

    @public
    def graph(self, *arguments: Any, adjoint: bool = False, **keywords: Any) -> Graph:
        """The computation graph of that list, by levels of equations that do not depend on each
        other; with ``adjoint`` that of the generated forward and adjoint function.

        Prints as a table. A notebook draws it as SVG; ``graph.save("graph.svg")`` writes it, which
        takes igraph and matplotlib (the extra ``graph``).
        """
        drawn = self.value_and_grad if adjoint else self.primal
        return drawn.graph(*arguments, **keywords)

    @public
    def trace(self, *arguments: P.args, **keywords: P.kwargs) -> Trace:
        """The evaluation trace: every value and every adjoint, side by side when printed."""
        from stcompile.views.trace import trace_of

        return trace_of(self.value_and_grad, arguments, keywords)

    @public
    def explain(self, *arguments: P.args, **keywords: P.kwargs) -> Explanation:
        """Explain why gradients are zero at these arguments (`stcompile.views.explain`)."""
        from stcompile.views.explain import explanation_of

        return explanation_of(self.value_and_grad, arguments, keywords)

    @public
    def cotangents(self, *arguments: P.args, **keywords: P.kwargs) -> Cotangents:
        """The derivatives of the value by all named intermediate values of the program:
        ``loss.cotangents(params, x)["h"]``.

        A name that is assigned several times, as in a loop, has one array for all times, with a new
        first axis (a list, where the shapes differ), in the order of the assignments. ``"h:17"``
        are the assignments of line 17 alone. `KeyError` lists the names if there is no such name.
        They are the names of the Wengert list (`wengert`), and of the arguments.
        """
        from stcompile.views.cotangents import cotangents_of

        gradient = self.value_and_grad
        return cotangents_of(gradient.function, gradient, arguments, keywords)

    @public
    def contributions(self, *arguments: Any, of: str, **keywords: Any) -> Contributions:
        """The gradient by an array or number of the arguments, split by its uses: by the lines of
        the program that read it, and the steps of loops.

        ``of`` names it as the Wengert list does, ``"W"``, or as Python does, ``'params["W"]'``.
        """
        from stcompile.views.cotangents import contributions_of

        gradient = self.value_and_grad
        return contributions_of(gradient.function, gradient, arguments, keywords, of)

    @public
    def explore(
        self, *arguments: Any, path: str | os.PathLike[str] | None = None, **keywords: Any
    ) -> Page:
        """Write a page that shows the function, its program after each stage, the generated code,
        the graph, the values and the memory side by side; a browser opens it as a file, and a
        notebook shows it in a frame.

        ``path`` is the path of the file, the function's name with ``.html`` if it is not given; it
        is returned. `ExportError` if the file cannot be written, `MissingExtraError` if a library
        of the extra ``graph`` is not installed.
        """
        from stcompile.export.write import write_named
        from stcompile.views.explorer.page import page_of

        target = os.fspath(path) if path is not None else f"{self.primal.name}.html"
        page = page_of(self.function, arguments, keywords, self.wrt, self.options)
        write_named(target, page)
        return Page(target)

    @public
    def check_grads(self, *arguments: P.args, **keywords: P.kwargs) -> None:
        """Compare the gradient with finite differences; `GradientCheckError` names the worst
        entry."""
        from stcompile.transforms.check import check_gradients

        check_gradients(self.value_and_grad, arguments, keywords)
