"""From a Python function to a Wengert list: a staged interpreter of the function's AST."""
