"""A function on its way through the compiler, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.base.options import Level
from stcompile.calls.arguments import Wrt
from stcompile.calls.dispatch import Dispatcher
from stcompile.reports.snapshots import Snapshot, Snapshots, snapshots_of
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal


def stages_of(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    wrt: Wrt | None,
    level: Level | None,
) -> Snapshots:
    """The stages of a transformed function, or of the ``value_and_grad`` of any other."""
    if not isinstance(function, Dispatcher):
        function = Gradient(function, 0 if wrt is None else wrt, with_value=True)
    elif wrt is not None:
        raise ValueError(f"`{function.name}` has its own `wrt`")
    bound = function.bind(arguments, keywords)
    recorded = [Snapshot(function.recorded, function.stage(bound).program)]
    if not isinstance(function, Primal):
        primal: Primal[..., Any] = Primal(function.as_given)
        recorded.insert(
            0, Snapshot(primal.recorded, primal.stage(primal.bind(arguments, keywords)).program)
        )
    options = function.options
    return snapshots_of(recorded, function.results, level or options.level, options.parallel)
