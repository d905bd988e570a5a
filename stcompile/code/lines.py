r"""Break one long logical line into several physical lines.

A line is broken within brackets only, where white space means nothing. In order of preference:

    value = function(                 value = (                      value = function(
        first, second, third              left_operand                   first,
    )                                     + right_operand                second,
                                      )                              )

that is: the contents of the last outermost bracket that suffices on a line of their own; an
expression of operators in parentheses, broken before the operators that bind least; one item a
line.

>>> print(*break_line("total = np.sum(first * second, axis=0) + third", 36), sep="\n")
total = (
    np.sum(first * second, axis=0)
    + third
)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

INDENT = "    "

# From the loosest to the tightest; the clauses of a comprehension come before all operators.
OPERATORS = (
    (" for ", " async for ", " if "),
    (" if ", " else "),
    (" or ",),
    (" and ",),
    (" in ", " not in ", " is ", " is not ", " < ", " <= ", " > ", " >= ", " == ", " != "),
    (" | ",),
    (" ^ ",),
    (" & ",),
    (" << ", " >> "),
    (" + ", " - "),
    (" * ", " / ", " // ", " % ", " @ "),
    (" ** ",),
)
LEADING_OPERATOR = re.compile(
    "(?:" + "|".join(re.escape(name.strip()) for kind in OPERATORS for name in kind) + ") "
)
TOKEN = re.compile(
    r"""(?P<string>[bfr]*(?:'''(?:\\.|[^\\])*?'''|\"{3}(?:\\.|[^\\])*?\"{3}
                          |'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))
      |(?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comma>,\ ?)
      |(?P<lambda>\blambda\b) | (?P<colon>:)
      |(?P<assign>\ (?:[-+*/%@&|^]|//|\*\*|<<|>>)?=\ )
      |(?P<operator>\ (?:not\ in|is\ not|async\ for|for|if|else|or|and|in|is
                         |<<|>>|<=|>=|==|!=|//|\*\*|[<>|^&+\-*/%@])(?=\ ))
      |\w+ | .""",
    re.VERBOSE | re.DOTALL,
)
HEAD = re.compile(r"(return|elif|if|while|raise|yield|assert) ")


@dataclass
class Shape:
    """The places of the outermost brackets, and of the operators and commas outside of them."""

    brackets: list[tuple[int, int]] = field(default_factory=list)
    commas: list[int] = field(default_factory=list)
    assigns: list[int] = field(default_factory=list)
    operators: list[tuple[int, str]] = field(default_factory=list)

    @property
    def loosest(self) -> list[int]:
        """Places of the operators that bind least."""
        names = {name for _, name in self.operators}
        kinds = OPERATORS if {" for ", " async for "} & names else OPERATORS[1:]
        kind = next((kind for kind in kinds if names & set(kind)), ())
        return [place for place, name in self.operators if name in kind]


def shape_of(text: str) -> Shape:
    shape = Shape()
    stack: list[int] = []
    lambdas = 0  # open parameter lists, whose commas do not separate items
    for match in TOKEN.finditer(text):
        kind, place = match.lastgroup, match.start()
        if kind == "open":
            stack.append(place)
        elif kind == "close":
            start = stack.pop()
            if not stack:
                shape.brackets.append((start, place))
        elif stack:
            continue
        elif kind == "lambda":
            lambdas += 1
        elif kind == "colon":
            lambdas = max(lambdas - 1, 0)
        elif kind == "comma" and not lambdas:
            shape.commas.append(match.end())
        elif kind == "assign":
            shape.assigns.append(match.end())
        elif kind == "operator":
            shape.operators.append((place, match.group() + " "))
    return shape


def break_line(line: str, width: int) -> list[str]:
    """The logical ``line`` (which may be indented) as lines of at most ``width`` characters.

    A part without a place to break it may be longer.
    """
    if len(line) <= width:
        return [line]
    text = line.lstrip()
    margin = line[: len(line) - len(text)]
    broken = _statement(text, width - len(margin))
    return [margin + part for part in broken]


def _statement(text: str, width: int) -> list[str]:
    shape = shape_of(text)
    suffix = ":" if text.endswith(":") else ""
    body = text[: len(text) - len(suffix)]
    if re.match(r"(async )?(def|class|with|import|from|del|@|global)\b|@", text):
        return _within_brackets("", text, "", width)
    if text.startswith("assert ") and shape.commas:
        return _assertion(text, shape.commas[0], width)
    if re.match(r"(async )?for ", text):
        place = next(place for place, name in shape.operators if name == " in ") + len(" in ")
        return _expression(text[:place], body[place:], suffix, width)
    if head := HEAD.match(text):
        return _expression(head.group(), body[head.end() :], suffix, width)
    if shape.assigns:
        return _assignment(text, shape.assigns, width)
    return _expression("", body, suffix, width)


def _assertion(text: str, comma: int, width: int) -> list[str]:
    """``assert test, message``: the message is broken if that is enough."""
    lines = _expression(text[:comma], text[comma:], "", width)
    if _fit(lines, width):
        return lines
    *lines, last = _expression("assert ", text[len("assert ") : comma].rstrip(", "), ",", width)
    return lines + _expression(last + " ", text[comma:], "", width)


def _assignment(text: str, starts: list[int], width: int) -> list[str]:
    start = starts[-1]
    lines = _expression(text[:start], text[start:], "", width)
    target = re.match(r"([^:]*)( \S*= )$", re.sub(r"\[.*\]", _mask, text[:start]))
    if _fit(lines, width) or len(starts) > 1 or target is None:
        return lines
    # The target is too long by itself.
    name, sign = text[: target.end(1)], target.group(2)
    if shape_of(name).commas:
        lines = ["(", *_contents(name, width), ")" + sign]
    else:
        lines = _within_brackets("", name, sign + "(", width)
        lines[-1] = lines[-1].removesuffix("(")
    return lines[:-1] + _expression(lines[-1], text[start:], "", width)


def _mask(match: re.Match[str]) -> str:
    return "_" * len(match.group())


def _fit(lines: list[str], width: int) -> bool:
    return all(len(line) <= width for line in lines)


def _expression(prefix: str, text: str, suffix: str, width: int) -> list[str]:
    """An expression that stands outside of brackets."""
    if len(prefix + text + suffix) <= width:
        return [prefix + text + suffix]
    shape = shape_of(text)
    wrapped = [prefix + "(", *_contents(text, width), ")" + suffix]
    if shape.commas or shape.operators:
        return wrapped
    inside = _within_brackets(prefix, text, suffix, width)
    return inside if _fit(inside, width) or not _fit(wrapped, width) else wrapped


def _within_brackets(prefix: str, text: str, suffix: str, width: int) -> list[str]:
    """Break inside one of the outermost brackets, or inside all of them if one is too few."""
    brackets = [
        (start, end, _contents(text[start + 1 : end], width))
        for start, end in shape_of(text).brackets
        if end > start + 1
    ]
    best = [prefix + text + suffix]
    for start, end, contents in brackets:
        lines = [prefix + text[: start + 1], *contents, text[end:] + suffix]
        if _fit(lines, width) and (not _fit(best, width) or len(lines) <= len(best)):
            best = lines
    if _fit(best, width) or not brackets:
        return best
    lines, done = [], 0
    for start, end, contents in brackets:
        lines += [prefix + text[done : start + 1], *contents]
        prefix, done = "", end
    return [*lines, text[done:] + suffix]


def _contents(text: str, width: int) -> list[str]:
    """The text within brackets, on lines of its own, indented."""
    width -= len(INDENT)
    shape = shape_of(text)
    if len(text) <= width:
        lines = [text]
    elif _comprehension(shape) or not shape.commas:
        lines = _operands(text, width)
    else:
        places = [0, *shape.commas, len(text)]
        items = [text[a:b].rstrip(", ") for a, b in pairwise(places)]
        items = [item + "," for item in items if item]
        if len(items) > 8 and not any(character in text for character in "([{'\""):
            lines = _filled(items, width)
        else:
            lines = [line for item in items for line in _operands(item, width)]
    return [INDENT + line for line in lines]


def _comprehension(shape: Shape) -> bool:
    return any(name in (" for ", " async for ") for _, name in shape.operators)


def _operands(text: str, width: int) -> list[str]:
    """An item within brackets: a line before each of its loosest operators."""
    if len(text) <= width:
        return [text]
    places = shape_of(text).loosest
    if not places:
        return _within_brackets("", text, "", width)
    places = [0, *places, len(text)]
    pieces = [text[a:b].strip() for a, b in pairwise(places)]
    return [line for piece in pieces for line in _operands_of_piece(piece, width)]


def _operands_of_piece(piece: str, width: int) -> list[str]:
    """A piece starts with its operator, which is not a place to break."""
    if len(piece) <= width:
        return [piece]
    operator = LEADING_OPERATOR.match(piece)
    start = operator.end() if operator else 0
    if shape_of(piece[start:]).loosest:
        first, *rest = _operands(piece[start:], width - start)
        return [piece[:start] + first, *rest]
    return _within_brackets("", piece, "", width)


def _filled(items: list[str], width: int) -> list[str]:
    """Lines of short items, as many on a line as fit."""
    lines = [items[0]]
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += " " + item
        else:
            lines.append(item)
    return lines
