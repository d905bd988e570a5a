"""Automatic differentiation: programs to programs."""
