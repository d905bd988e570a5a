"""Branches and loops on traced values: paths staged aside, and merged."""
