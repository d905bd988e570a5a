"""Computation graphs: levels, what waits for what, the table, and the drawing."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as hypothesis

import stcompile as st
from stcompile.base.extras import MissingExtraError
from stcompile.reports.graph import drawing
from stcompile.reports.graph.drawing import Arrow, Box
from stcompile.reports.graph.layered import Way, laid_out
from stcompile.reports.graph.model import DRAWN, Graph, Node, graph_of
from stcompile.reports.graph.notation import (
    FUNCTIONS,
    JOINED,
    OUTER,
    PART,
    PATTERNS,
    TIMES,
    TRANSPOSED,
    WRITE,
    right_side,
    symbol,
)
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.text import parse_program
from tests.fuzz.control import program as control_program
from tests.fuzz.generate import function_of, sources
from tests.programs import totalled

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@st.differentiable(wrt=("x1", "x2"))
def worked(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


def parsed(*lines: str, inputs: str = "x: float, y: float", returned: str = "v1") -> Graph:
    return graph_of(program_of(*lines, inputs=inputs, returned=returned))


def program_of(*lines: str, inputs: str, returned: str) -> Program:
    return parse_program("\n".join([f"program f({inputs}) {{", *lines, f"return {returned}", "}"]))


def texts(graph: Graph) -> list[list[str]]:
    return [[node.text for node in level] for level in graph.levels]


def graphs_in(graph: Graph) -> list[Graph]:
    """A graph, and all those inside."""
    inner = [g for node in graph.nodes for g in node.inner.values()]
    return [graph, *itertools.chain.from_iterable(map(graphs_in, inner))]


# --- levels --------------------------------------------------------------------------------------


def test_levels_of_the_worked_example() -> None:
    graph = worked.graph(2.0, 5.0)
    assert texts(graph) == [
        ["x1", "x2"],
        ["v1 = ln(x1)", "v2 = x1 · x2", "v4 = sin(x2)"],
        ["v3 = v1 + v2"],
        ["v5 = v3 − v4"],
        ["return v5"],
    ]
    assert (graph.depth, graph.width) == (3, 3)
    assert [node.names for node in graph.critical_path] == [("v1",), ("v3",), ("v5",)]


def test_levels_with_the_adjoint() -> None:
    graph = worked.graph(2.0, 5.0, adjoint=True)
    assert [[node.text for node in level] for level in graph.levels[1:4]] == [
        ["v1 = ln(x1)", "v2 = x1 · x2", "v4 = sin(x2)", "v5 = cos(x2)", "v6 = 1 / x1"],
        ["v3 = v1 + v2", "d_x2 = x1 − v5", "d_x1 = x2 + v6"],
        ["value = v3 − v4"],
    ]
    adjoints = {n.names[0] for n in graph.equations if n.section == "adjoint"}
    assert adjoints == {"v5", "v6", "d_x1", "d_x2"}
    assert graph["d_x1"].line.endswith(", adjoint")
    assert not graph["v1"].line.endswith(", adjoint")


def test_a_node_knows_all_of_its_equation() -> None:
    node = worked.graph(2.0, 5.0)["v2"]
    assert (node.primitive, node.symbol, node.type, node.level) == ("multiply", "·", "float", 1)
    assert node.location is not None and "np.log(x1) + x1 * x2" in node.location.text
    assert node.line.startswith("test_graph.py:")


def test_edges_have_the_order_of_operands() -> None:
    graph = worked.graph(2.0, 5.0)
    into = [(e.source.names[0], e.operand) for e in graph.edges if e.target is graph["v5"]]
    assert into == [("v3", 0), ("v4", 1)]


def test_an_operand_that_comes_twice_has_two_edges() -> None:
    graph = parsed("v1: float = multiply(x, x)", inputs="x: float")
    assert [(e.variable, e.operand) for e in graph.edges] == [("x", 0), ("x", 1), ("v1", 0)]


def test_constants_are_no_nodes() -> None:
    graph = parsed("v1: float = multiply(2.0, x)", inputs="x: float", returned="v1, 0.5")
    assert texts(graph) == [["x"], ["v1 = 2 · x"], ["return v1, 0.5"]]
    assert [(e.variable, e.operand) for e in graph.edges] == [("x", 1), ("v1", 0)]


def test_a_chain_and_a_tree() -> None:
    def chain(x):
        for _ in range(8):
            x = np.sin(x)
        return x

    def tree(x):
        values = [np.sin(x[k]) for k in range(8)]
        while len(values) > 1:
            values = [a * b for a, b in zip(values[::2], values[1::2])]
        return values[0]

    one = st.differentiable(chain).graph(0.5)
    assert (one.depth, one.width) == (8, 1)
    other = st.differentiable(tree).graph(np.ones(8))
    assert [len(level) for level in other.levels] == [1, 8, 8, 4, 2, 1, 1]
    assert (other.depth, other.width) == (5, 8)


def test_what_reads_nothing_can_be_done_at_once() -> None:
    graph = parsed(
        "v1: i64[3] = arange(; dtype=i64, start=0, step=1, stop=3)",
        "v2: float = sin(x)",
        "v3: float = sin(v2)",
        inputs="x: float",
        returned="v1, v3",
    )
    assert [node.level for node in graph.equations] == [1, 1, 2]


def test_programs_without_equations_or_inputs() -> None:
    assert texts(parsed(inputs="x: float", returned="x")) == [["x"], ["return x"]]
    graph = parsed(inputs="", returned="1.5")
    assert texts(graph) == [[], ["return 1.5"]]
    assert (graph.depth, graph.width, graph.critical_path) == (0, 0, ())
    assert "0 equations in 0 levels" in str(graph)


def test_the_value_is_immutable_and_equal_to_its_like() -> None:
    graph = worked.graph(2.0, 5.0)
    assert graph == worked.graph(3.0, 1.0) != worked.graph(2.0, 5.0, adjoint=True)
    for part in (graph, graph.nodes[0], graph.edges[0]):
        with pytest.raises(AttributeError):
            part.name = "other"
    with pytest.raises(TypeError):
        graph.nodes[0].inner["body"] = graph
    assert {graph.nodes[0]: 1}[worked.graph(2.0, 5.0).nodes[0]] == 1
    with pytest.raises(KeyError, match="v99"):
        graph["v99"]


# --- effects and writes --------------------------------------------------------------------------


def test_effects_keep_their_order() -> None:
    def f(x, y):
        print("first", x)
        a = np.sin(x)
        print("second", y)
        return a * y

    graph = st.differentiable(f).graph(1.0, 2.0)
    first, second = (node for node in graph.equations if node.effects)
    assert (first.level, second.level) == (1, 2), "they share no operand"
    (edge,) = (e for e in graph.edges if e.operand is None and e.target is second)
    assert edge.source is first
    assert graph.nodes[-1].kind == "output" and graph.nodes[-1].level == 3


def test_a_store_waits_for_those_who_read_the_old_contents() -> None:
    graph = parsed(
        "v1: f64[2] = transpose(w; axes=(0,))",  # a view
        "v2: f64[2] = sin(w)",
        "store(w, x) !write",
        "v3: f64[2] = cos(v1)",  # reads what was stored
        inputs="w: f64[2], x: f64[2]",
        returned="v2, v3",
    )
    store = next(node for node in graph.equations if node.primitive == "store")
    assert store.level == 2 and graph["v2"].level == 1 and graph["v3"].level == 3
    assert store.text == "w ← x"


def loss(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    top = params["W2"][:3] * 2.0
    return st.nn.softmax_cross_entropy(h @ params["W2"] + np.mean(top), y)


def training_step(optimizer: Any, level: str) -> tuple[Program, list[Any]]:
    rng = np.random.default_rng(1)
    params = {
        "W1": rng.standard_normal((5, 4)),
        "b1": np.zeros(4),
        "W2": rng.standard_normal((4, 3)),
    }
    x, y = rng.standard_normal((6, 5)), np.arange(6) % 3
    step = st.train_step(loss, optimizer, wrt="params", level=level)
    bound = step.bind((params, x, y), {})
    staged = step.specialise(bound).staged
    values = {**params, "x": x, "y": y}
    given = [values.get(v.name) for v in staged.program.inputs[:5]]
    state = [
        np.zeros(v.type.dims, v.type.dtype) for v in staged.program.inputs[5 : -len(staged.hidden)]
    ]
    return staged.program, [*given, *state, *(h.read() for h in staged.hidden)]


@pytest.mark.parametrize("level", ["fast", "readable"])
@pytest.mark.parametrize("optimizer", [st.optim.SGD(0.1), st.optim.Adam(0.1)])
def test_a_training_step_in_another_order(optimizer: Any, level: str) -> None:
    """What is done in the order of the levels, each in any order, changes parameters alike."""
    program, values = training_step(optimizer, level)
    check_schedules(program, values)
    graph = graph_of(program)
    sections = {node.section for node in graph.equations}
    assert sections == {"forward", "adjoint", "update"}
    assert any(node.primitive == "store" for node in graph.equations)


def test_a_parameter_that_is_read_late_is_stored_later() -> None:
    """Its new value is known long before."""

    def late(w, b, x):
        for _ in range(6):
            b = np.sin(b)
        return np.sum(w * x) + np.sum(b) + np.sum(w > b)

    step = st.train_step(late, st.optim.SGD(0.5), wrt=("w", "b"))
    values = [np.array([0.3, 0.8]), np.array([0.5, 2.0]), np.array([1.0, -2.0])]
    program = step.program(*values)
    check_schedules(program, [*values, 0.5])
    graph = graph_of(program)
    store = next(node for node in graph.equations if node.text.startswith("w ←"))
    assert graph["w.1"].level < graph_level_of(graph, "greater") < store.level


def graph_level_of(graph: Graph, primitive: str) -> int:
    (node,) = (node for node in graph.equations if node.primitive == primitive)
    return node.level


def test_a_graph_of_a_step_and_of_a_gradient() -> None:
    params = {"W1": np.ones((5, 4)), "b1": np.zeros(4), "W2": np.ones((4, 3))}
    arguments = params, np.ones((6, 5)), np.arange(6) % 3
    step = st.train_step(loss, st.optim.SGD(0.1))
    assert step.graph(*arguments).name == "loss_step"
    gradient = st.grad(loss)
    assert gradient.graph(*arguments) == graph_of(gradient.program(*arguments))


# --- control flow --------------------------------------------------------------------------------


def test_a_branch_is_one_node() -> None:
    def f(x, y):
        return math.sin(x) * y if x > 0 else y

    graph = st.differentiable(f).graph(1.0, 2.0)
    (node,) = (n for n in graph.nodes if n.inner)
    assert (node.primitive, node.symbol) == ("cond", "if")
    assert set(node.inner) == {"then", "otherwise"}
    assert "math.sin" not in {n.primitive for n in graph.nodes}
    assert [n.primitive for n in node.inner["then"].equations] == ["math.sin", "multiply"]
    assert node.inner["otherwise"].equations == ()
    assert "\n  then of " in str(graph) and "\n  otherwise of " in str(graph)


def test_a_loop_is_one_node() -> None:
    def f(x, s):
        for _ in range(20):
            x = np.sin(x) * np.cos(x) + s
        return x

    plain = st.differentiable(f)
    (node,) = (n for n in plain.graph(1.0, 2.0).nodes if n.inner)
    assert (node.primitive, node.symbol) == ("loop", "for")
    assert [len(level) for level in node.inner["body"].levels[1:]] == [2, 1, 1, 1]
    adjoint = plain.graph(1.0, 2.0, adjoint=True)
    loops = [n.section for n in adjoint.nodes if n.primitive == "loop"]
    assert loops == ["forward", "adjoint"]


def test_a_while_loop_has_a_condition_and_a_body() -> None:
    def f(x):
        while x > 1:
            if x > 10:
                x = x / 3
            x = x / 2
        return x

    (node,) = (n for n in st.differentiable(f).graph(50.0).nodes if n.inner)
    assert (node.symbol, set(node.inner)) == ("while", {"body", "condition"})
    assert any(n.symbol == "if" for n in node.inner["body"].nodes), "graphs nest"


# --- random programs -----------------------------------------------------------------------------


def reads(program: Program) -> dict[int, set[int]]:
    """Of each node which others it reads: from the list, not from the edges."""
    maker: dict[Variable, int] = {v: at for at, v in enumerate(program.inputs)}
    found: dict[int, set[int]] = {at: set() for at in range(len(program.inputs))}
    for at, equation in enumerate(program.equations, len(program.inputs)):
        found[at] = {maker[v] for v in equation.variables}
        maker.update(dict.fromkeys(equation.outputs, at))
    found[len(found)] = {maker[a] for a in program.outputs if isinstance(a, Variable)}
    return found


def check_graph(program: Program) -> None:
    """Levels are longest paths, and no path leads from a node to another one of its level."""
    graph, sources = graph_of(program), reads(program)
    drawn: dict[int, set[int]] = {node.index: set() for node in graph.nodes}
    for edge in graph.edges:
        drawn[edge.target.index].add(edge.source.index)
    longest: dict[int, int] = {}
    above: dict[int, set[int]] = {}
    for node in graph.nodes:
        assert sources[node.index] <= drawn[node.index]
        before = drawn[node.index]
        above[node.index] = before.union(*(above[b] for b in before))
        start = 0 if node.kind == "input" else 1
        longest[node.index] = max((1 + longest[b] for b in before), default=start)
    assert [node.level for node in graph.nodes] == list(longest.values())
    assert [node.index for node in graph.nodes] == list(range(len(graph.nodes)))
    for level in graph.levels:
        for one, other in itertools.permutations(level, 2):
            assert one.index not in above[other.index], f"{other} depends on {one}"
    assert len(graph.critical_path) == graph.depth
    for inner in program.equations:
        for name, value in inner.params.items():
            if isinstance(value, Program) and name != "adjoint":
                check_graph(value)


def check_schedules(program: Program, values: list[Any], seeds: int = 5) -> None:
    """A program gives the same bits if each level is done in any order."""

    def run(order: list[Node]) -> tuple[Any, ...]:
        first = len(program.inputs)
        equations = tuple(program.equations[node.index - first] for node in order)
        moved = Program(program.name, program.inputs, equations, program.outputs)
        given = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        results = evaluate(moved, *given)
        return tuple(np.asarray(r).tobytes() for r in (*results, *given))

    nodes = list(graph_of(program).equations)
    expected = run(nodes)
    for seed in range(seeds):
        shuffled = list(nodes)
        random.Random(seed).shuffle(shuffled)
        shuffled.sort(key=lambda node: node.level)
        assert run(shuffled) == expected


X = np.array([[0.3, -0.7, 0.9], [1.1, 0.2, -0.4]])
Y = np.array([0.5, -0.25, 0.8])


@given(sources({"x": X, "y": Y}))
def test_random_programs(source: str) -> None:
    note(source)
    function = function_of(source)
    total = totalled(function, function(X, Y))
    for transformed in (
        st.differentiable(total).primal,
        st.value_and_grad(total, wrt=(0, 1)),
    ):
        staged = transformed.specialise(transformed.bind((X, Y), {})).staged
        check_graph(staged.program)
        captured = [hidden.read() for hidden in staged.hidden]
        check_schedules(staged.program, [X, Y, *captured], seeds=2)


@given(hypothesis.integers(0, 10_000))
def test_random_programs_with_control_flow(seed: int) -> None:
    source, args = control_program(seed)
    note(source)
    function = function_of(source)
    try:
        program = st.differentiable(function).wengert(*args)
    except st.StcompileError:
        return
    check_graph(program)
    str(graph_of(program))


# --- as mathematics writes them ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "written"),
    [
        ("v: float = subtract(x, -0.5)", "− in x − (-0.5)"),
        ("v: float = power(x, 2)", "^ in x^2"),
        ("v: float = negative(x)", "− in −x"),
        ("v: float = absolute(x)", "|| in |x|"),
        ("v: float = math.log(x)", "ln in ln(x)"),
        ("v: float = math.atan2(x, y)", "arctan2 in arctan2(x, y)"),
        ("v: f64 = sqrt(x)", "√ in √x"),
        ("v: f64 = floor(x)", "⌊⌋ in ⌊x⌋"),
        ("v: bool = greater_equal(x, y)", "≥ in x ≥ y"),
        ("v: bool = equal(x, y)", "== in x == y"),
        ("v: f64 = maximum(x, 0)", "max in max(x, 0)"),
        ("v: f32 = cast(x; dtype=f32)", "f32 in f32(x)"),
        ("v: float = to_python(x; dtype=f64)", "float in float(x)"),
        ("v: f64 = sum(a; axis=(0, 1), keepdims=False)", "Σ in Σ(a)"),
        ("v: f64[3] = sum(a; axis=(0,), keepdims=False)", "Σ in Σ(a, axis=0)"),
        ("v: i64 = argmax(a; axis=None, keepdims=False)", "argmax in argmax(a)"),
        ("v: f64[3,2] = transpose(a; axes=(1, 0))", "ᵀ in aᵀ"),
        ("v: f64[3] = slice(a; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))",
         "[] in a[1]"),
        ("v: f64[2,2] = slice(a; drop=(), length=(2, 2), start=((0,), (1,)), step=(1, 1))",
         "[] in a[:, 1:3]"),
        ("v: f64[2,2] = slice(a; drop=(), length=(2, 2), start=((0,), (0,)), step=(1, 2))",
         "[] in a[:, 0:3:2]"),
        ("v: f64[3] = slice(a, k; drop=(0,), length=(1, 3), start=((1, 2), (0, 0)), step=(1, 1))",
         "[] in a[2 k + 1]"),
        ("v: f64[2,3] = update(a, x; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))",
         "[] ← in a[1] ← x"),
        ("v: f64[3] = index(a, k; at=('index',))", "[] in a[k]"),
        ("v: f64[2,3] = accumulate(a, b; op='add')", "+ in a + b"),
        ("v: f64[2,3] = accumulate(a, x, k; at=('index',), op='index')", "[] + in a[k] + x"),
        ("v: f64[2,3] = full(0.0; dtype=f64, shape=(2, 3))", "full in full(0)"),
        ("v: b8 = or(p, p)", "∨ in p ∨ p"),
    ],
)  # fmt: skip
def test_notation(equation: str, written: str) -> None:
    inputs = "x: float, y: float, a: f64[2,3], b: f64[2,3], k: int, p: b8"
    (found,) = program_of(equation, inputs=inputs, returned="v").equations
    assert f"{symbol(found)} in {right_side(found)}" == written


MATRICES = {"a": "f64[3,3]", "b": "f64[3,3]", "c": "f64[3]", "d": "f64[3]"}


@pytest.mark.parametrize(("x", "y"), list(itertools.product(MATRICES, repeat=2)))
def test_contractions_are_written_as_what_they_are(x: str, y: str) -> None:
    """What is written, with ᵀ read as a transpose, is what the equation gives."""
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((3,) * (2 - (name > "b"))) for name in MATRICES]
    names = dict(zip(MATRICES, values, strict=True))
    ndims = names[x].ndim, names[y].ndim
    for pairs in [(), *(((i, j),) for i in range(ndims[0]) for j in range(ndims[1]))]:
        left = sum(ndims) - 2 * len(pairs)
        for order in {(), tuple(range(left))[::-1]} if left == 2 else {()}:
            dims = f"[{','.join(['3'] * left)}]" if left else ""
            program = program_of(
                f"v: f64{dims} = contract({x}, {y}; batch=(), contracted={pairs}, order={order}, "
                "spelling='')",
                inputs=", ".join(f"{name}: {type}" for name, type in MATRICES.items()),
                returned="v",
            )
            written = right_side(program.equations[0])
            (expected,) = evaluate(program, *values)
            if written.startswith(("@(", "⊗(")) or (not pairs and max(ndims) > 1):
                continue
            code = written.replace("ᵀ", ".T")
            if "⊗" in code:
                code = f"({code.strip('().T')})".replace(" ⊗ ", ",")
                found = np.outer(*eval(code, names))
                found = found.T if order == (1, 0) else found
            else:
                found = eval(code, names)
            np.testing.assert_allclose(found, expected, err_msg=written)


def test_every_primitive_in_the_tables_exists() -> None:
    assert set(PATTERNS) <= set(PRIMITIVES)


# --- the table -----------------------------------------------------------------------------------


def test_the_table_is_in_columns() -> None:
    text = str(worked.graph(2.0, 5.0))
    assert text == repr(worked.graph(2.0, 5.0))
    head, *rows, path = text.splitlines()
    assert head == "graph of worked: 5 equations in 3 levels, at most 3 side by side"
    assert path == "critical path: v1 → v3 → v5"
    bars = {tuple(i for i, c in enumerate(row) if c in "│┼") for row in rows}
    assert len(bars) == 1
    assert [row.split("│")[1].strip() for row in rows if "│" in row] == [
        *["width", "2", "", "3", "", "", "1", "1", ""]
    ]


# --- the drawing ---------------------------------------------------------------------------------


def labels(svg: str) -> list[str]:
    """The texts of a drawing, which also have to be well-formed XML."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("adjoint", [False, True])
def test_the_drawing_has_all_labels(adjoint: bool) -> None:
    graph = worked.graph(2.0, 5.0, adjoint=adjoint)
    svg = graph.svg()
    found = labels(svg)
    for node in graph.nodes:
        assert node.text in found
    assert sorted(set(found) - {n.text for n in graph.nodes}) == sorted(
        {"f64", "float", *(("forward", "adjoint") if adjoint else ())}
    )
    colour = drawing.COLOURS["adjoint"][0]
    assert (colour in svg) == adjoint


def test_labels_of_any_text_are_drawn() -> None:
    boxes = [
        Box('$a_b$ < c & "d"', "<é>", 0, "input"),
        Box("v" * 50, "", 1, "update"),
    ]
    found = labels(drawing.draw(boxes, [Arrow(0, 1, "update", True)], "<title> & so on"))
    assert boxes[0].label in found and boxes[0].below in found
    assert "v" * (drawing.LONGEST - 1) + "…" in found
    assert drawing.ORDER in found


def test_the_font_has_every_sign() -> None:
    """Else matplotlib warns, and widths are those of a placeholder."""
    signs = [*PATTERNS.values(), *FUNCTIONS.values(), *JOINED.values()]
    signs += [TIMES, OUTER, TRANSPOSED, PART, WRITE, "…"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            labels(drawing.draw([Box(sign, "", 0, "forward") for sign in signs], [], "")) == signs
        )


DRAW = """
import sys
sys.path[:0] = sys.argv[1:]
import numpy as np
import stcompile as st
from tests.reports.test_graph import worked
sys.stdout.reconfigure(encoding="utf-8", newline="\\n")
sys.stdout.write(worked.graph(2.0, 5.0, adjoint=True).svg())
"""


def test_the_drawing_is_the_same_to_the_byte(tmp_path: Path) -> None:
    """In other processes, with other hash seeds, and whatever the user's own settings are."""
    expected = worked.graph(2.0, 5.0, adjoint=True).svg()
    assert expected == worked.graph(2.0, 5.0, adjoint=True).svg()
    assert "dc:date" not in expected
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 30\nsvg.fonttype: path\nsavefig.facecolor: red\n")
    for seed, file in (("1", ""), ("2", str(settings))):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "MATPLOTLIBRC": file}
        if not file:
            del environment["MATPLOTLIBRC"]
        done = subprocess.run(
            [sys.executable, "-c", DRAW, str(ROOT)],
            env=environment, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected


def test_labels_do_not_overlap() -> None:
    """Texts are inside their boxes, boxes apart, inputs on the left and the output on the right."""
    params = {"W1": np.ones((5, 4)), "b1": np.zeros(4), "W2": np.ones((4, 3))}
    step = st.train_step(loss, st.optim.SGD(0.1))
    for graph in (
        worked.graph(2.0, 5.0),
        worked.graph(2.0, 5.0, adjoint=True),
        step.graph(params, np.ones((6, 5)), np.arange(6) % 3),
    ):
        places = boxes_of(graph)
        assert len(places) == len(graph.nodes)
        for one, other in itertools.combinations(places.values(), 2):
            assert not one.overlaps(other), "boxes overlap"
        for node in graph.nodes:
            for edge in graph.edges:
                if edge.target is node:
                    assert places[edge.source].x1 < places[node].x0, "arrows lead to the right"
        ends = [places[node].x1 for node in graph.nodes]
        assert ends[-1] == max(ends)


def boxes_of(graph: Graph) -> dict[Node, Any]:
    """The extents of the boxes, each with its texts inside, as matplotlib draws them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import FancyBboxPatch

    figures = []
    original = drawing._Drawing.svg

    def kept(self: Any, title: str) -> str:
        figures.append(self)
        return original(self, title)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing._Drawing, "svg", kept)
        graph.svg()
    (made,) = figures
    made.figure.dpi = 72
    renderer = FigureCanvasAgg(made.figure).get_renderer()
    patches = [p for p in made.axes.patches if isinstance(p, FancyBboxPatch)]
    extents = [p.get_window_extent(renderer) for p in patches]
    written = [t for t in made.axes.texts if t.get_text() not in (*drawing.COLOURS, drawing.ORDER)]
    for text in written:
        inner = text.get_window_extent(renderer)
        around = [e for e in extents if e.x0 <= inner.x0 and inner.x1 <= e.x1
                  and e.y0 <= inner.y0 + 2 and inner.y1 <= e.y1 + 2]  # fmt: skip
        assert len(around) == 1, f"{text.get_text()} is not inside one box"
    return dict(zip(graph.nodes, extents, strict=True))


def test_edges_are_bent_around_nodes() -> None:
    """An edge over several columns has a place of its own in each; those of a track share it."""
    ways = [Way(0, 1, "a"), Way(1, 2, "a"), Way(2, 3, "a"), Way(0, 3, "a"), Way(0, 2, "a")]
    layout = laid_out([0, 1, 2, 3], ways)
    assert len(layout.places) == 6, "two bends, shared by the edges from 0"
    assert len(set(layout.places)) == 6
    assert all(layout.places[b][0] == layout.places[a][0] + 1 for a, b, _ in layout.hops)
    apart = laid_out([0, 1, 2, 3], [*ways[:3], Way(0, 3, "a"), Way(0, 2, "b")])
    assert len(apart.places) == 7


def test_crossings_are_removed() -> None:
    """Two chains that start crossed are drawn apart."""
    ways = [Way(0, 3, ""), Way(1, 2, ""), Way(2, 4, ""), Way(3, 5, "")]
    rows = [row for _, row in laid_out([0, 0, 1, 1, 2, 2], ways).places]
    assert (rows[0] < rows[1]) == (rows[3] < rows[2]) == (rows[5] < rows[4])


# --- where a library is missing, and files -------------------------------------------------------


@pytest.fixture
def without_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    original = importlib.import_module

    def imported(name: str, *rest: Any) -> Any:
        if name.split(".")[0] in ("igraph", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)


@pytest.mark.usefixtures("without_extras")
def test_without_the_libraries_there_is_a_hint_and_the_text(tmp_path: Path) -> None:
    graph = worked.graph(2.0, 5.0)
    with pytest.raises(MissingExtraError) as caught:
        graph.svg()
    assert str(caught.value) == (
        "drawing a graph needs matplotlib, which is not installed\n"
        'hint: python -m pip install "stcompile[graph]"'
    )
    with pytest.raises(MissingExtraError):
        graph.save(tmp_path / "graph.svg")
    assert list(tmp_path.iterdir()) == []
    assert graph._repr_svg_() is None, "a notebook shows the text instead"
    assert "critical path" in repr(graph)


def test_the_libraries_are_imported_when_something_is_drawn() -> None:
    names = ("igraph", "matplotlib")
    code = f"import sys\nfor n in {names!r}: sys.modules[n] = None\nimport stcompile"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_notebook_draws_what_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = worked.graph(2.0, 5.0)
    assert graph._repr_svg_() == graph.svg()
    large = Graph("large", graph.nodes * (DRAWN // 5), graph.edges)
    monkeypatch.setattr(Graph, "svg", lambda self: pytest.fail("it is drawn"))
    assert large._repr_svg_() is None


def test_files_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, file = worked.graph(2.0, 5.0), tmp_path / "graph.svg"
    graph.save(file)
    assert file.read_text(encoding="utf-8") == graph.svg()

    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(st.ExportError, match="No space left"):
        worked.graph(2.0, 5.0, adjoint=True).save(file)
    assert file.read_text(encoding="utf-8") == graph.svg(), "the old file is there"
    assert [path.name for path in tmp_path.iterdir()] == ["graph.svg"]


def test_files_of_other_kinds_and_folders_are_refused(tmp_path: Path) -> None:
    graph = worked.graph(2.0, 5.0)
    with pytest.raises(st.ArgumentsError, match="has another ending"):
        graph.save(tmp_path / "graph.png")
    with pytest.raises(st.ExportError, match="cannot be written"):
        graph.save(tmp_path / "nowhere" / "graph.svg")
    assert list(tmp_path.iterdir()) == []
