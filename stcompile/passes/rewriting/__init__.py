"""Rules that rewrite one equation at a time, and the worklist that applies them."""
