"""NumPy functions written with other NumPy functions, in the language that the compiler takes.

They do the same as NumPy's own implementations, operation by operation, so that a compiled function
gives NumPy's value to the bit. They need no derivative rules: the rules of the functions that they
are made of apply. `stcompile.frontend.functions.library` says which function of NumPy each stands
for; a call of it is inlined. Arguments that decide on shapes (axes, orders, lengths) are static. A
module may have functions that are one expression, or one of a family, in a table, ``FUNCTIONS``.
"""
