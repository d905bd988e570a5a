"""Passes on the order in which arrays are stored."""
