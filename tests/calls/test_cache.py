"""The cache on disk: what one process compiled, the next one links, if nothing has changed.

A process that starts anew is a module that is executed anew here, and a fresh `Dispatcher`: nothing
of its objects is what it was. Some tests start real ones.
"""

from __future__ import annotations

import array
import inspect
import linecache
import os
import re
import subprocess
import sys
import textwrap
import threading
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import stcompile as st
from stcompile.base.private import KEY, SUFFIX
from stcompile.calls import cache, cache_files, installed
from stcompile.calls.fingerprint import Untold, fingerprint

MODEL = """
import dataclasses, enum, functools
import numpy as np
import stcompile as st

SCALE = 2.0
POWER = 2
WEIGHTS = np.arange(3.0)
LAYERS = [np.tanh, np.sin]
TABLE = {"a": 1, "b": (2, 3)}

class Kind(enum.Enum):
    WIDE = 2
    NARROW = 3

@dataclasses.dataclass
class Layer:
    w: object
    bias: float = 0.5

    factor = 3

    def __call__(self, x):
        return self.hidden(x) * self.factor + self.bias

    def hidden(self, x):
        return np.sum(self.w * x)

class Base:
    def activate(self, x):
        return np.tanh(x)

class Model(Base):
    depth = 2

    def __init__(self):
        self.rate = 0.1
        self.steps = 2

    def loss(self, x):
        for _ in range(self.steps):
            x = self.activate(x) * self.rate
        return np.sum(x) * self.depth

def helper(x, k=3):
    return x ** k + SCALE

def make(n):
    def inner(x):
        return np.sum(helper(x)) * n + POWER
    return inner

closure = make(4)
inner_gradient = st.grad(closure, wrt=0)

@st.differentiable
def loss(x):
    y = closure(x) + TABLE["a"] * Kind.WIDE.value
    for layer in LAYERS:
        y = y + np.sum(layer(x * WEIGHTS))
    return y

def second(x):
    return np.sum(inner_gradient(x) ** 2)

gradient_of_second = st.grad(second)
partial = functools.partial(helper, k=2)
of_partial = st.grad(lambda x: np.sum(partial(x)))
model = Model()
of_method = st.grad(model.loss)
of_layer = st.grad(lambda layer, x: layer(x))
step = st.train_step(lambda p, x: np.sum((p["w"] * x) ** 2), st.optim.Adam(0.1))
"""
X = np.array([0.5, 1.5, 2.5])


class Program:
    """A module that is executed anew, as by another process."""

    def __init__(self, folder: Path, text: str = MODEL, name: str = "cached_model") -> None:
        path = folder / f"{name}.py"
        path.write_text(text)
        linecache.checkcache(str(path))
        self.module = types.ModuleType(name)
        self.module.__file__ = str(path)
        sys.modules[name] = self.module
        exec(compile(text, str(path), "exec"), vars(self.module))

    def __getattr__(self, name):
        return getattr(self.module, name)


def step(program):
    params = {"w": np.ones(3)}
    return [program.step(params, X) for _ in range(3)], params["w"]


CALLS = {
    "loss": lambda program: program.loss.value_and_grad(X),
    "second": lambda program: program.gradient_of_second(X),
    "partial": lambda program: program.of_partial(X),
    "method": lambda program: program.of_method(X),
    "layer": lambda program: program.of_layer(program.Layer(np.ones(3)), X),
    "step": step,
}


def outcomes(program, *names):
    """What calls of functions of the module give, and how many were compiled."""
    with st.timings() as spent:
        found = [CALLS[name](program) for name in names]
    return repr(found), len(spent.compilations)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.SWITCH, str(tmp_path / "cache"))
    yield tmp_path
    sys.modules.pop("cached_model", None)


def test_the_second_process_compiles_nothing(folder):
    first, compiled = outcomes(Program(folder), *CALLS)
    assert compiled == 6
    assert outcomes(Program(folder), *CALLS) == (first, 0)
    state = st.cache_state()
    assert (state.folder, state.entries, state.trouble) == (folder / "cache", 6, "")
    assert state.bytes > 10_000


# What is changed in the module, and a function that depends on it.
CHANGES = {
    "the source of a helper": ("x ** k + SCALE", "x ** k - SCALE", "partial"),
    "a comment on a line that is cited": ("+ SCALE\n", "+ SCALE  # more\n", "partial"),
    "where a function stands": ("\ndef helper", "\n\ndef helper", "partial"),
    "a default": ("def helper(x, k=3)", "def helper(x, k=4)", "loss"),
    "a default that is read elsewhere": ("k=3", "k=POWER + 2", "loss"),
    "a float": ("SCALE = 2.0", "SCALE = 2.5", "loss"),
    "a float that becomes an int": ("SCALE = 2.0", "SCALE = 2", "loss"),
    "an int": ("POWER = 2", "POWER = 3", "loss"),
    "a value of a closure": ("make(4)", "make(5)", "second"),
    "the dtype of a captured array": ("np.arange(3.0)", "np.arange(3, dtype=np.float32)", "loss"),
    "the functions in a list": ("[np.tanh, np.sin]", "[np.tanh, np.cos]", "loss"),
    "the length of a list": ("[np.tanh, np.sin]", "[np.tanh]", "loss"),
    "an item of a dict": ('{"a": 1', '{"a": 2', "loss"),
    "a key of a dict": ('"b": (2, 3)', '"c": (2, 3)', "loss"),
    "a member of an enumeration": ("WIDE = 2", "WIDE = 4", "loss"),
    "an attribute of a class": ("factor = 3", "factor = 4", "layer"),
    "a method": ("np.sum(self.w * x)", "np.sum(self.w + x)", "layer"),
    "a method of a base": ("return np.tanh(x)", "return np.sin(x)", "method"),
    "the bases of a class": ("class Model(Base):", "class Model(Base, object):", "method"),
    "an int of an object": ("self.steps = 2", "self.steps = 3", "method"),
    "a float of an object": ("self.rate = 0.1", "self.rate = 0.2", "method"),
    "how another one transforms": ("closure, wrt=0)", "closure, level='readable')", "second"),
    "what a partial holds": ("helper, k=2", "helper, k=3", "partial"),
    "a function": ("closure = make(4)", "closure = make(4); helper = lambda x, k=3: x", "partial"),
    "an optimiser": ("st.optim.Adam(0.1)", "st.optim.SGD(0.1)", "step"),
    "the rate of an optimiser": ("st.optim.Adam(0.1)", "st.optim.Adam(0.2)", "step"),
    "the loss of a step": ('(p["w"] * x) ** 2', '(p["w"] * x) ** 4', "step"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_compiled_anew(folder, change, tmp_path, monkeypatch):
    old, new, name = CHANGES[change]
    assert old in MODEL
    outcomes(Program(folder), name)
    text = MODEL.replace(old, new)
    found, compiled = outcomes(Program(folder, text), name)
    assert compiled == 1
    assert outcomes(Program(folder, text), name) == (found, 0), "it is cached as well"
    assert outcomes(Program(folder), name)[1] == 0, "and so is what was before"
    monkeypatch.setenv(cache.SWITCH, "0")
    assert outcomes(Program(folder, text), name) == (found, 1)


@pytest.mark.parametrize("name", ["cached_model", "statistics"])
@pytest.mark.parametrize("place", [".", "scipy", "numpy", "stcompile"])
def test_modules_that_are_called_like_libraries(folder, name, place, monkeypatch):
    monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    (folder / place).mkdir(exist_ok=True)
    found = [
        outcomes(Program(folder / place, MODEL.replace("x ** k + SCALE", new), name), "partial")
        for new in ("x ** k + SCALE", "x ** 2 * SCALE")
    ]
    assert [compiled for _, compiled in found] == [1, 1]
    assert found[0][0] != found[1][0]


def changed_call(program, change):
    f = program.loss.function
    if change == "level":
        return st.grad(f, level="readable")(X)
    if change == "memory":
        return st.grad(f, memory="1MB")(X)
    if change == "transform":
        return st.compile(f)(X)
    if change == "wrt":
        return st.grad(f, wrt=(0,))(X)
    if change == "dtype":
        return st.grad(f)(X.astype(np.float32))
    if change == "shape":
        return st.grad(program.closure)(np.ones((2, 3)))
    if change == "layout":
        return st.grad(program.closure)(np.ones((3, 2)).T)
    return st.grad(f)(X)


@pytest.mark.parametrize(
    "change",
    ["level", "memory", "transform", "wrt", "dtype", "shape", "layout", "numpy", "sources", "none"],
)
def test_what_is_asked_for_is_compiled_anew(folder, change, monkeypatch):
    program = Program(folder)
    changed_call(program, "none")
    st.grad(program.closure)(np.ones((3, 2)))
    if change == "numpy":
        monkeypatch.setattr(np, "__version__", np.__version__ + ".post1")
    if change == "sources":
        monkeypatch.setattr(installed, "_sources", lambda: ("another",))
    with st.timings() as spent:
        changed_call(Program(folder), change)
    assert len(spent.compilations) == (0 if change == "none" else 1)


def test_templates_in_c_are_sources_too():
    files = {Path(path).name for path, *_ in installed._sources()}
    assert {"dispatch.py", "elementwise.py", "functions.c"} <= files


def test_a_static_value_is_in_the_signature(folder):
    text = "import numpy as np\ndef f(x, n):\n    return np.sum(x) ** n\n"
    for n, compiled in ((2, 1), (3, 1), (2, 0), (True, 1), (2.0, 1), (3.0, 0)):
        with st.timings() as spent:
            st.grad(Program(folder, text).f)(X, n)
        assert len(spent.compilations) == compiled


# --- what is not cached --------------------------------------------------------------------------


def test_lengths_are_told_by_their_names_and_bounds(folder):
    text = (
        "import numpy as np\n"
        "def pair(x, y):\n    return np.sum(np.sin(x)) + np.sum(np.cos(y))\n"
        "def squeezed(x):\n    return np.sum(x) * np.squeeze(x[:-1]).ndim\n"
    )
    for lengths in (((8, 8), (9, 9)), ((8, 5), (9, 6)), ((7, 7), (6, 9))):
        gradient = st.grad(Program(folder, text).pair, (0, 1))
        for n, m in lengths:
            d_x, d_y = gradient(np.ones(n), np.zeros(m))
            np.testing.assert_array_equal(d_x, np.full(n, np.cos(1.0)))
            np.testing.assert_array_equal(d_y, np.zeros(m))
    program = Program(folder, text)
    compiled = st.compile(program.squeezed, dynamic=True)
    for n in (9, 7, 2, 3, 2):
        assert compiled(np.ones(n)) == program.squeezed(np.ones(n))


def test_what_cannot_be_verified_is_not_cached(folder):
    program = Program(folder)
    namespace: dict = {"np": np}
    text = "def f(x):\n    return np.sum(x)\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    exec(compile(text, "<cell 1>", "exec"), namespace)
    st.grad(namespace["f"])(X)
    st.grad(program.loss.function, debug_nans=True)(X)
    st.vjp(program.closure, X)
    assert st.cache_state().entries == 0


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        ("for name in {'a', 'b'}:\n        x = x * 2 + ord(name)", 0),
        ("for name in NAMES:\n        x = x * 2 + ord(name)", 0),
        ("x = x * [ord(name) for name in NAMES][0]", 0),
        ("x = x * ord(list({'a', 'b'})[0])", 0),
        ("x = x * ord(''.join(NAMES)[0])", 0),
        ("x = x * ord({'a', 'b'}.pop())", 0),
        ("for name in sorted(NAMES):\n        x = x * 2 + ord(name)", 1),
        ("x = x * len(NAMES) if 'a' in NAMES else x", 1),
        ("for n in {3, 4}:\n        x = x * 2 + n", 1),
        ("for n in {'a': 3, 'b': 4}.values():\n        x = x * 2 + n", 1),
    ],
)
def test_what_depends_on_hashes_of_text_is_not_cached(folder, body, entries):
    head = "import numpy as np\nNAMES = frozenset({'a', 'b'})\n"
    text = f"{head}def f(x):\n    {body}\n    return np.sum(x)\n"
    program = Program(folder, text)
    assert st.compile(program.f)(X) == program.f(X)
    assert st.cache_state().entries == entries


class Tally(dict):
    """Python code and more: a dict has contents that no attribute tells of."""

    total = 3


@pytest.mark.parametrize("held", [Tally(a=1), array.array("d", [1.0]), re.compile("a")])
def test_objects_with_contents_that_nothing_tells_are_not_cached(held):
    with pytest.raises(Untold):
        fingerprint(held)


def test_a_tangent_beside_other_results_is_another_function(folder):
    """`st.jvp` with `has_aux` was given the code for the same function without."""
    pair = lambda x: (np.sum(x**2), np.sum(x**3))  # noqa: E731
    assert len(st.jvp(pair, (X,), (X,))) == 2
    assert len(st.jvp(pair, (X,), (X,), has_aux=True)) == 3
    assert st.cache_state().entries == 2


def test_it_can_be_switched_off(folder, monkeypatch):
    for switch in ("0", "off"):
        monkeypatch.setenv(cache.SWITCH, switch)
        assert cache.cache_folder() is None
        outcomes(Program(folder), "layer")
    assert not (folder / "cache").exists()
    assert "switched off" in str(st.cache_state())


@pytest.mark.parametrize(
    ("platform", "named", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/data/cache"}, "/data/cache/stcompile/compiled"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/stcompile/compiled"),
        ("darwin", {}, "~/Library/Caches/stcompile/compiled"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/stcompile/compiled"),
    ],
)
def test_where_it_is_by_default(platform, named, expected, monkeypatch):
    monkeypatch.delenv(cache.SWITCH)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert cache.cache_folder() == Path(expected).expanduser()


# --- trouble -------------------------------------------------------------------------------------


def entries(folder):
    return sorted((folder / "cache").glob(f"*{SUFFIX}"))


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "swapped"])
def test_damaged_entries_are_dropped(folder, damage, caplog):
    program = Program(folder)
    value = program.of_method(X)
    (path,) = entries(folder)
    content = path.read_bytes()
    if damage == "swapped":  # a true entry of another function
        program.of_partial(X)
        (other,) = {*entries(folder)} - {path}
        content = other.read_bytes()
        other.unlink()
    elif damage == "foreign":  # one that says it is right, and would run code
        content = content[:-200] + b"\0" * 200
    elif damage == "flipped":
        content = content[:100] + bytes([content[100] ^ 255]) + content[101:]
    path.write_bytes(content[: {"cut": 300, "empty": 0}.get(damage)])
    with st.timings() as spent:
        found = Program(folder).of_method(X)
    assert repr(found) == repr(value)
    assert len(spent.compilations) == 1
    assert [r.levelname for r in caplog.records if r.name == "stcompile"].count("WARNING") == 1
    assert "damaged" in caplog.text
    with st.timings() as spent:
        Program(folder).of_method(X)
    assert not spent.compilations, "it was written anew"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX")
def test_a_folder_that_others_may_write_is_not_used(folder, caplog):
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    outcomes(Program(folder), "layer", "partial")
    assert not entries(folder)
    assert caplog.text.count("cannot be used") == 1, "said once"
    assert "other users" in st.cache_state().trouble


def test_the_state_says_why_nothing_is_cached(folder, monkeypatch):
    file = folder / "file"
    file.write_text("")
    for wrong, message in ((file, "is a file: name a folder"), (file / "cache", "file")):
        monkeypatch.setenv(cache.SWITCH, str(wrong))
        assert message in st.cache_state().trouble
        assert message in str(st.cache_state())
        assert st.clear_cache() == 0
    monkeypatch.setattr(
        "stcompile.base.private.tempfile.TemporaryFile", lambda **keywords: os.open("/no/such", 0)
    )
    monkeypatch.setenv(cache.SWITCH, str(folder / "cache"))
    assert "No such file" in st.cache_state().trouble
    assert not (folder / "cache").exists(), "what was made to try it is removed"


def test_a_full_disk_is_logged(folder, monkeypatch, caplog):
    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stcompile.base.private.write_whole", full)
    assert outcomes(Program(folder), "layer")[1] == 1
    assert "No space left" in caplog.text


def test_a_folder_that_cannot_be_made_is_logged(folder, monkeypatch, caplog):
    (folder / "file").write_text("")
    monkeypatch.setenv(cache.SWITCH, str(folder / "file" / "cache"))
    assert outcomes(Program(folder), "layer")[1] == 1
    assert "cannot be used" in caplog.text


def test_a_failure_of_the_cache_itself_stops_nothing(folder, monkeypatch, caplog):
    monkeypatch.setattr(cache, "packed", lambda *arguments: 1 / 0)
    assert outcomes(Program(folder), "layer")[1] == 1
    assert "ZeroDivisionError" in caplog.text


def test_the_oldest_entries_go_first(folder, monkeypatch):
    program = Program(folder)
    program.loss.value_and_grad(X)
    (first,) = entries(folder)
    os.utime(first, (1, 1))
    monkeypatch.setenv(cache_files.SIZE, str(first.stat().st_size + 1000))
    program.of_partial(X)
    assert first not in entries(folder)
    assert len(entries(folder)) == 1
    assert st.clear_cache() == 1
    assert st.cache_state().entries == 0


# --- what is linked is as good as what is compiled -----------------------------------------------


def test_the_source_is_seen(folder):
    text = Program(folder).loss.source(X)
    program = Program(folder)
    with st.timings() as spent:
        program.loss.value_and_grad(X)
        function = program.loss.compile(X)
        assert program.loss.source(X) == text
        assert inspect.getsource(function).splitlines()[0].strip() in text
        assert not spent.compilations
        assert "program loss_value_and_grad" in str(program.loss.value_and_grad.program(X))
        assert len(spent.compilations) == 1, "for its program it is compiled"
        program.loss.value_and_grad.memory(X)
        assert len(spent.compilations) == 1


def test_errors_name_the_line(folder):
    text = """
    import numpy as np
    def f(x):
        y = np.linalg.inv(x)
        return np.sum(y)
    """
    for compiled in (1, 0):
        with st.timings() as spent:
            f = st.grad(Program(folder, textwrap.dedent(text)).f)
            with pytest.raises(np.linalg.LinAlgError) as caught:
                f(np.zeros((2, 2)))
        assert len(spent.compilations) == compiled
        said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert "y = np.linalg.inv(x)" in said


def test_warnings_come_again(folder):
    text = "import numpy as np\ndef f(x):\n    return np.sum(x * np.float64(2))\n"
    said = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            st.grad(Program(folder, text).f)(X.astype(np.float32))
        said.append([(str(w.message), w.category, w.lineno) for w in caught])
    assert said[0]
    assert said[0] == said[1]


def test_captured_values_are_followed_afterwards(folder):
    Program(folder).loss.value_and_grad(X)
    program = Program(folder)
    with st.timings() as spent:
        before = program.loss.value_and_grad(X)[0]
        program.module.SCALE = 3.0
        for _ in range(3):
            assert program.loss.value_and_grad(X)[0] == pytest.approx(before + 3 * 4)
        assert not spent.compilations
        program.module.POWER = 5
        assert program.loss.value_and_grad(X)[0] == pytest.approx(before + 3 * 4 + 3)
        assert len(spent.compilations) == 1


# --- real processes ------------------------------------------------------------------------------

SCRIPT = """
import sys
import numpy as np
import stcompile as st

def f(x):
    return np.sum(np.tanh(x @ x) * SCALE)

SCALE = 0.5
with st.timings() as spent:
    print(repr(st.value_and_grad(f)(np.linspace(0, 1, 16).reshape(4, 4))))
print(len(spent.compilations), file=sys.stderr)
"""


def run(folder):
    path = folder / "script.py"
    path.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_at_once(folder):
    both = [run(folder) for _ in range(2)]
    said = [process.communicate() for process in both]
    assert said[0][0] == said[1][0] != ""
    assert {err.strip() for _, err in said} <= {"0", "1"}
    assert run(folder).communicate() == (said[0][0], "0\n")
    assert {path.name for path in (folder / "cache").iterdir()} == {
        KEY, *(path.name for path in entries(folder))
    }  # fmt: skip


def test_first_calls_in_many_threads(folder):
    """One thread compiles or loads, the others wait for it."""
    for compiled in (1, 0):
        program = Program(folder)
        told, values, failures = [], [], []

        def work(program=program):
            try:
                with st.on_compile(told.append):
                    values.append(repr(program.of_method(X)))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert [made.cached for made in told] == [not compiled]
        assert len(values) == 8 and len({*values}) == 1
    assert st.cache_state().entries == 1
