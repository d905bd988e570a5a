"""A compiled call as a file of its own, which needs NumPy and nothing else."""
