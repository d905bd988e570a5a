"""Text of traced values: it is made when the generated function runs, as the user's would be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import stcompile as st

X = np.array([1.0, 2.0])


def labels(x):
    label = f"x is {x}"
    total = np.sum(x)
    print(label, f"sum {total:8.3f}|{total!r:>30}", f"{x[0]}" + "!", end=f" n={len(x)}\n")
    x[0] = 7.0
    print(f"{label}, and now {x}")
    return total * x[1]


def texts(x):
    total = x.sum()
    print(str(total), repr(total), format(total, ".2e"), str(x), repr(x > 1))
    print("total " + str(total) + "; " + "shape " + str(x.shape))
    print("{} and {}; {1:.3f} {0} {k!s:>8}".replace("{} and {}; ", "").format(1, total, k=total))
    print("{}, {:.1f}, {{}}".format("static", total), ", ".join(["a", str(total), f"{x[1]:.1f}"]))
    return total


def in_branches_and_loops(x):
    for i in range(3):
        print(f"step {i}: {x[0] * i:.1f}")
    for i in range(20):
        text = f"{i}"
        x = x * 1.01
        if x[1] > 2.3:
            print(f"step {text}: {x[1]:.4f} {i}")
    message = f"before {x[0]:.3f}"
    if x[0] > 1:
        print(message, f"above {x[0]:.3f}")
    else:
        print(message)
    return np.sum(x)


def of_numbers(a):
    print(f"{a} {a * 2:>6} {a > 1!s:<6}| {a!r} {int(a):d} {a:{'.1f'}} {f'{a:.2f}'}")
    return a * a


PROGRAMS = [(labels, X), (texts, X), (in_branches_and_loops, X), (of_numbers, 1.5)]


def printed(capsys, function, x):
    function(np.copy(x) if isinstance(x, np.ndarray) else x)
    return capsys.readouterr().out


def copying(function):
    """The function of a copy: it writes into its argument."""

    def copied(x):
        return function(x * 1.0)

    return copied


@pytest.mark.parametrize(("function", "x"), PROGRAMS)
@pytest.mark.parametrize("level", ["readable", "fast"])
def test_what_is_printed_is_that_of_the_plain_function(capsys, function, x, level):
    expected = printed(capsys, function, x)
    transformed = st.value_and_grad(copying(function), level=level)
    assert [printed(capsys, transformed, x) for _ in range(2)] == [expected] * 2
    assert expected


def test_the_source_has_f_strings():
    source = st.grad(of_numbers, level="readable").source(1.5)
    printing = 'print(f"{a} {a * 2:>6} {(a > 1)!s:<6}| {a!r} {int(a):d} {a:.1f} {a:.2f}")'
    assert printing in source


def test_text_that_nobody_reads_leaves_nothing():
    def loss(x):
        note = f"the logarithms are {np.log(x)}"  # noqa: F841
        return np.sum(x * x)

    source = st.grad(loss).source(X)
    assert "log" not in source
    np.testing.assert_array_equal(st.grad(loss)(X), 2 * X)


def checked(x, limit):
    total = np.sum(x)
    assert total < limit, f"the sum {total:.2f} is not below {limit}"
    if total < 0:
        raise ValueError(f"negative: {total}", total, "and", 3)
    return total * total


def test_messages_of_errors():
    gradient = st.grad(checked)
    np.testing.assert_array_equal(gradient(X, 10.0), [6.0, 6.0])
    for x, limit in ((X, 2.5), (-X, 10.0)):
        with pytest.raises((AssertionError, ValueError)) as expected:
            checked(x, limit)
        with pytest.raises(expected.type) as found:
            gradient(x, limit)
        (message, *rest), (own, *others) = expected.value.args, found.value.args
        assert own.splitlines()[0] == message.splitlines()[0]  # pytest and notes add lines
        assert others == rest


def test_a_message_is_computed_only_where_the_assert_fails():
    def loss(x):
        assert np.all(x > 0), "the logarithms are " + str(np.log(x)) + str(np.linalg.inv(x))
        return np.sum(np.sum(x))

    x = np.zeros((2, 2)) + 1.0  # its inverse does not exist
    np.testing.assert_array_equal(st.grad(loss)(x), np.ones((2, 2)))
    assert "if" in st.grad(loss, level="readable").source(x)
    with np.errstate(invalid="ignore"), pytest.raises(AssertionError, match=r"are \[\[ +nan 0"):
        st.grad(loss)(np.array([[-1.0, 1.0], [1.0, 1.5]]))


def test_a_failing_assert_runs_the_final_block(capsys):
    def loss(x):
        for i in range(40):
            try:
                if x[0] * i > 30:
                    assert False, f"step {i}"
            finally:
                print(i, end=" ")
        return np.sum(x)

    with pytest.raises(AssertionError, match="step 31"):
        st.grad(loss)(X)
    assert capsys.readouterr().out.split() == [str(i) for i in range(32)]


def test_text_of_a_number_that_a_loop_carries(capsys):
    def loss(x):
        n = 0
        while x[0] < 10:
            x = x * 2
            n = n + 1
            print(f"{n}: {x[0]}")
        return np.sum(x)

    assert printed(capsys, st.grad(loss), X) == "1: 2.0\n2: 4.0\n3: 8.0\n4: 16.0\n"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * len(f"{x}"), "the length of text is known only at run time"),
        (lambda x: x if f"{x}" == "1.0" else x * x, "known only at run time"),
        (lambda x: {"1.5": x}[f"{x}"], "dict key"),
        (lambda x: f"{x}", "text of values known only at run time"),
        (lambda x: x * float("%d" % x), "`%` of a string"),  # noqa: UP031
        (lambda x: print(f"{x:{x}}"), "depends on a value known only at run time"),
        (lambda x: print(f"{x:q}"), "Unknown format code 'q'"),
        (lambda x: print(f"{[x, x]}"), "text of a list"),
        (lambda x: print(f"{f'{x}':>8}"), "a format of text"),
        (lambda x: print("{[0]}".format(x)), "is not supported"),  # noqa: UP032
        (lambda x: print("{} {}".format(x)), "is not given"),  # noqa: F524
        (lambda x: print("a".startswith(str(x))), "would look at values known only at run time"),
    ],
)
def test_text_is_for_people_only(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(1.5)


def test_text_that_differs_by_branch_is_refused():
    def loss(x):
        text = f"{x}" if x > 0 else "negative"
        print(text)
        return x

    with pytest.raises(st.StcompileError, match="text of values known only at run time"):
        st.grad(loss)(1.5)


class Point:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Point({self.x:.2f})"


@dataclass
class Pair:
    left: float
    right: float


def test_objects_are_shown_by_their_own_methods(capsys):
    def loss(x):
        point = Point(x)
        print(point, f"{point} and {point!r}", str(point))
        return x * x

    expected = printed(capsys, loss, 1.5)
    assert printed(capsys, st.grad(loss), 1.5) == expected != ""


@dataclass(frozen=True)
class Named:
    name: str
    values: tuple

    def __format__(self, spec):
        return f"{self.name}:{self.values[0]:{spec or '.1f'}}"


@pytest.mark.parametrize(
    "shown",
    [
        lambda x: Pair(x, 2.0),
        lambda x: [Pair(1.0, x), (x,), (), [np.sin(x), {"a": Point(x), 2: x}]],
        lambda x: {"a": Point(x)},
        lambda x: (Point(1.0), Named("b", (x, Pair(3.0, 4.0)))),
        lambda x: Named("b", (x,)),
        lambda x: ("text", True, None, np.full(2, x)),
    ],
)
def test_objects_and_containers_are_shown_as_python_shows_them(capsys, shown):
    for loss in (
        lambda x: print(shown(x)) or x,
        lambda x: print(f"{shown(x)} {shown(x)!r}") or x,
        lambda x: print(f"{shown(x)} {[shown(x)]!s}") or x,
    ):
        expected = printed(capsys, loss, 1.5)
        assert printed(capsys, st.grad(loss), 1.5) == expected != ""


def test_the_text_of_an_object_follows_its_class(capsys):
    class Label:
        text = "first"

        def __str__(self):
            return self.text

    label = Label()

    def loss(x):
        print(label, [len(str(label))], "-".join([str(label), f"{label}"]))
        return x * len(f"{label}")

    gradient = st.grad(loss)
    assert gradient(1.5) == 5
    Label.text = "second"
    assert gradient(1.5) == 6
    Label.__str__ = lambda self: "it"
    assert gradient(1.5) == 2
    assert capsys.readouterr().out.split("\n")[-2] == "it [2] it-it"
