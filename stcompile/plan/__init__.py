"""The plan of the memory: the buffers that a function has, and the values that use them."""
