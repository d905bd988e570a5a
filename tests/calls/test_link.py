"""Generated source is seen by tracebacks, inspect and pdb."""

from __future__ import annotations

import gc
import inspect
import io
import linecache
import pdb
import traceback

import pytest

from stcompile.calls.link import link, source_filename

SOURCE = '''"""A generated module."""


def half(x):
    y = x / 2
    if y < 0:
        raise ValueError("negative")
    return y
'''


def test_runs() -> None:
    assert link(SOURCE, "half")(3) == 1.5


def test_file_name_is_of_name_and_source() -> None:
    name = link(SOURCE, "half").__code__.co_filename
    assert name == source_filename(SOURCE, "half")
    assert name.startswith("<stcompile half ")
    assert name.endswith(">")
    assert link(SOURCE, "half").__code__.co_filename == name
    assert link(SOURCE + "\n", "half").__code__.co_filename != name


def test_inspect() -> None:
    half = link(SOURCE, "half")
    linecache.checkcache()
    assert inspect.getsource(half) == SOURCE[SOURCE.index("def") :]


def test_traceback() -> None:
    half = link(SOURCE, "half")
    linecache.checkcache()
    with pytest.raises(ValueError, match="negative") as caught:
        half(-1)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError("negative")' in text
    assert f'File "{source_filename(SOURCE, "half")}", line 7, in half' in text


def test_pdb_lists_and_steps() -> None:
    half = link(SOURCE, "half")
    output = io.StringIO()
    commands = io.StringIO("step\nlist\nnext\np y\ncontinue\n")
    debugger = pdb.Pdb(stdin=commands, stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    assert debugger.runcall(half, 8) == 4
    shown = output.getvalue()
    assert f"> {source_filename(SOURCE, 'half')}(5)half()" in shown
    assert "  6  ->\t    if y < 0:" in shown
    assert "  8  \t    return y" in shown
    assert "4.0" in shown


def test_text_lives_as_long_as_the_function() -> None:
    name = source_filename(SOURCE, "half")
    first, second = link(SOURCE, "half"), link(SOURCE, "half")
    del first
    gc.collect()
    assert "def half" in inspect.getsource(second)
    del second
    gc.collect()
    assert name not in linecache.cache


def test_failure_leaves_nothing() -> None:
    for source, error in (("x =", SyntaxError), ("raise OSError", OSError), ("y = 1", KeyError)):
        with pytest.raises(error):
            link(source, "x")
        assert source_filename(source, "x") not in linecache.cache


def test_no_future_flag_is_inherited() -> None:
    assert link("def f(x: int): pass", "f").__annotations__ == {"x": int}
