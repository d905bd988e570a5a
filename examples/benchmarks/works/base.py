"""The definition of a work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..images import Images
from ..inputs import Inputs
from ..pace import Kind, Pace

Sizes = Mapping[str, int]
QUICK = Pace(steps=3, warmup=1)


@dataclass(frozen=True)
class Work:
    """A computation that every engine does in its own way.

    ``training``: one step of gradient descent on a batch. ``gradient``: value and gradient of a
    function of `examples.benchmarks.functions` at one point. ``make`` gives the inputs of these
    sizes, from the images where the work is about images.
    """

    name: str
    title: str
    kind: Kind
    make: Callable[[Sizes, np.random.Generator, Images], Inputs]
    sizes: Sizes
    pace: Pace
    quick_sizes: Sizes
    quick_pace: Pace = QUICK
