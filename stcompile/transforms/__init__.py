"""Transformations of functions: gradients, products, Jacobians, training steps."""
