"""What each expression and statement of Python does."""
