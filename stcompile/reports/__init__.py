"""Reports on compiled functions: their memory, their values, their graphs."""
