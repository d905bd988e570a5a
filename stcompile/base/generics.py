"""The variables of the types that public functions and classes are declared with."""

from __future__ import annotations

from typing import ParamSpec, TypeVar

P = ParamSpec("P")  # the parameters of the user's function
R = TypeVar("R")  # the result of a call
G = TypeVar("G")  # the gradients that a differentiable function has
Q = ParamSpec("Q")  # the parameters of a method but the first
S = TypeVar("S")  # and the first parameter
