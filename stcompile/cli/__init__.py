"""The command line: ``stcompile`` and ``python -m stcompile``."""
