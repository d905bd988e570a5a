"""Operators, subscripts, attributes and iteration on staged values."""
