"""The tools. Their modules import what they are named after, so a process imports one of them."""

from __future__ import annotations

import importlib.util

TOOLS = "stcompile", "torch", "jax", "keras"

TITLES = {"stcompile": "stcompile", "torch": "PyTorch", "jax": "JAX", "keras": "Keras"}


def is_installed(tool: str) -> bool:
    return importlib.util.find_spec(tool) is not None
