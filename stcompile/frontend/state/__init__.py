"""The state of the staged interpreter: values, names, cells, and their changes."""
