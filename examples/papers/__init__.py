"""The networks of the papers on source-transformation AD, trained again: ``python -m
examples.papers`` (see docs/papers.md).

The runs of stcompile and of other tools start from the same numbers and read the same batches.
"""
