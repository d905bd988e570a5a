"""Compiled functions that can be looked into: their source, program, graph and memory."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError, ExportError
from stcompile.base.generics import P
from stcompile.base.shown import Shown, Source
from stcompile.calls.arguments import Arguments, is_apart
from stcompile.calls.compiler import Compiler
from stcompile.calls.described import call_of, types_of
from stcompile.calls.specialisation import Specialisation, with_threads
from stcompile.calls.workspaces import Workspaces

if TYPE_CHECKING:  # imported where they are used
    from stcompile.reports.graph.model import Graph
    from stcompile.reports.memory import Memory
    from stcompile.reports.snapshots import Snapshots


class Inspected(Compiler, Shown, Generic[P]):
    """A function whose compiled forms can be looked into. ``recorded`` is the name of its program
    before any pass."""

    recorded: str = "reverse"

    @abstractmethod
    def specialise(self, arguments: Arguments, with_program: bool = True) -> Specialisation:
        """The compiled function for the given arguments, with its program unless ``with_program``
        is False."""

    @property
    @abstractmethod
    def compiled_forms(self) -> Sequence[Specialisation]:
        """The specialisations that have been compiled, in order."""

    def __str__(self) -> str:
        forms = [f"  compiled for {types_of(form)}" for form in self.compiled_forms]
        head = f"{call_of(self, self.name)}: {self.title}"
        return "\n".join([head, *forms]) if forms else f"{head} Not compiled yet."

    def html(self) -> str:
        from stcompile.base import html

        forms = [
            html.folded(f"compiled for {types_of(form)}", html.code(form.source))
            for form in self.compiled_forms
        ]
        head = html.code(call_of(self, self.name)) + html.sentence(self.title)
        return head + ("".join(forms) or html.sentence("Not compiled yet."))

    @public
    def compile(self, *arguments: P.args, **keywords: P.kwargs) -> Callable[..., Any]:
        """The generated function for the given arguments, alone.

        It takes arguments as its `source` shows (captured arrays by keyword) and checks nothing:
        with arguments of other types, shapes or memory orders, or after a captured value has
        changed, its results are wrong; a training step may be given parameters that overlap. A
        function that works in buffers of its own is for one call at a time: compile one for each
        thread.
        """
        bound = self.bind(arguments, keywords)
        function = self.specialise(bound, False).function
        if isinstance(function, Workspaces):
            function = function.for_call([*bound.values.values()]).factory()
        return with_threads(function, self.options.threads, self.name)

    @public
    def compiled(self, *arguments: P.args, **keywords: P.kwargs) -> Any:
        """The generated function as a function of Numba's, which other functions under ``@njit``
        call. It needs ``level="compiled"``.

        It is for the types of the given arguments, and raises `ValueError` for other shapes and
        static values. `LanguageError` if calls of NumPy are left that Numba cannot compile.
        """
        from stcompile.calls.for_numba import for_numba

        if self.options.level != "compiled":
            raise ArgumentsError("a function for Numba needs level='compiled'")
        bound = self.bind(arguments, keywords)
        if is_apart(bound.values):
            raise ArgumentsError(
                "Numba takes no objects of ordinary classes",
                hint="differentiate by the arrays: a function of them, or of a namedtuple",
            )
        inner = replace(self.options, inner=True, parallel=False)
        return for_numba(self.specialised(self.stage(bound), bound, inner), bound)

    @public
    def export(
        self,
        path: str | os.PathLike[str],
        *arguments: Any,
        name: str = "",
        lapack: bool = False,
        **keywords: Any,
    ) -> None:
        """Write the generated function for the given arguments into a file of its own: of Python,
        which gradients and training steps have, or as C99 with a header beside it if its name ends
        with ``.c``.

        A file of Python needs NumPy and nothing else, and is the same to the byte for the same
        function and types. Lengths that have names in the code for these arguments are parameters
        of the file as well. Run as a program it compares the gradient with finite differences;
        that of a training step is given the state of the optimiser as further arguments, which
        start as zeros, has the hyper-parameters as keywords, and compares what two steps change as
        well.

        A function of C needs libm and nothing else, and allocates nothing. Its name is ``name`` if
        that is given, and it calls LAPACK for eigenvalues, singular values and large systems if
        ``lapack`` is True (arguments of the user's function that are called so are given by
        position).
        Compiled with ``-DSELF_TEST`` the file is a program that compares the results with those of
        the readable level.

        `ExportError` if the file cannot be written, or a captured array is too large to be saved in
        it; `LanguageError` for what C has not.
        """
        from stcompile.calls.c_export import write_c

        self.check_export()
        bound = self.bind(arguments, keywords)
        if os.fspath(path).endswith(".c"):
            return write_c(self, path, bound, name, lapack)
        if name or lapack:
            raise ExportError(
                "`name` and `lapack` are for files of C",
                hint="Python imports a function under another name, and calls LAPACK by NumPy",
            )
        self.write_python(path, bound)

    def check_export(self) -> None:
        """`ExportError` for a function that is not exported."""

    def write_python(self, path: str | os.PathLike[str], bound: Arguments) -> None:
        """Write the generated function into a Python file of its own."""
        raise ExportError(
            f"`{self.function_name}` is exported as C, not as Python",
            hint="name a file that ends with .c, or export a gradient or a training step",
        )

    @public
    def source(self, *arguments: P.args, **keywords: P.kwargs) -> Source:
        """The source of the generated function for the given arguments."""
        return Source(self.specialise(self.bind(arguments, keywords), False).source)

    @public
    def program(self, *arguments: P.args, **keywords: P.kwargs) -> Any:
        """The optimised Wengert list that the generated function was emitted from."""
        return self.specialise(self.bind(arguments, keywords)).staged.program

    @public
    def graph(self, *arguments: P.args, **keywords: P.kwargs) -> Graph:
        """The computation graph of the optimised Wengert list. Prints as a table of its levels; a
        notebook draws it."""
        from stcompile.reports.graph.model import graph_of

        return graph_of(self.program(*arguments, **keywords))

    @public
    def report(self, *arguments: P.args, **keywords: P.kwargs) -> Snapshots:
        """The Wengert list after each stage of the compiler. Prints as a table."""
        from stcompile.reports.snapshots import Snapshot, snapshots_of

        staged = self.stage(self.bind(arguments, keywords))
        recorded = Snapshot(self.recorded, staged.program)
        options = self.options
        return snapshots_of([recorded], self.results, options.level, options.parallel)

    @public
    def memory(self, *arguments: P.args, **keywords: P.kwargs) -> Memory:
        """The buffers of the generated function for the given arguments, and the values that are
        alive at each time; prints as a table."""
        from stcompile.reports.memory import memory_of

        bound = self.bind(arguments, keywords)
        found = self.specialise(bound)
        return memory_of(self.stage(replace(bound, sizes=found.sizes)).program, found.emitted)

    @public
    def allocated_bytes(self, *arguments: P.args, **keywords: P.kwargs) -> int:
        """Bytes of array data that a call allocates: the sum over its allocating statements."""
        return self.specialise(self.bind(arguments, keywords)).emitted.allocated_bytes
