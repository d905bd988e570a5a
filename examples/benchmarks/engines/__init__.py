"""The engines. Their modules import the tools, so a worker imports the one it needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """The place of an engine: a module with a function ``engine(variant, threads)``.

    ``distribution`` is pip's name of the tool. A ``peer`` is a tool that stcompile is compared to.
    """

    module: str
    variant: str = ""
    distribution: str = ""
    peer: bool = True


_HERE = __name__

ENGINES = {
    "torch": Entry(f"{_HERE}.torch", "eager", "torch"),
    "torch-compile": Entry(f"{_HERE}.torch", "compiled", "torch"),
    "torch-channels-last": Entry(f"{_HERE}.torch", "eager channels-last", "torch"),
    "torch-channels-last-compile": Entry(f"{_HERE}.torch", "compiled channels-last", "torch"),
    "jax": Entry(f"{_HERE}.jax", "", "jax"),
    "autograd": Entry(f"{_HERE}.autograd", "", "autograd"),
    "advect": Entry(f"{_HERE}.advect", "", "advect"),
    "advect-staged": Entry(f"{_HERE}.advect", "staged", "advect"),
    "tangent": Entry(f"{_HERE}.tangent", "", "tangent-ad"),
    "stcompile-readable": Entry(f"{_HERE}.stcompile", "readable", "stcompile", peer=False),
    "stcompile": Entry(f"{_HERE}.stcompile", "fast", "stcompile", peer=False),
    "stcompile-auto": Entry(f"{_HERE}.stcompile", "fast auto", "stcompile", peer=False),
    "stcompile-compiled": Entry(f"{_HERE}.stcompile", "compiled", "numba", peer=False),
    "stcompile-c": Entry(f"{_HERE}.stcompile", "compiled c", "stcompile", peer=False),
    "stcompile-parallel": Entry(f"{_HERE}.stcompile", "compiled parallel", "numba", peer=False),
}

# Not among the engines: it gives no gradient. What a gradient costs is measured against it.
VALUE_ALONE = "value-alone"
VALUE_ALONE_ENTRY = Entry(f"{_HERE}.plain", "", "numpy", peer=False)


def find(name: str) -> Entry | None:
    """The engine of that name; a dotted name is a module of your own."""
    if name == VALUE_ALONE:
        return VALUE_ALONE_ENTRY
    return ENGINES.get(name) or (Entry(name) if "." in name else None)
