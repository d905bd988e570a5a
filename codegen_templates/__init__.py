"""What generated code is made of: derivative rules and NumPy spellings of the primitives.

Everything here is an ordinary function that runs alone, and that the compiler parses. Nothing
here imports the compiler.
"""
