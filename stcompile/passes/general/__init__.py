"""Passes on any equations, and the rebuilding of programs that all passes use."""
