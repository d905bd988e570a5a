"""Passes that trade time for memory, and say where outputs are stored."""
