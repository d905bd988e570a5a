"""From a function to its source and AST."""
