"""From programs to Python source."""
