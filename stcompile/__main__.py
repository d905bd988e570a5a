"""``python -m stcompile`` is the command ``stcompile``."""

from stcompile.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main(name="python -m stcompile"))
