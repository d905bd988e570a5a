"""What the staged interpreter knows: values, names, cells, and their changes."""
