"""Kernels as C: the text of a compiled function's loops, translated with its types."""
