"""What a compiled function says of itself while it runs: memory, values, graphs."""
