"""Passes that trade time for memory, and that decide where outputs are stored."""
