"""The meaning of each expression and statement of Python."""
