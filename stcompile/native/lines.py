"""The lines of a function in C, as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

STEP = 4  # spaces


class Lines:
    """Lines in blocks, of which declarations go to the beginning."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.starts = [0]  # the first lines of the blocks around
        self.last = 0  # the first line of the block that ended last
        self.level = 1

    @property
    def margin(self) -> str:
        """The spaces before a line."""
        return " " * (STEP * self.level)

    def say(self, text: str) -> None:
        """Add a line."""
        self.lines.append(self.margin + text if text else "")

    def hoist(self, depth: int, declaration: str) -> None:
        """Add a declaration at the beginning of a block: of the function, or of one within."""
        at = self.starts[depth] if depth < len(self.starts) else len(self.lines)
        self.lines.insert(at, " " * (STEP * (depth + 1)) + declaration)
        pairs = enumerate(self.starts)
        self.starts = [start + (index > depth and start >= at) for index, start in pairs]

    @contextmanager
    def block(self) -> Iterator[None]:
        """Add the lines of a block, whose first one is ``last`` afterwards.

        >>> text = Lines()
        >>> text.say("while (x < 9) {")
        >>> with text.block():
        ...     text.say("x++;")
        ...     text.hoist(0, "int x = 0;")
        >>> text.lines[text.last - 1 :]
        ['    while (x < 9) {', '        x++;']
        """
        self.starts.append(len(self.lines))
        self.level += 1
        yield
        self.level -= 1
        self.last = self.starts.pop()
