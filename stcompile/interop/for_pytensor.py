"""Functions of PyTensor's variables: an `Op` that calls what stcompile compiled."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError, StcompileError
from stcompile.base.options import Level
from stcompile.interop.leaves import Known, Structured, is_array

TRIED = (2, 3)  # lengths that stand for those that are not known


class PytensorFunction(Structured):
    """A function of PyTensor's variables, and of structures of them."""

    def __init__(self, function: Any, level: Level | None) -> None:
        super().__init__(function, level)
        self._pytensor = _pytensor()

    @public
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        array = self._pytensor.Variable, np.ndarray, np.generic
        known, leaves = self.known(arguments, keywords, lambda leaf: isinstance(leaf, array))
        inputs = list(map(self._pytensor.as_variable, leaves))
        found = iter(self._pytensor.op(known)(*inputs, return_list=True))
        outline = next(_outlines(known, inputs))
        return trees.map_leaves(lambda path, x: next(found) if is_array(x) else x, outline)


def _outlines(known: Known, inputs: Sequence[Any]) -> Iterator[Any]:
    """The results in shapes and dtypes; where lengths of inputs are not known, one for each length
    that may stand for all of them. `ArgumentsError` if none does."""
    lengths = [length for one in inputs for length in one.type.shape]
    found, refused = 0, None
    for tried in dict.fromkeys((*TRIED, *filter(None, lengths))) if None in lengths else (0,):
        shapes = [[tried if n is None else n for n in one.type.shape] for one in inputs]
        pairs = zip(inputs, shapes, strict=True)
        like = [SimpleNamespace(dtype=one.type.dtype, shape=tuple(shape)) for one, shape in pairs]
        try:
            outline = known.outline(like)
        except StcompileError as error:
            refused = refused or error
            continue
        found += 1
        yield outline
    if refused is not None and not found:
        if None not in lengths:
            raise refused
        raise ArgumentsError(
            f"`{known}` is given variables whose lengths are not known, and lengths that were "
            f"tried do not fit together: {refused.reason}",
            hint="give variables their shapes: pt.tensor('x', shape=(3,))",
        )


def _op(known: Known) -> Any:
    return _pytensor().op(known)


@functools.cache
def _pytensor() -> SimpleNamespace:
    """The class of the `Op`, which inherits from one of PyTensor's, and what calls of it need."""
    basic: Any = importlib.import_module("pytensor.graph.basic")
    graph: Any = importlib.import_module("pytensor.graph.op")
    gradient: Any = importlib.import_module("pytensor.gradient")
    pt: Any = importlib.import_module("pytensor.tensor")
    exceptions: Any = importlib.import_module("pytensor.tensor.exceptions")

    def is_moving(one: Any) -> bool:
        return str(one.type.dtype).startswith("float")

    def is_wanted(one: Any) -> bool:
        return is_moving(one) and not isinstance(one, basic.Constant)

    def is_connected(one: Any) -> bool:
        return not isinstance(one.type, gradient.DisconnectedType)

    class Stcompile(graph.Op):  # type: ignore[misc]
        __props__ = ("known",)

        def __init__(self, known: Known) -> None:
            self.known = known

        def __reduce__(self) -> Any:
            return _op, (self.known,)

        def __str__(self) -> str:
            return f"Stcompile{{{self.known}}}"

        def make_node(self, *inputs: Any) -> Any:
            inputs = tuple(map(pt.as_tensor_variable, inputs))
            outlines = [
                [leaf for _, leaf in trees.leaves(one) if is_array(leaf)]
                for one in _outlines(self.known, inputs)
            ]
            outputs = []
            for same in zip(*outlines, strict=True):
                if any(x.ndim != same[0].ndim or x.dtype != same[0].dtype for x in same):
                    raise ArgumentsError(
                        f"the type of a result of `{self.known}` depends on lengths that are not "
                        "known",
                        hint="give variables their shapes: pt.tensor('x', shape=(3,))",
                    )
                shapes = zip(*(x.shape for x in same), strict=True)
                shape = tuple(n[0] if len(set(n)) == 1 else None for n in shapes)
                outputs.append(pt.TensorType(str(same[0].dtype), shape=shape)())
            for one in (*inputs, *outputs):
                if str(one.type.dtype).startswith("complex"):
                    raise ArgumentsError(
                        f"`{self.known}` takes or returns complex numbers, of which PyTensor has "
                        "no derivatives",
                        hint="give and return the real and the imaginary parts",
                    )
            return basic.Apply(self, inputs, outputs)

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            found = self.known.call(map(np.asarray, inputs))
            for value, output, storage in zip(found, node.outputs, output_storage, strict=True):
                array, expected = np.asarray(value), output.type.shape
                is_told = len(expected) == array.ndim and all(
                    n in (None, m) for n, m in zip(expected, array.shape, strict=True)
                )
                if not is_told or str(array.dtype) != output.type.dtype:
                    raise ArgumentsError(
                        f"a result of `{self.known}` is of shape {array.shape} and {array.dtype}, "
                        f"not {output.type}, which it is for other lengths of the variables",
                        hint="give variables their shapes: pt.tensor('x', shape=(3,))",
                    )
                storage[0] = array

        def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
            known = [one.type.shape for one in node.outputs]
            if any(None in shape for shape in known):
                raise exceptions.ShapeError("it follows from a call")
            return [tuple(pt.constant(n, dtype="int64") for n in shape) for shape in known]

        def connection_pattern(self, node: Any) -> Any:
            moving = list(map(is_moving, node.outputs))
            return [[is_wanted(one) and is_out for is_out in moving] for one in node.inputs]

        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            wrt = tuple(at for at, one in enumerate(inputs) if is_wanted(one))
            vectors = [
                given.astype(one.type.dtype) if is_connected(given) else pt.zeros_like(one)
                for given, one in zip(cotangents, outputs, strict=True)
                if is_moving(one)
            ]
            made = Stcompile(self.known.pullback(wrt, len(vectors)))
            found = iter(made(*inputs, *vectors, return_list=True))
            nothing = gradient.DisconnectedType()
            return [next(found) if is_wanted(one) else nothing() for one in inputs]

        def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
            pairs = list(enumerate(zip(inputs, tangents, strict=True)))
            wrt = tuple(at for at, (x, dot) in pairs if is_moving(x) and is_connected(dot))
            made = Stcompile(self.known.pushforward(wrt))
            found = iter(made(*inputs, *(tangents[at] for at in wrt), return_list=True))
            nothing = gradient.DisconnectedType()
            return [next(found) if is_moving(one) else nothing() for one in outputs]

    return SimpleNamespace(op=Stcompile, Variable=basic.Variable, as_variable=pt.as_tensor_variable)
