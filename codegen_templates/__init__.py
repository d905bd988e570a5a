"""Templates of generated code: derivative rules and NumPy spellings of the primitives.

Each of them is an ordinary function that runs alone, and that the compiler parses. None of them
imports the compiler.
"""
