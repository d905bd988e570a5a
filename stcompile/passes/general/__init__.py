"""Passes on any equations, and what all passes rebuild programs with."""
