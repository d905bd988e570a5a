"""The tables of docs/passes.md, made from the pipeline and the docstrings of its passes."""

from __future__ import annotations

import doctest
import inspect
import sys
from importlib import import_module
from typing import Any

from stcompile.base.options import LEVELS
from stcompile.passes import phases
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import PIPELINE, Stage
from stcompile.passes.rewriting.rewrite import RuleBook

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"
STAGES = (*PIPELINE, Stage(own_outputs))


BOOKS = {"simplify": phases.ALGEBRA, "suit_numpy": phases.CALLS}


def _doc_of(module: Any, stage: Stage) -> str:
    """The docstring of a pass that is not the first of its module."""
    return inspect.getdoc(getattr(module, stage.name, stage.run)) or ""


def _of_forms(stage: Stage) -> str:
    """The words for a stage of no level of its own."""
    return "C" if "whole" in stage.levels else "`f.compiled`"


def tables() -> str:
    """The table of the stages, and a section for each pass."""
    rows = ["| stage | level | results | pass |", "|---|---|---|---|"]
    sections: dict[str, str] = {}
    for stage in STAGES:
        module = import_module(stage.run.__module__)
        path = f"{module.__name__.replace('.', '/')}.py"
        shown = [level for level in stage.levels if level in LEVELS]
        levels = "all" if len(shown) == len(LEVELS) else ", ".join(shown) or _of_forms(stage)
        results = "the same bits" if stage.exact else "rounded differently"
        rows.append(f"| `{stage.name}` | {levels} | {results} | `{path}` |")
        title = f"### `{stage.name}`"
        if stage.name in BOOKS:
            sections[stage.name] = f"{title}\n\n{_rules(stage, BOOKS[stage.name])}"
        elif stage.name not in sections and path.startswith("stcompile/passes/"):
            again = module in (sys.modules[s.run.__module__] for s in STAGES[: STAGES.index(stage)])
            text = _doc_of(module, stage) if again else _described(module)
            text = f"Run `{stage.run.__name__}` again." if stage.called else text
            text = f"Run `{stage.run.__name__}` again." if stage.called else text
            sections[stage.name] = f"{title}\n\n{text}"
    return "\n".join([BEGIN, "\n\n".join(["\n".join(rows), *sections.values()]), END]) + "\n"


def _rules(stage: Stage, book: RuleBook) -> str:
    """What a phase of local rules does, and a line for each of its rules."""
    assert all(rule.apply.__doc__ for rule in book.rules), "each rule says what it does"
    texts = {rule.apply.__name__: inspect.getdoc(rule.apply) or "" for rule in book.rules}
    lines = [
        f"- `{name}`: {' '.join(text.split()).replace('``', '`')}" for name, text in texts.items()
    ]
    return "\n\n".join([inspect.getdoc(stage.run) or "", "\n".join(lines)])


def _described(module: object) -> str:
    """A docstring as Markdown, without its example."""
    text = inspect.getdoc(module) or ""
    examples = doctest.DocTestParser().get_examples(text)
    prose = text[: text.index(">>>")] if examples else text
    paragraphs = [
        f"```text\n{p}\n```" if "→" in p and "\n" in p else p.replace("``", "`")
        for p in prose.strip().split("\n\n")
    ]
    return "\n\n".join(paragraphs)
