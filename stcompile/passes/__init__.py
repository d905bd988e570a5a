"""Passes: each takes a program and returns a better one with the same meaning.

A pass is a module with a before → after example that runs as a doctest. A pass that is exact leaves
every result bitwise equal; a pass that reassociates touches the adjoint only, never the equations
that the user wrote.
"""
