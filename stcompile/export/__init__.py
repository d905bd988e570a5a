"""A compiled call as a file of its own, which needs NumPy, and SciPy if the function calls it."""
