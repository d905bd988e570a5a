"""Passes on loops: work that leaves them, what they carry and keep."""
