"""Computation graphs: levels, what waits for what, and the table."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as hypothesis

import stcompile as st
from stcompile.reports.graph.model import Graph, Node, graph_of
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program, Variable
from tests.fuzz.control import program as control_program
from tests.fuzz.generate import function_of, sources
from tests.programs import totalled
from tests.reports.graphs import loss, program_of, worked


def parsed(*lines: str, inputs: str = "x: float, y: float", returned: str = "v1") -> Graph:
    return graph_of(program_of(*lines, inputs=inputs, returned=returned))


def texts(graph: Graph) -> list[list[str]]:
    return [[node.text for node in level] for level in graph.levels]


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
    assert node.line.startswith("graphs.py:")


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
