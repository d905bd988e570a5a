"""Objects that users look at: they print as text and are shown as HTML in a notebook."""

from __future__ import annotations


class Shown:
    """An object that prints as text. Its ``repr`` is that text, and a notebook shows it as HTML.

    Subclasses define ``__str__``, and `html` where tables or colours say more than the text.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def html(self) -> str:
        """The HTML that a notebook shows, without the block around it."""
        from stcompile.base.html import text

        return text(str(self))

    def _repr_html_(self) -> str | None:
        from stcompile.base.html import block

        return block(self.html())


class Page(Shown, str):
    """The path of an HTML page: a string, in place of which a notebook shows the page itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return str.__str__(self)

    def _repr_html_(self) -> str | None:
        """The page in a frame, and not what is in the file of that name later; None, for the path
        alone, if there is none."""
        from stcompile.base.html import frame

        try:
            with open(self, encoding="utf-8") as file:
                return frame(file.read())
        except OSError:
            return None


class Source(Shown, str):
    """Python code: a string, which a notebook shows in colours."""

    __slots__ = ()

    def __str__(self) -> str:
        return str.__str__(self)

    def html(self) -> str:
        from stcompile.base.html import code

        return code(self)
