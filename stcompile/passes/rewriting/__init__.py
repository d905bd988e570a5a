"""Rules that rewrite single equations, and the worklist that applies them."""
