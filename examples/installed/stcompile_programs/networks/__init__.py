"""Networks that learn to read images, and the command that trains them."""
