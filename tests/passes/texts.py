"""Programs in text, and what they compute with."""

from __future__ import annotations

from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify


def parse(text: str) -> Program:
    program = parse_program(text)
    verify(program)
    return program


def primitives(program: Program) -> list[str]:
    return [equation.primitive for equation in program.equations]
