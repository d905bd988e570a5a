"""Docstrings are plain sentences: they begin with a verb or a noun, and no pronoun lacks one.

The rules are simple patterns. They find sentences that leave the reader to guess the noun; a
sentence that passes is not a good one for that.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("stcompile", "codegen_templates", "examples")

OPENERS = (
    r"(?:What|Whatever|Which|Whichever|Who|Whose|When|Where|Wherever|Whether|Why|How|It|They|Them"
    r"|This|That|These|Those|Such|One|Ones|Others|Something|Anything|Of|So)\b"
)
VERBS = "is|are|was|were|has|have|had|do|does|did|may|must|can|will"
BEGINS = re.compile(OPENERS)
SUBJECT = re.compile(r"What(?:ever)?\b")
WITHOUT_NOUN = {
    '"one" without a noun': re.compile(
        r"\b(?:the|this|that|other|another|latest|next|previous) ones?(?=[.,;:)]| (?:that|which|who"
        rf"|with|without|where|whose|in|for|{VERBS})\b)|\bas one(?=[.,;:)])",
        re.IGNORECASE,
    ),
    '"these", "those" or "such" without a noun': re.compile(
        rf"\b(?:these|those|(?<!as )such)(?: (?:{VERBS})\b|[.,;:)])", re.IGNORECASE
    ),
}


def sentences(docstring: str) -> Iterator[str]:
    """The sentences of a docstring, each on a line, without code and doctests."""
    prose = re.split(r"^\s*>>>", docstring, maxsplit=1, flags=re.MULTILINE)[0]
    for paragraph in prose.split("\n\n"):
        line = re.sub(r"``.*?``|`[^`]*`", "x", " ".join(paragraph.split()))
        yield from re.split(r"(?<=[.;:!?]) (?=[A-Z])", line)


def faults_of(docstring: str) -> Iterator[tuple[str, str]]:
    """The rules that a docstring breaks, each with the sentence."""
    for at, sentence in enumerate(sentences(docstring)):
        if not at and BEGINS.match(sentence):
            yield "a docstring begins with a verb or a noun", sentence
        elif SUBJECT.match(sentence):
            yield '"what" is the subject of a sentence', sentence
        for rule, pattern in WITHOUT_NOUN.items():
            if pattern.search(sentence):
                yield rule, sentence


def faults_in(text: str, name: str) -> Iterator[str]:
    """The faults of a module's docstrings, also below variables: file, line, rule, sentence."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(ast.Constant(str(docstring))):
                for rule, sentence in faults_of(inspect.cleandoc(docstring)):
                    yield f"{name}:{node.lineno}: {rule}: {sentence}"


def test_docstrings_are_plain_sentences() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 500
    found = [
        fault
        for path in files
        for fault in faults_in(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    ]
    assert not found, "\n".join(["docstrings that leave the reader to guess:", *found])


@pytest.mark.parametrize(
    "docstring",
    [
        "What is here is not what was there.",
        "This of what the other one takes, as one.",
        "How many short loops there are one in the other.",
        "The names. What has none is left out.",
        "The names.\n\nWhat has none is left out.",
        "The names; what: What has none.",
        "The name of a node, or the one that reads it.",
        "The node before the latest one.",
        "Those with a name.",
        "Two nodes, and whether these are equal.",
        "The names of nodes, without those.",
    ],
)
def test_riddles_are_found(docstring: str) -> None:
    text = f'def function():\n    """{docstring}"""\n'
    found = list(faults_in(text, "module.py"))
    assert found and all(fault.startswith("module.py:2: ") for fault in found)


def test_docstrings_of_all_kinds_are_read() -> None:
    what = '"""What is here."""'
    text = f"{what}\nclass A:\n    {what}\n    def f(self):\n        {what}\n\nB = 1\n{what}\n"
    lines = [fault.split(":")[1] for fault in faults_in(text, "module.py")]
    assert sorted(lines) == ["1", "3", "5", "8"]


def test_the_sentence_is_quoted() -> None:
    text = '"""The names. What has none\nis left out. The rest is kept."""\n'
    (fault,) = faults_in(text, "module.py")
    assert fault.endswith(": What has none is left out."), fault


@pytest.mark.parametrize(
    "docstring",
    [
        "Compose two slices.",
        "Nesting depth.",
        "Raised when a cache entry names an object that is missing in this process.",
        "True if the container may alias another container, depending on the path taken.",
        "Say what is slow, and which of these lines takes the time.",
        "Filled with ones, one row for each of the names.",
        "The names, as ``What is`` writes them.\n\n>>> names()\n'What is'",
    ],
)
def test_plain_sentences_pass(docstring: str) -> None:
    assert list(faults_of(docstring)) == []
