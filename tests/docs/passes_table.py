"""The tables of docs/passes.md, made from the pipeline and the docstrings of its passes."""

from __future__ import annotations

import doctest
import inspect
import sys
import textwrap

from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import OWN, PIPELINE, Stage

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"
STAGES = (*PIPELINE, Stage(OWN, own_outputs))


def tables() -> str:
    """The table of the stages, and a section for each pass with its example."""
    rows = ["| stage | level | results | pass |", "|---|---|---|---|"]
    sections: dict[str, str] = {}
    for stage in STAGES:
        module = sys.modules[stage.run.__module__]
        path = f"{module.__name__.replace('.', '/')}.py"
        levels = "both" if stage.level == "readable" else "fast"
        results = "the same bits" if stage.exact else "rounded differently"
        rows.append(f"| `{stage.name}` | {levels} | {results} | `{path}` |")
        if module.__name__.startswith("stcompile.passes."):
            names = [f"`{s.name}`" for s in STAGES if s.run is stage.run]
            title = f"### {', '.join(names)}: `{stage.run.__name__}`"
            sections.setdefault(stage.run.__name__, f"{title}\n\n{_described(module)}")
    return "\n".join([BEGIN, "\n\n".join(["\n".join(rows), *sections.values()]), END]) + "\n"


def _described(module: object) -> str:
    """A docstring as Markdown: its paragraphs, then the example, before and after."""
    text = inspect.getdoc(module) or ""
    examples = doctest.DocTestParser().get_examples(text)
    prose = text[: text.index(">>>")] if examples else text
    paragraphs = [
        f"```text\n{p}\n```" if "→" in p and "\n" in p else p.replace("``", "`")
        for p in prose.strip().split("\n\n")
    ]
    shown = [e for e in examples if e.want]
    if shown:
        source = "".join(e.source for e in examples)
        before = source[source.index("'''") + 3 : source.rindex("'''")]
        after = shown[-1].want
        paragraphs.append(f"```text\n{textwrap.dedent(before).strip()}\n```")
        paragraphs.append(f"becomes\n\n```text\n{after.strip()}\n```")
    return "\n\n".join(paragraphs)
