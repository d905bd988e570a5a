"""stcompile and other tools for automatic differentiation, measured on the same work.

``python -m examples.benchmarks`` runs it, from the project's root; docs/benchmarks.md says what
is measured and how.
"""
