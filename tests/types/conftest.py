"""What type checkers read is not collected: one file is run by a test, the other never."""

collect_ignore = ["right.py", "wrong.py"]
