"""What users make of functions: gradients, products, Jacobians, training steps."""
