"""Passes: each takes a program and returns a better one with the same meaning.

One pass is one module with a before → after example that runs as a doctest. A pass that is exact
leaves every result bitwise equal; one that reassociates touches the adjoint only, never what the
user wrote.
"""
