"""Rendered source parses back to the same tree, reads well, and keeps to the width."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stcompile.code.lines import break_line
from stcompile.code.render import quoted, render
from tests.emit.random_trees import Grower

ROOT = Path(__file__).resolve().parents[2]

AS_WRITTEN = [
    "return x, y",
    "return (x,)",
    "a, b = c",
    "a, b = c, d",
    "(a,) = b",
    "pair = (a, b)",
    "x = (1,)",
    "x = ()",
    "x[1:2, None]",
    "x[1,]",
    "x[()]",
    "x[..., None]",
    "x[:, 0:196]",
    "x[::-1]",
    "x[i + 1 :, ::2, : n.b, 2 * i : 2 * (i + 1), -1:]",
    "x[(1, 2) : 3]",
    "x[*a, b]",
    "-x ** 2",
    "(-x) ** 2",
    "x * -1",
    "x ** -1",
    "2.0 ** -x",
    "a ** b ** c",
    "(a ** b) ** c",
    "a + (b + c)",
    "a - (b - c) * d",
    "a @ b.T",
    "a @ (b @ c)",
    "not a == b",
    "(not a) == b",
    "a < b <= c",
    "(a < b) < c",
    "a and (b or c)",
    "y = 1e-07",
    "y = 1j * x",
    "(1).real",
    "f = a if b else c",
    "(a if b else c) + 1",
    "lambda: 0",
    "lambda x, *, y=1: x + y",
    "f(lambda x: x, *(a + b), key=lambda: 0, **options)",
    "f(x for x in y)",
    "[a + b for a, b in x if a if not b]",
    "{a + b: c for a in x}",
    'd = {"a": 1, **k, a + b: c}',
    "{**(a or b)}",
    's = "plain"',
    's = "it\'s"',
    "s = 'say \"x\"'",
    's = "a\\nb"',
    's = b"bytes"',
    'print(f"{x:.3f} {y!r} {{z}}")',
    'f"{x[\'a\']} it\'s \\n \\"q\\" {{{y:>{w}}}}"',
    "x += a * b",
    "x: int | str = 3",
    'assert x > 0, "message"',
    'raise ValueError("x")',
    "del a, b",
    "from a import b as c, d",
    "for i in range(3):\n    x += i",
    "for i, (a, b) in (x, y):\n    pass",
    "with a as b, c:\n    pass",
    "if a:\n    b\nelif c:\n    d\nelse:\n    e",
    "while not a:\n    break",
    'def f(a: int | str, *, b=1) -> int | str:\n    """Says what."""\n    return a',
    'def f():\n    """Says what.\n\n    And more.\n    """\n    return a',
    "@g.h(1)\ndef f(a, /, b):\n    return a",
    "def f():\n    x = 1\n\n    def g():\n        return x\n\n    return g",
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_comes_out_as_written(text: str) -> None:
    assert "\n".join(render(ast.parse(text).body[0])) == text


def test_expression() -> None:
    assert render(ast.parse("a + b", mode="eval").body) == ["a + b"]
    assert render(ast.parse("a, b", mode="eval").body, indent=4) == ["    (a, b)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "-1"),
        (-0.0, "-0.0"),
        (1 - 2j, "1.0 - 2j"),
        (complex(-0.0, -1), "-1j"),
        (complex(-0.0, 1), "-(0.0 - 1j)"),
        (complex(-3, 1), "-3.0 + 1j"),
        (-2j, "-2j"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), '-float("inf")'),
        (float("nan"), 'float("nan")'),
        (1e-07, "1e-07"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_constants_without_a_literal(value: Any, text: str) -> None:
    node: ast.expr = ast.Constant(value)
    assert render(node) == [text]
    # A minus binds less than a power.
    power = ast.BinOp(node, ast.Pow(), ast.Constant(2))
    expected = repr(eval(text) ** 2) if value is not None else ""
    if value is not None and value is not True:
        assert repr(eval(render(power)[0])) == expected


def test_nodes_are_left_alone_and_may_be_shared() -> None:
    total = ast.parse("a + b", mode="eval").body
    before = ast.dump(total)
    product = ast.BinOp(total, ast.Mult(), ast.Call(ast.Name("f", ast.Load()), [total], []))
    assert render(product) == ["(a + b) * f(a + b)"]
    assert render(total) == ["a + b"]
    assert ast.dump(total) == before
    assert not hasattr(total, "_pp")


BROKEN = [
    """
Wx, Wh, bh, Wo, bo = (
    params["Wx"], params["Wh"], params["bh"], params["Wo"], params["bo"]
)""",
    """
h = np.tanh(
    x[:, 196 * t : 196 * (t + 1)] @ params["Wx"]
    + h @ params["Wh"]
    + params["bh"]
)""",
    """
np.matmul(
    some_very_long_name_a.reshape(100, 4, 196).transpose(1, 0, 2),
    other_matrix,
    out=v7,
)""",
    """
np.matmul(
    some_long_name_a.reshape(100, 4, 196), other_matrix, another_matrix, out=v7
)""",
    """
return (
    first_of_the_operands * second_of_them
    + third * fourth
    - np.sum(fifth, axis=0, keepdims=True)
)""",
    """
x = np.array(
    (
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24, 25,
    ),
    np.float32,
)""",
    """
return (
    first_of_the_operands
    if condition_on_the_operands > threshold
    else second_of_the_operands
)""",
    """
assert some_argument.shape == (100, 784), (
    "the shape of the first argument must be (100, 784)"
)""",
    """
assert (
    some_argument.shape_of_the_first_argument
    == another_argument.shape_of_the_second_argument
), "shapes"
""",
    """
d_logits[np.arange(logits.shape[0]), labels] = (
    d_logits[np.arange(logits.shape[0]), labels] - 1.0 / n
)""",
    """
(
    a_name_that_is_long,
    another_name_that_is_long_too,
    and_one_more_of_these_names,
) = function(x)""",
    """
matrix_with_a_long_name[
    start_of_the_rows:end_of_the_rows, start_of_columns:end_of_columns
] = 0""",
    """
a_name_that_is_long_for_an_attribute.attribute_of_that_name = (
    function_with_a_long_name.attribute_of_it
)""",
    """
def loss_value_and_grad(
    params, first_argument, second_argument, *, keyword_argument=1.0
):
    for row in zip(
        first_argument_of_zip, second_argument_of_zip, third_argument_of_zip
    ):
        pass""",
    """
if (
    first_condition_of_the_statement
    and second_condition_of_it
    and not third_condition
):
    pass""",
    """
return {
    "key": [
        function_of(first, second, third)
        for first, second in zip(some_of_these, some_of_those)
        if first is not second
    ]
}""",
]


@pytest.mark.parametrize("text", BROKEN)
def test_long_lines_are_broken_as_an_engineer_would(text: str) -> None:
    text = text.strip()
    assert "\n".join(render(ast.parse(text).body[0], width=80)) == text


def test_margin_counts() -> None:
    node = ast.parse("value = function(argument, other)").body[0]
    assert render(node, width=36, indent=4) == [
        "    value = function(",
        "        argument, other",
        "    )",
    ]


def test_brackets_within_strings_are_text() -> None:
    node = ast.parse("print('(', f\"{x['(']} [ \", \"it's (\", name)").body[0]
    lines = render(node, width=20)
    assert ast.dump(ast.parse("\n".join(lines)).body[0]) == ast.dump(node)
    assert max(map(len, lines)) <= 20


@pytest.mark.parametrize("width", [30, 60, 100])
def test_random_statements_parse_back(width: int) -> None:
    for seed in range(200):
        node = Grower(seed * width).statement()
        text = "\n".join(render(node, width=width))
        try:
            parsed = ast.dump(ast.parse(text).body[0])
        except SyntaxError as error:
            pytest.fail(f"{error}\n{text}\n{ast.unparse(ast.fix_missing_locations(node))}")
        assert parsed == ast.dump(node), text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_random_statements_keep_to_the_width(width: int) -> None:
    """A line that is longer has no place left to break it."""
    for seed in range(200):
        node = Grower(seed * width).statement()
        if not isinstance(node, ast.Expr | ast.Return | ast.If | ast.AugAssign):
            continue  # elsewhere, what stands before the last part is not broken
        for line in render(node, width=width):
            assert len(line) <= width or unbreakable(line), line


def unbreakable(line: str) -> bool:
    """One word, with the brackets around it and the operator before it; or a lambda."""
    line = re.sub(r"""[fb]?("(\\.|[^"\\])*"|'(\\.|[^'\\])*')""", "s", line)
    sign = r"(not in|is not|for|if|else|or|and|in|is|[-+*/%@<>&|^]{1,2}|[!=<>]=)"
    word = re.sub(rf"^[)\]}}]*({sign} )?|[(\[{{,:]+$", "", line.strip())
    return "lambda" in word or not re.search(rf" {sign} |, |[(\[{{][^)\]}}]", word)


def test_break_line_leaves_short_lines_and_margins() -> None:
    assert break_line("  x = 1", 10) == ["  x = 1"]
    assert break_line("    x = f(aaaa, bbbb)", 16) == [
        "    x = f(",
        "        aaaa,",
        "        bbbb,",
        "    )",
    ]


def test_quoted() -> None:
    assert [quoted(s) for s in ("a", "it's", 'say "a"', "both ' and \"", "\t", "é")] == [
        '"a"',
        '"it\'s"',
        "'say \"a\"'",
        "'both \\' and \"'",
        '"\\t"',
        '"é"',
    ]


def test_no_warnings() -> None:
    """astor uses names that Python 3.12 deprecates; users must not see that."""
    program = (
        "import ast; from stcompile.code.render import render;"
        'print(render(ast.parse(\'f(1, 2.5, "s", f"{x}", b"b", None, x[1:2, 0])\').body[0]))'
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.startswith("['f(1, 2.5, ")
