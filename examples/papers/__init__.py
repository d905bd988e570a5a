"""The networks of the papers on source-transformation AD, trained again: ``python -m
examples.papers`` (see docs/papers.md).

What stcompile and other tools do here starts from the same numbers and reads the same batches.
"""
