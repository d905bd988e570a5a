"""Random draws happen once, in order; gradients are pathwise."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.emit import function as emission
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.share_equations import share_equations
from stcompile.transforms.primal import Primal
from stcompile.wengert.generators import undrawn
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.programs import assert_same, finite_difference

X = np.array([0.5, 1.5, 2.5])
M = np.arange(12.0).reshape(4, 3)
OTHER = np.random.default_rng(77)
CAPTURED = np.zeros(3)


def state(rng: Any) -> str:
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    return repr(rng.get_state(legacy=False))


def check(function, *args, rtol=1e-6):
    """Value, gradient and every generator's state are those of the plain function."""

    def run(called, *given):
        """What a call gives and where it leaves the generators, which are then put back."""
        with undrawn([*given, OTHER]):
            result = called(*given)
            rngs = [a for a in given if isinstance(a, np.random.Generator | np.random.RandomState)]
            left = [*map(state, rngs), state(OTHER), state(np.random.mtrand._rand)]
        return result, left

    expected, left = run(function, *args)
    primal, primal_left = run(Primal(function), *args)
    assert_same(primal, expected, "the compiled function's result")
    assert primal_left == left
    transformed = st.value_and_grad(function)
    (value, gradient), gradient_left = run(transformed, *args)
    assert_same(value, expected, "the value beside the gradient")
    assert gradient_left == left
    slope = run(st.grad(function), *args)
    assert_same(slope[0], gradient, "the gradient alone")
    assert slope[1] == left
    found = finite_difference(lambda x: float(run(function, x, *args[1:])[0]), args[0])
    np.testing.assert_allclose(gradient, found, rtol=rtol, atol=rtol)
    return transformed


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


# --- every method --------------------------------------------------------------------------------


def real_numbers(x, rng):
    a = rng.random(3) + rng.random() + rng.random((2, 3)).sum() + rng.random(size=())
    b = rng.standard_normal(3) * rng.standard_normal() + rng.standard_exponential((3,))
    c = rng.random(3, dtype=np.float32) + rng.standard_normal(3, np.float32)
    return np.sum(x * (a + b + c) + rng.standard_exponential())


def with_parameters(x, rng):
    total = np.sum(rng.normal() * x) + np.sum(rng.normal(x, 2.0) ** 2)
    total = total + np.sum(rng.normal(0.0, x) ** 2) + np.sum(rng.normal(x, x * x, size=(2, 3)) ** 2)
    total = total + np.sum(rng.uniform(0, x) ** 2) + np.sum(rng.uniform(-x, x[0]) ** 3)
    total = total + np.sum(rng.exponential(x) ** 2) + np.sum(rng.exponential(x[1]) * x)
    total = total + rng.normal(x[0], x[1]) * rng.uniform(high=x[2]) * rng.exponential()
    return total + np.sum(rng.normal([1.0, 2.0], 0.5) * x[:2]) + np.sum(rng.uniform(x[1], 9) ** 2)


def integers(x, rng):
    i = rng.integers(3)
    j = rng.integers(1, 3, size=4, endpoint=False)
    k = rng.integers(0, 2, (2, 2), dtype=np.int32, endpoint=True)
    m = rng.integers(0, [2, 3]) + rng.integers(2, dtype=int)
    on = rng.integers(2, dtype=bool)
    return np.sum(x[j]) * x[i] + np.sum(x[k]) + np.sum(x[m]) * on


def orders(x, rng):
    y = x[rng.permutation(3)] * np.arange(3.0)
    z = rng.permutation(x) * np.arange(1.0, 4.0)
    rows = rng.permutation(x * M) * M + rng.permutation(x * M, axis=1) * M
    w = x * 2
    v = w[:]
    rng.shuffle(w)
    block = x * M
    rng.shuffle(block)
    rng.shuffle(block, axis=1)
    rng.shuffle(np.zeros((4, 0)))
    return np.sum(y * z) + np.sum(rows) + np.sum(v * np.arange(3.0)) + np.sum(block * M)


def choices(x, rng):
    a = x[rng.choice(3)] + np.sum(x[rng.choice(3, 2, replace=False)])
    b = rng.choice(x) * rng.choice(x, (2, 2), replace=True)
    c = rng.choice(3, size=5, p=np.array([0.2, 0.3, 0.5]))
    d = rng.choice(x * M, 2, axis=1) * rng.choice(M, 2, axis=1)
    return a + np.sum(b) + np.sum(x[c] * np.arange(5.0)) + np.sum(d) + np.sum(rng.choice(x * M) * x)


def legacy_methods(x, rng):
    rng.seed(8)
    a = rng.rand(2, 3) * rng.randn(3) + rng.rand() + rng.randn() + rng.random_sample(3)
    b = x[rng.randint(3)] + np.sum(x[rng.randint(0, 3, size=4)]) + rng.random()
    c = rng.permutation(x) * rng.choice(x, 3) + rng.standard_normal(3) + rng.exponential(x)
    d = x * 1
    rng.shuffle(d)
    return np.sum(a * x) + b + np.sum(c) + np.sum(d * rng.normal(x, 1.0)) + rng.uniform(0, x[0])


METHODS = [real_numbers, with_parameters, integers, orders, choices]


@pytest.mark.parametrize("function", METHODS)
def test_methods_of_a_generator(function):
    check(function, X, rng())


def test_methods_of_a_random_state():
    check(legacy_methods, X, np.random.RandomState(5))


def global_state(x):
    np.random.seed(12)
    a = np.random.rand(3) * np.random.randn(2, 3) + np.random.random(3) + np.random.random_sample()
    b = np.random.normal(x, 1.5) * np.random.uniform(0.0, x) * np.random.standard_normal(3)
    c = x[np.random.randint(0, 3, 5)] * np.random.permutation(5) + np.random.choice(x)
    d = x * 1
    np.random.shuffle(d)
    return np.sum(a * b) + np.sum(c) + np.sum(d * x) + np.random.exponential()


def unseeded(x):
    return np.sum(np.random.normal(x, 1.0) ** 2)


@pytest.mark.parametrize("function", [global_state, unseeded])
def test_the_global_state(function):
    check(function, X)


def test_the_global_state_is_drawn_from_at_each_call():
    np.random.seed(4)
    expected = [unseeded(X), unseeded(X)]
    np.random.seed(4)
    compiled = st.value_and_grad(unseeded)
    assert [compiled(X)[0], compiled(X)[0]] == expected
    assert expected[0] != expected[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [None, (), 0, 1, (2, 0), (2, 3)])
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_kinds_shapes_and_dtypes(name, size, dtype):
    def drawn(rng):
        return getattr(rng, name)(size, dtype)

    def with_loc(rng, loc):
        return rng.normal(loc, 1, size)

    assert_same(Primal(drawn)(rng()), drawn(rng()), name)
    for loc in (1.0, np.float32(1), np.array(1.0)):
        assert_same(Primal(with_loc)(rng(), loc), with_loc(rng(), loc), "normal")


# --- where generators come from ------------------------------------------------------------------


def made_inside(x):
    rng = np.random.default_rng(5)
    other = np.random.default_rng(5)
    old = np.random.RandomState(6)
    same = np.random.default_rng(rng)
    a = rng.random(3) - other.random(3)  # two generators of one seed: no difference
    b = same.normal(x, 1.0) * other.normal(x, 1.0) * old.normal(x, 1.0)
    return np.sum((a + b) * np.random.default_rng((1, 2)).random(3))


def captured(x):
    return np.sum(OTHER.normal(x, x) * OTHER.random(3))


draw = OTHER.normal


def captured_method(x):
    return np.sum(draw(x, 1.0) ** 2)


def with_default(x, rng=OTHER):
    return np.sum(rng.normal(x, x))


def in_structures(params, rngs):
    return np.sum(params * rngs["a"].random(3) * rngs["b"][0].normal(params, 1.0))


def two_generators(x, first, second):
    return np.sum(first.normal(x, 1.0) * second.normal(x, 1.0)) - np.sum(first.random(3) * x)


def optional(x, rng=None):
    if rng is None:
        rng = np.random.default_rng(1)
    assert isinstance(rng, np.random.Generator) and type(rng) is not np.random.RandomState
    return np.sum(rng.normal(x, x)) * (rng.integers(3) if hasattr(rng, "integers") else 9)


def through_helpers(x, rng):
    def noisy(v, source, scale=0.1):
        return v + scale * source.standard_normal(v.shape)

    layers = [lambda v: noisy(v, rng), lambda v: noisy(np.tanh(v), rng, scale=x[0])]
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


@pytest.mark.parametrize(
    "function", [made_inside, captured, captured_method, with_default, optional]
)
def test_generators_that_are_not_passed(function):
    check(function, X)


@pytest.mark.parametrize("function", [optional, with_default, through_helpers])
def test_generators_that_are_passed(function):
    check(function, X, rng())


def test_two_generators():
    check(two_generators, X, rng(), np.random.default_rng(4))
    one = rng()
    check(two_generators, X, one, one)


def test_generators_in_structures():
    rngs = {"a": rng(), "b": [np.random.RandomState(3)]}
    check(in_structures, X, rngs)


def test_one_compilation_serves_all_generators():
    compiled = st.value_and_grad(two_generators)
    one = rng()
    compiled(X, one, one)
    a, b = np.random.default_rng(8), np.random.default_rng(9)
    expected = two_generators(X, *copy.deepcopy((a, b)))
    assert compiled(X, a, b)[0] == expected
    assert compiled.source(X, one, one) == compiled.source(X, a, b)


def test_a_captured_generator_may_be_replaced():
    source = rng()

    def loss(x):
        return np.sum(source.normal(x, 1.0))

    compiled = st.value_and_grad(loss)
    for seed in (1, 2):
        source = np.random.default_rng(seed)
        value = compiled(X)[0]
        source = np.random.default_rng(seed)
        assert value == loss(X)


def test_an_unseeded_generator_is_new_at_each_call():
    def loss(x):
        return np.sum(x * np.random.default_rng().random(3))

    compiled = st.value_and_grad(loss)
    assert compiled(X)[0] != compiled(X)[0]


def test_a_generator_may_be_returned():
    def same(x, rng):
        return x * rng.random(), rng

    given = rng()
    assert Primal(same)(X, given)[1] is given


# --- control flow --------------------------------------------------------------------------------


def in_a_branch(x, rng):
    if rng.random() < 0.5:
        x = x * rng.normal(x, 1.0)
    else:
        x = x + rng.uniform(0.0, x) * rng.random()
    return np.sum(x) * rng.random()


def in_one_arm(x, rng):
    if x[0] > rng.random():
        rng.random(7)  # unused, and drawn all the same
    y = x * rng.random(3) if x[1] > 99 else x
    return np.sum(y * rng.normal(x, x))


def in_a_condition(x, rng):
    if x[0] > 99 and rng.random() < 2:
        x = x * 2
    if x[0] > 0 or rng.random() < 2:
        x = x * rng.random(3)
    return np.sum(x * x) * rng.random()


def in_a_short_loop(x, rng):
    for i in range(3):
        x = x * rng.normal(1.0, 0.1, size=3) + rng.integers(i + 1)
    return np.sum(x * x)


def in_a_long_loop(x, rng):
    kept = np.zeros(60)
    for i in range(60):
        x = 0.9 * x + 0.1 * rng.normal(x, 0.5)
        kept[i] = rng.random() * x[i % 3]
        rng.standard_normal()
    return np.sum(kept * kept) + np.sum(x)


def in_a_list(x, rng):
    noise = []
    for _ in range(40):
        noise.append(rng.exponential(x))
    return np.sum(np.stack(noise) ** 2)


def in_a_while_loop(x, rng):
    while np.sum(x) < 40.0:
        x = x + rng.uniform(0.0, x)
    return np.sum(x * x) * rng.random()


def while_it_draws(x, rng):
    n = 0.0
    while rng.random() < 0.9:
        x = x * 1.01 + 0.1 * rng.random() * x
        n = n + rng.random()
    return np.sum(x * x) + n * rng.random()


def until_accepted(x, rng):
    while True:
        y = rng.normal(x, 1.0)
        if np.sum(y - x) > 1.0:
            break
    return np.sum(y * y)


def of_a_traced_length(x, rng):
    for _ in range(rng.integers(3, 9)):
        x = x * rng.normal(1.0, 0.3, 3)
    return np.sum(x)


def nested(x, rng):
    for i in range(50):
        for _ in range(2):
            if rng.random() < 0.3:
                x = x * rng.normal(1.0, 0.01, size=3)
                continue
            x = x + 0.001 * rng.normal(x, 1.0)
        if rng.random() > 0.98:
            break
    return np.sum(x * x)


def a_source_in_each_step(x):
    for i in range(40):
        local = np.random.default_rng(7)
        x = 0.9 * x + 0.1 * local.normal(x, 1.0) * local.random()
    return np.sum(x * x)


CONTROL = [
    *(in_a_branch, in_one_arm, in_a_condition, in_a_short_loop, in_a_long_loop, in_a_list),
    *(in_a_while_loop, while_it_draws, until_accepted, of_a_traced_length, nested),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("function", CONTROL)
def test_control_flow(function, seed):
    check(function, X, np.random.default_rng(seed), rtol=1e-5)


def test_a_generator_made_in_a_loop():
    check(a_source_in_each_step, X)


def test_a_generator_made_in_a_branch_or_a_loop_stays_there():
    def after_a_branch(x):
        if x[0] > 0:
            rng = np.random.default_rng(1)
        else:
            rng = np.random.default_rng(2)
        return np.sum(x * rng.random(3))

    def after_a_loop(x):
        while np.sum(x) < 99:
            rng = np.random.default_rng(1)
            x = x + 1 + rng.random()
        return np.sum(x * rng.random(3))

    for function in (after_a_branch, after_a_loop):
        with pytest.raises(st.StcompileError, match="rng"):
            st.grad(function)(X)


# --- order, number, sharing ----------------------------------------------------------------------


def twice_in_one_expression(x, rng):
    a = rng.random() - rng.random()
    b = x * rng.random(3) + x * rng.random(3)
    return np.sum(b) * a + (rng.normal(x, 1.0) - rng.normal(x, 1.0)) @ x


def unused(x, rng):
    rng.random(5)
    never = rng.normal(x, 1.0)
    never = never * 2
    rng.shuffle(np.arange(4))
    return np.sum(x * x) * rng.random()


@pytest.mark.parametrize("function", [twice_in_one_expression, unused])
def test_each_draw_happens_once(function):
    check(function, X, rng())


def test_draws_are_neither_shared_nor_dropped():
    program = parse_program("""
        program f(rng: Generator) {
          v1: float = random(rng) !random
          v2: float = random(rng) !random
          v3: Generator = default_rng(; seed=1) !random
          v4: Generator = default_rng(; seed=1) !random
          v5: float = random(v3) !random
          v6: float = random(v4) !random
          v7: float = add(v1, v6)
          return v7
        }""")
    verify(program)
    assert eliminate_dead_code(share_equations(program)) == program
    assert parse_program(str(program)) == program


def test_draws_stay_between_prints(capsys):
    def loss(x, rng):
        print("first", rng.random())
        y = rng.normal(x, 1.0)
        print("second", y[0])
        return np.sum(y * y)

    loss(X, rng())
    expected = capsys.readouterr().out
    st.grad(loss)(X, rng())
    assert capsys.readouterr().out == expected


def test_a_failing_call_has_drawn_as_much_as_the_plain_one():
    def loss(x, rng):
        y = rng.normal(x, 1.0)
        assert np.sum(y) > 1e9
        return np.sum(y) * rng.random()

    one, other = rng(), rng()
    with pytest.raises(AssertionError):
        loss(X, one)
    with pytest.raises(AssertionError):
        st.grad(loss)(X, other)
    assert state(one) == state(other)


# --- derivatives ---------------------------------------------------------------------------------


def cubed(x, rng):
    return np.sum(rng.normal(x, x * x) ** 3) + np.sum(rng.uniform(0, x) ** 3 * rng.random(3))


def slope(x, rng):
    return np.sum(st.grad(cubed)(x, rng) * x)


def test_second_order():
    check(slope, X, rng(), rtol=1e-5)


def test_second_order_in_a_loop():
    def inner(x, rng):
        for _ in range(30):
            x = x + 0.1 * rng.normal(x, 0.3 * x)
        return np.sum(x * x)

    def outer(x, rng):
        return np.sum(st.grad(inner)(x, rng) ** 2)

    check(outer, X, rng(), rtol=1e-5)


def test_the_derivative_is_pathwise():
    def sample(loc, scale, rng):
        return rng.normal(loc, scale)

    z = rng().standard_normal()
    assert st.grad(sample, wrt=("loc", "scale"))(2.0, 4.0, rng()) == pytest.approx((1.0, z))


def test_integers_have_no_derivative():
    def loss(x, rng):
        return np.sum(x) * rng.integers(1, 5) * rng.choice(4)

    drawn = rng()
    factor = drawn.integers(1, 5) * drawn.choice(4)
    np.testing.assert_array_equal(st.grad(loss)(X, rng()), np.full(3, float(factor)))


def test_a_training_step_draws_once():
    def loss(w, x, rng):
        keep = rng.random(w.shape) < 0.5
        return np.sum((w * keep - x) ** 2)

    step = st.train_step(loss, st.optim.SGD(0.1))
    one, other = rng(), rng()
    w = np.ones(3)
    for _ in range(3):
        before = w.copy()
        assert step(w, X, one) == loss(before, X, other)
    assert state(one) == state(other)


# --- what looks at a call ------------------------------------------------------------------------


def test_looking_at_a_call_draws_nothing():
    @st.differentiable
    def loss(x, rng):
        if x[0] > 0:
            rng.random()
        np.random.seed(4)
        for _ in range(20):
            x = x + 0.1 * rng.normal(x, x) * np.random.rand(3) * OTHER.random()
        return np.sum(x * x)

    given = rng()
    before = state(given), state(OTHER), state(np.random.mtrand._rand)
    loss.check_grads(X, given)
    row, *_ = loss.explain(X, given).rows
    assert not row.zero
    trace = loss.trace(X, given)
    with undrawn([given, OTHER]):
        assert trace.value == loss(X, given)
    assert "rng = Generator" in str(trace)
    assert (state(given), state(OTHER), state(np.random.mtrand._rand)) == before


def test_a_nan_is_found_in_the_same_draws():
    @st.differentiable(debug_nans=True)
    def loss(x, rng):
        np.random.seed(2)
        if x[0] > 0:
            np.random.seed(3)
        y = rng.normal(x, 1.0) + np.random.rand(3)
        return np.sum(np.sqrt(-(y**2)))

    given = rng()
    before = state(given), state(np.random.mtrand._rand)
    with pytest.raises(st.NanError, match=r"np.sqrt"), np.errstate(all="ignore"):
        loss.value_and_grad(X, given)
    assert (state(given), state(np.random.mtrand._rand)) == before


# --- source --------------------------------------------------------------------------------------


def test_the_source_reads_as_the_users():
    def loss(x, rng):
        noise = rng.normal(0.0, 1.0, size=(3,))
        z = rng.standard_normal((2, 3))
        i = rng.integers(5, size=2)
        u = np.random.rand(2, 3)
        s = np.random.default_rng(0).random(3)
        return np.sum(x * noise * z * u * s) * np.sum(i)

    source = st.value_and_grad(loss).source(X, rng())
    for line in (
        "noise = rng.normal(0.0, 1.0, size=3)",
        "z = rng.standard_normal((2, 3))",
        "i = rng.integers(5, size=2)",
        "u = np.random.rand(2, 3)",
        "s = np.random.default_rng(0).random(3)",
    ):
        assert f"    {line}\n" in source


# --- refusals ------------------------------------------------------------------------------------

REFUSED = {
    "gamma": (lambda x, rng: rng.gamma(x), "draw outside"),
    "lognormal": (lambda x, rng: rng.lognormal(), r"np\.exp\(rng\.normal"),
    "beta": (lambda x, rng: np.random.beta(1.0, 2.0), "draw outside"),
    "size": (lambda x, rng: rng.normal(size=rng.integers(3)), "shape depends on traced"),
    "seed": (lambda x, rng: np.random.default_rng(x), "seed is a traced value"),
    "sum": (lambda x, rng: x + rng, "Generator cannot be an operand"),
    "state": (lambda x, rng: rng.bit_generator, "bit_generator"),
    "misfit": (lambda x, rng: rng.normal(x, 1.0, size=2), "do not fit"),
    "broadcast": (lambda x, rng: rng.normal(x, np.ones(2)), "broadcast"),
    "shuffle": (lambda x, rng: rng.shuffle([x[0], x[1]]), "shuffle"),
    "shuffle captured": (lambda x, rng: rng.shuffle(CAPTURED), "is not a local array"),
    "too many": (lambda x, rng: rng.choice(3, 5, replace=False), "without replacement"),
    "complex": (lambda x, rng: rng.normal(1j), "complex"),
    "legacy": (lambda x, rng: rng.randn(3), r"rng\.standard_normal"),
    "returned": (lambda x, rng: np.random.default_rng(1), "returns a Generator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, message = REFUSED[name]
    with pytest.raises(st.StcompileError, match=message) as caught:
        Primal(function)(X, rng())
    assert "test_random.py" in str(caught.value) or name == "returned"


def test_the_tests_can_fail(monkeypatch):
    """A draw that is forgotten, and one that is written twice, are noticed."""

    def loss(x, rng):
        return np.sum(rng.normal(x, 1.0) ** 2) * rng.random()

    emitted = emission.emit

    def edited(old, new):
        def emit(*args, **keywords):
            found = emitted(*args, **keywords)
            changed = found.source.replace(old, new)
            assert changed != found.source
            return type(found)(**{**vars(found), "source": changed})

        return emit

    for new in ("0.5", "(rng.random(), rng.random())[1]"):
        monkeypatch.setattr("stcompile.calls.compiler.emit", edited("rng.random()", new))
        with pytest.raises(AssertionError):
            check(loss, X, rng())
