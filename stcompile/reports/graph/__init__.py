"""Computation graphs: their levels as text, and as drawings."""
