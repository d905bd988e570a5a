"""Pieces of Python: numbers and templates as syntax trees, and syntax trees as text."""
