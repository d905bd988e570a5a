"""Passes on loops: hoisting, carried values, and values that are kept for all steps."""
