"""``jacobian`` and ``hessian`` of complex functions, against differences and against formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))
X = RNG.normal(size=3)
Z = X + 1j * RNG.normal(size=3)
STEP = 1e-6

every_mode = pytest.mark.parametrize("mode", ("forward", "reverse"))
every_level = pytest.mark.parametrize("level", ("readable", "fast"))


def differences(function: Callable[[Any], Any], x: Any, direction: complex = 1) -> Any:
    """The derivative in the direction of each unit vector, times ``direction``."""
    made = []
    for at in np.ndindex(x.shape):
        h = np.zeros(x.shape, np.result_type(x, type(direction)))
        h[at] = STEP * direction
        made.append((function(x + h) - function(x - h)) / (2 * STEP))
    return np.stack(made, -1).reshape(*np.shape(made[0]), *x.shape)


def of_waves(x):
    return np.exp(1j * (A.real @ x)) * x[0]


def looped(x):
    z = x * (0.3 + 0.4j)
    for _ in range(20):
        z = np.sin(z) + x[::-1]
    return z


def spectrum(x):
    return np.fft.rfft(np.tanh(x))


@every_level
@every_mode
@pytest.mark.parametrize("function", [of_waves, looped, spectrum])
def test_complex_results_of_real_arguments(function: Any, mode: Any, level: Any) -> None:
    found = st.jacobian(function, mode=mode, level=level)(X)
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, differences(function, X), rtol=1e-6, atol=1e-8)


def sizes(z):
    return np.abs(A @ z) ** 2 * np.real(z[1])


def branch(z):
    if np.abs(z[0]) > 0.1:
        return np.imag(z * z) * np.abs(z[0])
    return np.real(z)


@every_level
@every_mode
@pytest.mark.parametrize("function", [sizes, branch, np.abs, np.angle])
def test_real_results_of_complex_arguments(function: Any, mode: Any, level: Any) -> None:
    """Each row is the gradient of that result."""
    found = st.jacobian(lambda z: function(z), mode=mode, level=level)(Z)
    expected = differences(function, Z) - 1j * differences(function, Z, 1j)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    row = st.grad(lambda z: function(z)[1])(Z)
    np.testing.assert_allclose(found[1], row, rtol=1e-12)


def layered(z):
    return np.tanh(A @ z) * np.exp(z[0])


def iterated(z):
    total = z
    for i in range(20):
        total = total / (i + 1.5) + np.cos(z) * z[0]
    return total


def solved(z):
    return np.linalg.solve(np.outer(z, z) + 3 * np.eye(3), z**2)


@every_level
@every_mode
@pytest.mark.parametrize("function", [layered, iterated, solved])
def test_holomorphic(function: Any, mode: Any, level: Any) -> None:
    found = st.jacobian(function, mode=mode, holomorphic=True, level=level)(Z)
    np.testing.assert_allclose(found, differences(function, Z), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found, differences(function, Z, 1j) / 1j, rtol=1e-6, atol=1e-8)


@every_mode
def test_real_and_complex_arguments_in_one(mode: Any) -> None:
    """Each pair of a result and an argument has the Jacobian that it has alone."""

    def f(x, z):
        return {"size": np.abs(z[:2]) * x[0], "x": x}

    found = st.jacobian(f, wrt=("x", "z"), mode=mode)(X, Z)
    assert found["x"][0].dtype == found["size"][0].dtype == np.float64
    assert found["x"][1].dtype == np.complex128
    np.testing.assert_array_equal(found["x"][1], 0)
    expected = np.eye(2, 3) * np.conj(Z) / np.abs(Z) * X[0]
    np.testing.assert_allclose(found["size"][1], expected, rtol=1e-12)

    def g(x, z):
        return np.outer(np.exp(z), x)

    by_x, by_z = st.jacobian(g, wrt=("x", "z"), mode=mode, holomorphic=True)(X, Z)
    np.testing.assert_allclose(by_x, np.einsum("i,jk->ijk", np.exp(Z), np.eye(3)))
    np.testing.assert_allclose(by_z, np.einsum("i,j,ik->ijk", np.exp(Z), X, np.eye(3)))


@every_mode
def test_numbers_types_and_empty_arrays(mode: Any) -> None:
    turned = st.jacobian(lambda x: np.exp(1j * x), mode=mode)
    for x in (0.3, np.float64(0.3)):
        np.testing.assert_allclose(turned(x), 1j * np.exp(0.3j), rtol=1e-15)
    assert turned(np.ones(2, np.float32)).dtype == np.complex64
    assert turned(np.ones(0)).shape == (0, 0)
    assert turned(np.ones(0)).dtype == np.complex128
    size = st.jacobian(lambda z: abs(z) ** 2, mode=mode)
    assert size(1 + 2j) == 2 - 4j
    assert size(np.ones(0, np.complex64)).dtype == np.complex64


def test_against_jax() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    with jax.enable_x64(True):
        expected = jax.jacrev(lambda z: jnp.abs(A @ z) ** 2 * jnp.real(z[1]))(Z)
        np.testing.assert_allclose(st.jacobian(sizes)(Z), expected, rtol=1e-12)
        expected = jax.jacfwd(lambda x: jnp.exp(1j * (A.real @ x)) * x[0])(X)
        np.testing.assert_allclose(st.jacobian(of_waves)(X), expected, rtol=1e-12)
        of_z = lambda z: jnp.tanh(A @ z) * jnp.exp(z[0])  # noqa: E731
        expected = jax.jacrev(of_z, holomorphic=True)(Z)
        found = st.jacobian(layered, holomorphic=True)(Z)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        expected = jax.hessian(lambda z: jnp.sum(of_z(z)), holomorphic=True)(Z)
        found = st.hessian(lambda z: np.sum(layered(z)), holomorphic=True)(Z)
        np.testing.assert_allclose(found, expected, rtol=1e-11)


@every_level
@every_mode
def test_hessians(mode: Any, level: Any) -> None:
    def f(z):
        return z[0] ** 2 * z[1] + np.exp(z[2]), np.abs(z)

    found, aux = st.hessian(f, mode=mode, has_aux=True, holomorphic=True, level=level)(Z)
    expected = np.array([[2 * Z[1], 2 * Z[0], 0], [2 * Z[0], 0, 0], [0, 0, np.exp(Z[2])]])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(aux, np.abs(Z))


def test_a_hessian_by_parts_is_that_of_a_real_function() -> None:
    def f(a, b):
        return np.sum(np.abs((a + 1j * b) ** 2))

    (aa, ab), (_, bb) = st.hessian(f, wrt=(0, 1))(X, Z.imag)
    np.testing.assert_allclose(aa, 2 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(bb, 2 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(ab, 0, atol=1e-12)


def test_complex_second_derivatives_by_real_arguments() -> None:
    """The Jacobian of a Jacobian."""
    found = st.jacobian(st.jacobian(of_waves))(X)
    by_parts = [
        st.hessian(lambda x, i=i, part=part: part(of_waves(x)[i]))(X)
        for i in (0, 1)
        for part in (np.real, np.imag)
    ]
    expected = np.stack([by_parts[0] + 1j * by_parts[1], by_parts[2] + 1j * by_parts[3]])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: st.jacobian(lambda z: z * z), "one complex number only where it is holomorphic"),
        (lambda: st.jacobian(lambda z: np.conj(z) * z, holomorphic=True), "is not holomorphic"),
        (lambda: st.jacobian(lambda z: z * z.real, holomorphic=True), "`real` of complex numbers"),
        (lambda: st.jacobian(lambda z: np.abs(z), holomorphic=True), "returns real numbers"),
        (lambda: st.hessian(lambda z: np.sum(np.abs(z))), "Hessian of a real function by complex"),
        (lambda: st.hessian(lambda z: np.sum(z * z)), "returns the complex number"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(st.DerivativeError, match=message):
        make()(Z)


def test_what_is_not_holomorphic_is_found_in_loops_and_calls() -> None:
    def step(z):
        return z * np.abs(z)

    def f(z):
        for _ in range(20):
            z = step(z)
        return z

    with pytest.raises(st.DerivativeError, match="`absolute` of complex numbers") as caught:
        st.jacobian(f, holomorphic=True)(Z)
    assert "z * np.abs(z)" in str(caught.value)


def test_what_does_not_depend_on_the_argument_may_be_anything() -> None:
    def f(z, w):
        return z * np.abs(w), np.abs(z)

    found, _ = st.jacobian(f, has_aux=True, holomorphic=True)(Z, A[0])
    np.testing.assert_allclose(found, np.diag(np.abs(A[0])))
