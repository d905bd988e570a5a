"""Passes of the compiled level: from equations of arrays to loops over numbers."""
