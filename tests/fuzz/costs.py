"""What gradients of random programs cost: ``python -m tests.fuzz.costs --programs 1000 --seed 0``.

For each program, the elements of arrays that value and gradient touch, divided by those that the
value touches (`examples/benchmarks/touched.py`). The dearest ones are printed, with the seeds that
make them. A gradient should cost a constant number of values, about five; arguments that are larger
than what a program reads of them make it dearer, since the whole gradient is returned.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from examples.benchmarks.touched import count_touched
from stcompile.base import trees
from stcompile.base.options import Options
from stcompile.calls.dispatch import Dispatcher
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from tests.fuzz import aliases, arrays, collected, growing, layouts, lengths, selections
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.judge_arrays import as_number
from tests.fuzz.run import limited
from tests.fuzz.structures import flat, is_real
from tests.fuzz.verdicts import REFUSALS

SECONDS = 30  # for one program
MODULES: Mapping[str, ModuleType] = {
    "aliases": aliases,
    "arrays": arrays,
    "collected": collected,
    "growing": growing,
    "layouts": layouts,
    "lengths": lengths,
    "selections": selections,
}


@dataclass(frozen=True)
class Cost:
    """The elements that a program touches, without and with its gradient, beyond those of the
    arguments that every gradient has to write."""

    sort: str
    seed: int
    source: str
    value: int
    both: int

    @property
    def ratio(self) -> float:
        return self.both / max(1, self.value)


def cost(sort: str, seed: int, level: Any = "readable") -> Cost | None:
    """What a program costs; None if it is refused or has nothing to be differentiated by."""
    module = MODULES[sort]
    source, calls = module.program(seed)
    function = function_of(source, getattr(module, "HELPERS", HELPERS))
    (args, *_) = calls
    wrt = tuple(at for at, arg in enumerate(args) if all(map(is_real, flat(arg))))

    def total(*given: Any) -> Any:
        return as_number(function(*given))

    options = Options(level)
    try:
        with limited(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = touched(Primal(total, options), args)
            both = touched(Gradient(total, wrt, True, options), args)
    except (*REFUSALS, TimeoutError):
        return None
    unavoidable = sum(np.size(leaf) for at in wrt for leaf in flat(args[at]))
    return Cost(sort, seed, source, value, both - unavoidable)


def touched(compiled: Dispatcher[..., Any], args: tuple[Any, ...]) -> int:
    """The elements that a compiled function touches on these arguments."""
    bound = compiled.bind(copy.deepcopy(args), {})
    staged = compiled.specialise(bound).staged
    leaves = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
    leaves += [hidden.read() for hidden in staged.hidden]
    return count_touched(staged.program, *leaves)


def costs(
    seeds: Iterator[int], sorts: list[str], level: str, say: Callable[[str], None]
) -> list[Cost]:
    """The costs of programs, the dearest first."""
    found = []
    for seed, sort in zip(seeds, itertools.cycle(sorts)):
        one = cost(sort, seed, level)
        if one is not None:
            found.append(one)
            say(f"{one.ratio:7.2f} {sort} {seed}")
    return sorted(found, key=lambda one: -one.ratio)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.costs", description=__doc__)
    parser.add_argument("--programs", type=int, default=100, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first one (%(default)s)")
    parser.add_argument("--level", choices=("readable", "fast"), default="readable")
    parser.add_argument("--shown", type=int, default=10, help="the dearest (%(default)s)")
    parser.add_argument("--least", type=int, default=0, help="elements that a value touches")
    parser.add_argument("--sorts", nargs="+", choices=list(MODULES), default=list(MODULES))
    options = parser.parse_args(arguments)
    seeds = iter(range(options.seed, options.seed + options.programs))
    found = costs(seeds, options.sorts, options.level, lambda line: None)
    found = [one for one in found if one.value >= options.least]
    if not found:
        return 0
    ratios = [one.ratio for one in found]
    print(f"{len(found)} programs, ratios: median {np.median(ratios):.2f}, most {ratios[0]:.2f}")
    for one in found[: options.shown]:
        print(f"{one.ratio:.2f} = {one.both} / {one.value}: {one.sort}, seed {one.seed}")
        print(one.source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
