"""Measurements: of a machine, and of a function beside its derivatives by several ways."""
