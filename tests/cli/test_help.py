"""The help texts: their examples run, and every command is there."""

from __future__ import annotations

import re
import shlex

import pytest

from stcompile.cli.main import COMMANDS, DESCRIPTION, loaded
from stcompile_programs.networks.command import DESCRIPTION as OF_TRAIN
from tests.cli.conftest import Run

HELP = {name: command.__doc__ or "" for name, command in loaded().items()}
HELP |= {"train": OF_TRAIN, "": DESCRIPTION}


@pytest.mark.parametrize("name", [name for name in HELP if name])
def test_every_command_has_help_with_examples(name: str, run: Run) -> None:
    shown = run(name, "--help")
    assert shown.code == 0
    assert f"stcompile {name}" in shown.out.split("Examples:")[1]
    assert max(map(len, shown.out.splitlines())) <= 100


@pytest.mark.parametrize("name", HELP)
def test_examples_of_help_texts_run(name: str, run: Run) -> None:
    examples = re.findall(r"^ +stcompile (.*)$", HELP[name], re.MULTILINE)
    assert examples
    for example in examples:
        done = run(*shlex.split(example))
        assert done.code == 0, (example, done.err)
        assert done.out


def test_the_list_of_commands(run: Run) -> None:
    shown = run("--help").out
    for name in (*COMMANDS, "bench", "doctor", "train"):
        assert re.search(rf"^  {name} +\w", shown, re.MULTILINE), name
    assert "..." not in shown.split("Commands:")[1], "the first sentence of a help text is too long"
    assert run().code == 2


def test_unknown_commands_and_flags_are_wrong_use(run: Run) -> None:
    assert run("shwo").code == 2
    refused = run("show", "model.py:loss", "--colour")
    assert refused.code == 2
    assert "No such option" in refused.err
