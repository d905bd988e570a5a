"""Pieces of Python: numbers and templates as syntax trees, and these as text."""
