"""Complex values through the whole compiler, at both levels, by the convention of autograd and JAX.

The gradient of a real loss L by z = a + ib is dL/da - i dL/db. Differences are taken along both
parts.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.ad import rules
from stcompile.codegen_templates.derivatives import DERIVATIVES, HOLDS_FOR_COMPLEX
from stcompile.codegen_templates.marks import adjoint
from stcompile.transforms.primal import Primal
from stcompile.wengert.ir import every_equation
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.text import parse_program
from tests.programs import READABLE, assert_same

Function = Callable[..., Any]
LEVELS = ("readable", "fast")
RNG = np.random.default_rng(0)
HAS_AUTOGRAD = importlib.util.find_spec("autograd") is not None
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def drawn(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


Z, W, X = drawn(3, 4), drawn(4), RNG.normal(size=(3, 4))
WEIGHTS = drawn(4, 7, 4)


def loss(w: Any) -> Any:
    """A real number of all entries of a result, each with weights of its own for its parts."""
    size = np.size(w)
    shift = np.reshape(WEIGHTS.ravel()[:size], np.shape(w))
    return np.sum(shift.real * np.real(w)) + np.sum(shift.imag * np.imag(w))


# --- programs: of a complex matrix, a complex vector and a real matrix ---------------------------


def of_parts(z, w, x):
    y = np.zeros((3, 4), complex)
    y.real = x * z.imag
    y.imag[1:] = z.real[:-1]
    y.real[0] += w.real
    y[2] *= 1j
    return y * np.real(y) + np.imag(z) - y.real.T.reshape(3, 4)


def of_views(z, w, x):
    y = np.zeros(20, complex)
    flat, many = np.ravel(z), np.ravel(x)
    for k in range(20):
        y.real[k] = many[k % 12] * flat[k % 12].imag
        y.imag[k] += flat.real[k % 12] ** 2
    y.real[::2] = y.imag[::-2]
    y.real = y.real[::-1]
    part = y.imag[3:15]
    y *= 2j
    return y[:12].reshape(3, 4) + part.reshape(3, 4) * np.sum(np.conj(z[x > 0]))


def with_a_loop(z, w, x):
    h = z[0]
    rows = []
    for k in range(20):
        h = np.tanh(0.3 * h * w + x[0] * (0.1j * k)) + 0.1 * np.conj(h)
        rows.append(np.abs(h) ** 2 + h.imag)
    return np.stack(rows[3:6]) * h


def with_numbers(z, w, x):
    s, c = 0.0, 1 + 0j
    for k in range(20):
        c = c * (0.9 + 0.1j) + complex(x[0, 0]) * 0.1
        s = s + c.imag + abs(c) + (c.conjugate() * c).real
    return z * s - c * w


def with_a_branch(z, w, x):
    if np.sum(z).real > 100:
        y = z * w
    else:
        y = np.conj(z) / w - 1j * x
    while np.abs(y[0, 0]) < 20:
        y = y * (1.2 - 0.5j)
    return y


def of_indices(z, w, x):
    y = np.zeros((5, 4), complex)
    y[[0, 3, 3]] = z
    y[1:4, ::2] += w[:2]
    y[np.array([True, False, True, False, False])] *= 2j
    return y[:, [2, 0, 0]] + np.where(x[:1, :3] > 0, y[:, 1:], 1j) * np.sum(z[x > 0])


def with_parts_of_masks(z, w, x):
    y = z * 1.0
    y[x > 0] = w[0]
    return y * np.prod(z[x < 0] * 0.3) + np.mean(z[x < 0])


def of_matrices(z, w, x):
    a = z[:, :3] + 4 * np.eye(3)
    b = np.linalg.inv(a) @ np.linalg.solve(a, z) + np.linalg.det(a) * 0.01
    b = b + np.linalg.pinv(z).T * np.linalg.pinv(np.outer(w[:3], w), 1e-6).T
    b = b + np.linalg.lstsq(z.T, w)[0][:, None] * np.linalg.lstsq(x, z[:, :4])[0][:3]
    sign, size = np.linalg.slogdet(np.stack([a, z[:, 1:]]))
    b = b * size[0] * sign[1] - np.linalg.cholesky(a @ a.conj().T + w[0] * np.eye(3)) @ z
    return b * np.linalg.norm(z) - np.linalg.norm(z, axis=0) * np.linalg.norm(b, 1)


def of_decompositions(z, w, x):
    """Eigenvectors and singular vectors in what does not depend on their phases."""
    a = np.outer(w[:3], z[0, :3]) + z[:, :3] @ x[:, 1:]
    e, v = np.linalg.eigh(a)
    e2, v2 = np.linalg.eigh(np.stack([a, z[:, 1:]]), "U")
    u, s, vh = np.linalg.svd(z, full_matrices=False)
    u2, _, vh2 = np.linalg.svd(np.stack([z.T, x.T]), full_matrices=False)
    y = np.abs(v) ** 2 * e + (v * np.exp(0.1 * e)) @ v.conj().T
    y = y + np.sum((v2 * e2[:, None]) @ v2.conj().mT, 0) - np.abs(u) ** 2
    y = y + (u * s**2) @ vh[:, :3] + np.abs(vh[:, 1:]) ** 2 * (1 + 2j)
    y = y + np.sum(u2[:, :3] @ vh2 + np.abs(vh2) ** 2 + np.abs(u2[:, 1:]) ** 2, 0)
    return y * np.linalg.eigvalsh(z[:, 1:]) * np.linalg.svd(z.T, compute_uv=False)


def of_eigenvectors(z, w, x):
    a = np.stack([z[:, 1:], x[:, 1:] * w[:3]])
    e, v = np.linalg.eig(a)
    y = np.abs(v) ** 2 * e[:, None] + (v * np.exp(e[:, None])) @ v.conj().mT
    return np.sum(y, 0) + np.linalg.eigvals(a[::-1])[0] ** 2 * np.linalg.eigvals(z[:, :3])


def of_norms(z, w, x):
    stack = np.stack([z[:, :2], z[:, 2:] * 1j, x[:, 1:3] * w[0]], 2)
    y = np.linalg.norm(stack, "nuc", (0, 1)) * np.linalg.norm(z, 2) + np.linalg.norm(z, -2) * w[:3]
    return y * np.linalg.norm(z, "nuc") + np.linalg.cond(z[:, :3]) - np.linalg.matrix_norm(z, ord=1)


def of_products(z, w, x):
    y = np.einsum("ij,kj,k->ki", z, x, w[:3]) + np.outer(z[:, 0], x[:, 1]) * np.vdot(z, x)
    return y @ (x + 1j) + np.inner(z, w)[:, None] * np.dot(w, x.T)[:, None]


def arranged(z, w, x):
    y = np.concatenate([z, x], 0)[::-1].T
    y = np.stack([y, np.roll(y, 1, 0)])[:, :, :3] + np.pad(x, ((0, 1), (0, 0)))[:, 1:]
    y = np.squeeze(np.expand_dims(y[0], 0) * np.broadcast_to(w, (3, 4)).T, 0)
    y = (y + np.diag(w)[:, :3]).T * np.diagonal(z)[:, None]
    return y[:, :3] + np.lib.stride_tricks.sliding_window_view(w, 3)[:1]


def converted(z, w, x):
    y = x.astype(complex) * np.copy(z) + np.array([w[0], 2.0, x[0, 0], 1j])
    return np.full((3, 4), w[1]) * y + np.full((3, 4), x[0, 0], complex) + np.asarray(w[2])


SMOOTH = {
    "of_inverses": lambda z, w, x: (
        np.arcsin(z) + np.arccos(w) * np.arctan(z) + np.arcsinh(z) - np.arccosh(z) * np.arctanh(w)
    ),
    "of_exponentials": lambda z, w, x: (
        np.exp(z) * np.expm1(w) + np.exp2(z) - np.log(z) * np.log2(w) + np.log10(z) * np.log1p(z)
    ),
    "of_waves": lambda z, w, x: (
        np.sin(z) * np.cos(w) + np.tan(z) - np.sinh(z) * np.cosh(w) + np.tanh(z)
    ),
    "of_powers": lambda z, w, x: (
        z**w + x**w + z**x - 2.0**z + (-2.0) ** z + z**2 - z**-1 + z**0.5 + w**3 + z ** (1 - 2j)
    ),
    "of_quotients": lambda z, w, x: (
        np.sqrt(z) / w - np.square(z) * np.reciprocal(w) + x / z - z / x + np.float_power(z, w)
    ),
    "of_sizes": lambda z, w, x: (
        np.abs(z) * np.angle(w) + np.sign(z) * np.abs(w) ** 2 - np.conjugate(z) + 3 * w.conj()
    ),
    "of_means": lambda z, w, x: (
        np.mean(z, 0) * np.sum(z, 1, keepdims=True) - np.prod(z, 0) + np.cumprod(w) * np.var(z, 0)
    ),
    "of_spreads": lambda z, w, x: np.std(z) * z + np.cumsum(z, 1) * np.var(w) - np.cov(z)[0, 1],
    "of_transforms": lambda z, w, x: (
        np.fft.fft(z, axis=0) * np.fft.ifft(x) - np.fft.rfft(x, 7) * np.fft.irfft(z, 4)
    ),
    "of_longer_transforms": lambda z, w, x: (
        np.fft.fft2(z, (4, 4), norm="ortho")[:3] - np.fft.irfftn(z, (3, 5), (0, 1))[:, 1:]
    ),
}
PROGRAMS: dict[str, Function] = {
    **SMOOTH,
    **{
        f.__name__: f
        for f in (
            *(
                of_parts,
                of_views,
                with_a_loop,
                with_numbers,
                with_a_branch,
                of_indices,
                with_parts_of_masks,
            ),
            *(of_matrices, of_decompositions, of_eigenvectors, of_norms),
            *(of_products, arranged, converted),
        )
    },
}


def totalled(function: Function) -> Function:
    return lambda z, w, x: loss(function(z, w, x))


def slope(function: Function, args: Any, directions: Any, step: float) -> Any:
    """The derivative along directions, by differences of fourth order."""

    def at(h: float) -> Any:
        return function(*(x + h * d for x, d in zip(args, directions, strict=True)))

    h = step
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def assert_gradient(function: Function, gradients: Any, args: Any, tolerance: float) -> None:
    """Along random directions, of both parts, and in the types of the arguments."""
    for gradient, x in zip(gradients, args, strict=True):
        assert gradient.dtype == x.dtype
        assert gradient.shape == x.shape
    rng = np.random.default_rng(1)
    for _ in range(4):
        directions = [rng.normal(size=x.shape) for x in args]
        directions = [
            d * np.exp(1j * rng.normal(size=d.shape)) if x.dtype.kind == "c" else d
            for d, x in zip(directions, args, strict=True)
        ]
        pairs = zip(gradients, directions, strict=True)
        found = sum(np.real(np.sum(gradient * d)) for gradient, d in pairs)
        scale = max(1.0, *(float(np.max(np.abs(gradient))) for gradient in gradients))
        expected = slope(function, args, directions, 1e-4)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


ARGS = (Z, W, X)
every_program = pytest.mark.parametrize("name", PROGRAMS)


@every_program
def test_value(name: str) -> None:
    function = PROGRAMS[name]
    assert_same(Primal(function, READABLE)(*ARGS), function(*ARGS), "the value")
    narrow = (Z.astype(np.complex64), W.astype(np.complex64), X.astype(np.float32))
    assert_same(Primal(function, READABLE)(*narrow), function(*narrow), "in single precision")


@pytest.mark.parametrize("level", LEVELS)
@every_program
def test_gradient(name: str, level: Any) -> None:
    function = totalled(PROGRAMS[name])
    value, gradients = st.value_and_grad(function, (0, 1, 2), level=level)(*ARGS)
    np.testing.assert_allclose(value, function(*ARGS), rtol=1e-12)
    assert_gradient(function, gradients, ARGS, 1e-6)


@every_program
def test_second_order(name: str) -> None:
    gradient = st.grad(totalled(PROGRAMS[name]), (0, 1, 2))

    def curvature(z, w, x):
        d_z, d_w, d_x = gradient(z, w, x)
        return loss(d_z * z) + loss(d_w) + loss(d_x * x)

    found = st.grad(curvature, (0, 1, 2))(*ARGS)
    assert_gradient(curvature, found, ARGS, 2e-5)


@pytest.mark.parametrize(
    "name",
    [
        *("of_transforms", "of_products", "of_means", "of_sizes"),
        *("of_decompositions", "of_eigenvectors", "of_norms"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_single_precision(name: str, level: Any) -> None:
    """complex64 in, complex64 out."""

    def function(z, w, x):
        return np.sum(np.real((0.3 - 0.7j) * PROGRAMS[name](z, w, x)))

    gradient = st.grad(function, (0, 1, 2), level=level)
    narrow = (Z.astype(np.complex64), W.astype(np.complex64), X.astype(np.float32))
    for found, expected, x in zip(gradient(*narrow), gradient(*ARGS), narrow, strict=True):
        assert found.dtype == x.dtype
        scale = float(np.max(np.abs(expected)))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * scale)
    program = gradient.stage(gradient.bind(narrow, {})).program
    types_ = [variable.type for equation in program.equations for variable in equation.outputs]
    assert not {t.dtype for t in types_ if t.kind == "array"} & {Z.dtype, X.dtype}


def test_every_rule_for_complex_numbers_is_reached() -> None:
    """The programs have every primitive whose rule is said to hold, or its rule records it."""
    reached: set[str] = set()
    for function in PROGRAMS.values():
        gradient = st.value_and_grad(totalled(function), (0, 1, 2))
        staged = gradient.stage(gradient.bind(ARGS, {}))
        equations = every_equation(staged.program.equations)
        reached |= {PRIMITIVES[equation.primitive].rule for equation in equations}
    ours = {name for name in HOLDS_FOR_COMPLEX if "." not in name}  # tests/scipy has the others
    others = {
        "convolve",
        "strong_product",
        "strong_quotient",
    }  # tests/derivatives/test_complex.py has them
    assert reached >= ours - {"to_python", "to_scalar"} - others


# --- the convention ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_convention(level: Any) -> None:
    """L = a**2 + 3 b: dL/da - i dL/db."""

    def function(z):
        return z.real**2 + 3 * z.imag

    for kind in (complex, np.complex128, np.complex64):
        found = st.grad(function, level=level)(kind(2 + 5j))
        assert found == 4 - 3j
        assert np.asarray(found).dtype == np.asarray(kind(0)).dtype
    found = st.grad(lambda z: function(z[0]), level=level)(np.array([2 + 5j]))
    np.testing.assert_array_equal(found, [4 - 3j])


def test_holomorphic_functions_have_their_derivative() -> None:
    """By it the gradient of Re f is f', and that of Im f is -i f'."""
    z = np.array(0.4 - 0.7j)
    derivative = np.cos(z) * np.exp(z) + np.sin(z) * np.exp(z)
    found = st.grad(lambda z: np.real(np.sin(z) * np.exp(z)))(z)
    np.testing.assert_allclose(found, derivative)
    found = st.grad(lambda z: np.imag(np.sin(z) * np.exp(z)))(z)
    np.testing.assert_allclose(found, -1j * derivative)


def test_size_at_zero() -> None:
    """The subgradient of the absolute value at 0 is 0."""
    gradient = st.grad(lambda z: np.sum(np.abs(z)))
    np.testing.assert_allclose(gradient(np.array([0j, 3 + 4j])), [0, 0.6 - 0.8j], rtol=1e-15)


# Programs that autograd knows as well.
PEERS: dict[str, Function] = {
    "of_exponentials": lambda z, w, x: np.exp(z) * np.log(w) + np.log(z) * np.expm1(z),
    "of_sizes": lambda z, w, x: np.abs(z) * np.angle(w) + np.abs(w) ** 2 - np.conj(z),
    "of_means": lambda z, w, x: np.mean(z, 0) * np.sum(z, 1, keepdims=True) + np.cumsum(w),
    "of_powers": lambda z, w, x: z**2 - z**-1 + w**3 + np.sqrt(z) / w + x / z,
    "of_eigenvectors": lambda z, w, x: (
        np.abs(np.linalg.eigh(z[:, :3])[1]) ** 2 * np.linalg.eigh(z[:, 1:], "U")[0]
        + np.abs(np.linalg.eig(z[:, 1:])[1]) ** 2 * np.linalg.eig(z[:, 1:])[0]
    ),
    "of_singular_vectors": lambda z, w, x: (
        np.abs(np.linalg.svd(z, full_matrices=False)[0]) ** 2 @ z
        + np.abs(np.linalg.svd(z, full_matrices=False)[2]) ** 2
        * np.sum(np.linalg.svd(z, compute_uv=False) ** 3)
        + np.linalg.norm(z, "nuc")
    ),
    "of_products": lambda z, w, x: z @ x.T @ z + np.outer(z[:, 0], w) * np.dot(w, x[0]),
}


@pytest.mark.skipif(not HAS_AUTOGRAD, reason="autograd is not installed")
@pytest.mark.parametrize("name", PEERS)
def test_autograd_agrees(name: str) -> None:
    import autograd
    import autograd.numpy

    def on_autograd(function: Any) -> Any:
        names = {**function.__globals__, "np": autograd.numpy}
        return types.FunctionType(function.__code__, names, "f", None, function.__closure__)

    inner, outer = on_autograd(PEERS[name]), on_autograd(loss)
    expected = autograd.grad(lambda z, w, x: outer(inner(z, w, x)), (0, 1, 2))(*ARGS)
    found = st.grad(totalled(PEERS[name]), (0, 1, 2))(*ARGS)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


# --- tangents, and cotangents of complex results -------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("of_sizes", "of_parts", "of_indices", "of_matrices", "of_transforms", "with_a_loop"),
        *("of_decompositions", "of_eigenvectors", "of_norms"),
    ],
)
def test_tangents_and_pullbacks(name: str) -> None:
    """Re(sum(cotangent * tangent)) is the same of the results and of the arguments."""
    function = PROGRAMS[name]
    directions = tuple(drawn(*x.shape).astype(x.dtype) for x in (Z, W)) + (X[::-1].copy(),)
    value, tangent = st.jvp(function, ARGS, directions)
    expected = slope(function, ARGS, directions, 1e-4)
    scale = float(np.max(np.abs(expected)))
    np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-7 * scale)
    assert tangent.dtype == value.dtype
    cotangent = drawn(*value.shape) if np.iscomplexobj(value) else X
    cotangents = st.vjp(function, *ARGS)[1](cotangent)
    pairs = zip(cotangents, directions, strict=True)
    found = sum(np.real(np.sum(d_x * x_dot)) for d_x, x_dot in pairs)
    np.testing.assert_allclose(found, np.real(np.sum(cotangent * tangent)), rtol=1e-9)


def test_checkpoints() -> None:
    """They have the rules of their bodies."""
    function = totalled(PROGRAMS["of_sizes"])
    for found, expected in zip(
        st.grad(st.checkpoint(function), (0, 1, 2))(*ARGS),
        st.grad(function, (0, 1, 2))(*ARGS),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_real_function_has_no_complex_hessian() -> None:
    with pytest.raises(st.DerivativeError, match="no matrix of complex numbers"):
        st.hessian(lambda z: np.sum(np.abs(z)))(Z)


def test_eigenvalues_in_another_order() -> None:
    """Of large matrices LAPACK finds them in another order when it is asked for eigenvectors, too:
    each takes its own cotangent."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=(200, 200)) + 1j * rng.normal(size=(200, 200))
    direction = a * rng.uniform(size=a.shape)
    assert np.max(np.abs(np.linalg.eig(a)[0] - np.linalg.eigvals(a))) > 1

    def function(a):
        return np.sum(np.abs(np.linalg.eigvals(a) - 1) ** 3)

    found = np.real(np.sum(st.grad(function)(a) * direction))
    expected = (function(a + 1e-6 * direction) - function(a - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# --- what checks it ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_check_grads(level: Any) -> None:
    @st.differentiable(wrt=("z", "w", "c"), level=level)
    def function(z, w, x, c):
        return loss(np.exp(0.1 * z * w) * x) + abs(c * c) + c.imag

    function.check_grads(Z, W, X, 1 - 2j)
    function.check_grads(Z.astype(np.complex64), W, X, np.complex64(2j))


@pytest.fixture
def fresh_rules() -> Iterator[None]:
    """Rules are lowered once and kept."""
    rules._rule.cache_clear()
    yield
    rules._rule.cache_clear()


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch, fresh_rules: None) -> None:
    """The rule of a linear map, for what is linear in the real and imaginary parts alone."""

    @adjoint
    def conjugate(out, x, d_out):
        return d_out

    monkeypatch.setitem(DERIVATIVES, "conjugate", conjugate)
    function = totalled(PROGRAMS["of_sizes"])
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_gradient(function, st.grad(function, (0, 1, 2))(*ARGS), ARGS, 1e-6)
    with pytest.raises(st.GradientCheckError):
        st.differentiable(lambda z: np.sum(np.conj(z).imag)).check_grads(Z)


def test_other_rules_are_refused() -> None:
    """A rule that is not in the list is not used for complex numbers: there is no default."""
    from stcompile.wengert.ir import Equation, Variable, freeze
    from stcompile.wengert.primitives.spectra import HANDED_ON
    from stcompile.wengert.types import Type

    z = Variable("z", Type.array(complex, (2,)))
    for name in (
        {p.rule for p in PRIMITIVES.values()} - HOLDS_FOR_COMPLEX - HANDED_ON - {"external"}
    ):
        assert not rules.holds_for_complex(Equation((z,), name, (z, z))), name
    for linear in (False, True):  # a function from outside tells itself
        params = freeze({"function": types.SimpleNamespace(linear=linear)})
        assert rules.holds_for_complex(Equation((z,), "external", (z,), params)) is linear


def test_exported_gradients_test_themselves(tmp_path: Path) -> None:
    """By differences along complex directions: a conjugate gradient is found."""

    @st.differentiable(wrt=("z", "x"), level="readable")
    def function(z, x):
        return np.sum(np.abs(z) ** 2 * x) + np.sum((z * x).imag)

    path = tmp_path / "gradient.py"
    function.export(path, Z, X)
    text = path.read_text()
    right = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert right.returncode == 0, right.stdout + right.stderr
    assert "(d_z, d_x)" in text
    path.write_text(text.replace("(d_z, d_x)", "(d_z.conj(), d_x)"))
    wrong = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "failed: z: error" in wrong.stdout


def test_programs_are_read_back() -> None:
    """Complex constants, too."""
    for name in ("of_powers", "of_parts", "with_numbers"):
        gradient = st.value_and_grad(totalled(PROGRAMS[name]), (0, 1, 2))
        program = gradient.stage(gradient.bind(ARGS, {})).program
        assert parse_program(str(program)) == program


def test_training_steps_refuse_complex_parameters() -> None:
    step = st.train_step(lambda z: np.sum(np.abs(z)), st.optim.SGD(0.1))
    with pytest.raises(st.DerivativeError, match=r"conjugate[\s\S]*np.conj\(gradient\)"):
        step(Z.copy())


def test_maxima_of_complex_numbers_stay_where_they_are() -> None:
    """They are in lexicographic order, in which no function increases."""
    images = drawn(1, 2, 4, 4)

    def function(x, images):
        return np.sum(x) + np.sum(st.nn.max_pool2d(np.exp(images), 2).imag)

    for level in LEVELS:
        value, _ = st.value_and_grad(function, level=level)(X, images)
        np.testing.assert_allclose(value, function(X, images))
