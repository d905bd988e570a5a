"""Functions of symmetric and Hermitian matrices whose eigenvalues are equal, or nearly equal: right
where they are smooth, and NaN with a warning where they are not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEVELS = ("readable", "fast", "compiled")
C = np.arange(9.0).reshape(3, 3) / 9 + np.eye(3)
B = np.linspace(-1, 1, 6).reshape(3, 2)
TURN = np.linalg.qr(C + 3 * np.eye(3))[0]


def with_eigenvalues(*w: float) -> Any:
    return TURN @ np.diag(w) @ TURN.T


MATRICES = {
    "multiple": 4 * np.eye(3),
    "zero": np.zeros((3, 3)),
    "two": with_eigenvalues(2, 5, 5),
    "distinct": with_eigenvalues(2, 3.5, 5),
    **{f"{gap:.0e}": with_eigenvalues(2, 5, 5 * (1 + gap)) for gap in 10.0 ** np.arange(-15, -4)},
}


def symmetric(x: Any) -> Any:
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2


def scaled_columns(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.exp(w / 4)) @ v.T * C)


def diagonal(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum(v @ np.diag(np.sin(w)) @ v.T * C)


def summed(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum(np.einsum("ij,j,kj->ki", v, np.sqrt(w + 1), v) * C)


def applied(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum(v @ (np.tanh(w)[:, None] * (v.T @ B)) * B)


def quadratic_form(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    y = v.T @ B
    return np.sum(y**2 / (w[:, None] + 1)) + np.sum(np.log(w + 1)) / 2


def normalised(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    p = np.exp(-w)
    return np.sum((v * (p / np.sum(p))) @ v.T * C)


def chosen(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.where(w > 3, w * w, 9.0)) @ v.T * C)


def alone(a: Any) -> Any:
    w = np.linalg.eigvalsh(a)
    return np.sum(w**3) / 9 + np.prod(w / 5 + 1) + np.var(w)


def in_a_loop(a: Any) -> Any:
    total = 0.0
    for k in range(20):
        w, v = np.linalg.eigh(a + k * np.eye(3))
        total += np.sum((v * np.cos(w)) @ v.T * C)
    return total


def upper(a: Any) -> Any:
    w, v = np.linalg.eigh(a, "U")
    return np.sum((v * w**2) @ v.T * C)


def rows(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum(((v * np.exp(w / 4)) @ v.T)[1]) + np.sum(v[2, :] ** 2 * np.sin(w))


def in_pairs(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    z = np.einsum("ik,k,jk->ij", v, np.cos(w), v, optimize=True)
    return np.sum((z + np.einsum("k,ik->ki", w, v).T @ v.T) * C)


def below_the_largest(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    p, q = np.exp(w - w.max()), np.exp(np.min(w) - w)
    return np.sum((v * (p / p.sum() + q / q.sum())) @ v.T * C)


STEPS: dict[str, Callable[[Any], Any]] = {
    "maximum": lambda w: np.maximum(w, 3),
    "minimum": lambda w: np.minimum(w, 3.0) ** 2,
    "clip": lambda w: np.clip(w, 2.5, 4.5),
    "one bound": lambda w: np.clip(w, 3, None) * w,
    "mask": lambda w: w * (w > 3),
    "boolean": lambda w: w > 3,
    "cast": lambda w: (w < 3).astype(float) + (w > 3).astype(int),
    "where": lambda w: np.where(w > 3, w, 3),
    "added": lambda w: np.maximum(w, 3) + np.minimum(w, 9),  # slopes are added as numbers
    "negative": lambda w: -np.maximum(w, 3),
}


def stepped(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    weights = sum(STEPS[name](w) * (k + 1) for k, name in enumerate(STEPS))
    return np.sum((v * weights) @ v.T * C) + np.sum((v * (w > 3)) @ v.T)


SMOOTH = (
    *(scaled_columns, diagonal, summed, applied, quadratic_form, normalised, alone, in_a_loop),
    *(upper, rows, in_pairs, below_the_largest, stepped),
)


def differences(f: Callable[..., Any], x: Any, h: float = 1e-3) -> Any:
    """Central differences of fourth order in all symmetric or Hermitian directions."""
    found = np.zeros(x.shape, x.dtype)
    for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
        for at in np.ndindex(*x.shape):
            e = np.zeros(x.shape, x.dtype)
            e[at] = unit
            e = symmetric(e)
            steps = [f(x + k * h * e) - f(x - k * h * e) for k in (1, 2)]
            found[at] += np.conj(unit) * (8 * steps[0] - steps[1]) / (12 * h)
    return found


def tangents(f: Callable[..., Any], x: Any, **options: Any) -> Any:
    found = [st.jvp(f, (x,), (e.reshape(x.shape),), **options)[1] for e in np.eye(x.size)]
    return np.reshape(found, x.shape)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("f", SMOOTH, ids=lambda f: f.__name__)
def test_smooth(f: Callable[..., Any], matrix: str) -> None:
    x = MATRICES[matrix]
    expected = symmetric(differences(f, x))
    np.testing.assert_allclose(symmetric(st.grad(f)(x)), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(symmetric(tangents(f, x)), expected, rtol=1e-8, atol=1e-8)
    _, pullback = st.vjp(f, x)
    np.testing.assert_allclose(symmetric(pullback(1.0)[0]), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("f", [scaled_columns, rows, stepped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("level", LEVELS)
def test_levels(level: Any, f: Callable[..., Any]) -> None:
    if level == "compiled":
        pytest.importorskip("numba")
    for name in ("multiple", "two", "distinct"):
        x = MATRICES[name]
        expected = symmetric(differences(f, x))
        np.testing.assert_allclose(symmetric(st.grad(f, level=level)(x)), expected, rtol=1e-8)
        np.testing.assert_allclose(symmetric(tangents(f, x, level=level)), expected, rtol=1e-8)


def by_columns(g: Any, a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * g(w)) @ v.T


def by_diagonal(g: Any, a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return v @ np.diag(g(w)) @ v.T


def by_singular_values(g: Any, a: Any) -> Any:
    u, s, vh = np.linalg.svd(a)
    return (u * g(s)) @ vh


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [by_columns, by_diagonal, by_singular_values])
@pytest.mark.parametrize("name", STEPS)
def test_steps(name: str, form: Any) -> None:
    def f(a: Any) -> Any:
        return np.sum(form(STEPS[name], a) * C)

    for matrix in ("multiple", "two", "distinct"):
        x = MATRICES[matrix]
        expected = symmetric(differences(f, x))
        close = {"rtol": 1e-8, "atol": 1e-8}
        np.testing.assert_allclose(symmetric(st.grad(f)(x)), expected, **close)
        np.testing.assert_allclose(symmetric(tangents(f, x)), expected, **close)
        single = x.astype(np.float32)
        assert st.grad(f)(single).dtype == np.float32
    at_the_kink = symmetric(st.grad(f)(3 * np.eye(3)))
    assert not at_the_kink.any() or name not in ("maximum", "boolean", "where")


def test_rows_by_position() -> None:
    def local(a: Any, i: Any, k: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(v[i] ** 2 * np.exp(w / 4)) + np.sum(((v * w**k) @ v.T)[i])

    for name in ("multiple", "two", "distinct"):
        x = MATRICES[name]
        expected = symmetric(differences(lambda a: local(a, 1, 1.7), x))
        for level in ("readable", "fast"):
            found = symmetric(st.grad(local, level=level)(x, 1, 1.7))
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_largest() -> None:
    """The largest eigenvalue shares its cotangent evenly among equal ones."""

    def f(a: Any) -> Any:
        return np.max(np.linalg.eigvalsh(a))

    projector = TURN @ np.diag([0, 0.5, 0.5]) @ TURN.T
    for x, expected in ((4 * np.eye(3), np.eye(3) / 3), (MATRICES["two"], projector)):
        np.testing.assert_allclose(symmetric(st.grad(f)(x)), expected, atol=1e-12)
        np.testing.assert_allclose(symmetric(tangents(f, x)), expected, atol=1e-12)


def projector(a: Any) -> Any:
    c = np.linalg.eigh(a)[1][:, 1:]
    return np.sum(c @ c.T * C)


def occupied(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    c = v[:, ::-1][:, :2]
    return np.sum((c * w[::-1][:2] ** 2) @ c.T * C)


def lowest(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v[:, 0] @ B[:, 0]) ** 2 + w[0]


@pytest.mark.parametrize("f", [projector, occupied, lowest], ids=lambda f: f.__name__)
def test_whole_groups(f: Callable[..., Any]) -> None:
    """What is read of eigenvectors are all of equal eigenvalues, or none of them."""
    x = MATRICES["two"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = symmetric(st.grad(f)(x))
    np.testing.assert_allclose(found, symmetric(differences(f, x)), rtol=1e-8, atol=1e-8)


def kink(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.abs(w)) @ v.T * C)


def positive(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.maximum(w, 0)) @ v.T * C)


def by_position(a: Any) -> Any:
    v = np.linalg.eigh(a)[1]
    return np.sum((v * np.arange(3.0)) @ v.T * C)


def element(a: Any) -> Any:
    return np.linalg.eigh(a)[1][0, 1] ** 2


def middle(a: Any) -> Any:
    return np.linalg.eigvalsh(a)[1]


def hidden(a: Any) -> Any:
    """A smooth function that is not recognised, whose columns are 0 at the eigenvalue 4."""
    w, v = np.linalg.eigh(a)
    columns = [v[:, k] * (w[k] - 4) for k in range(3)]
    return np.sum(np.stack(columns, axis=1) @ v.T * C)


NOT_SMOOTH = (projector, by_position, element, middle, hidden)
UNKNOWN = "equal eigenvalues"


@pytest.mark.parametrize("f", NOT_SMOOTH, ids=lambda f: f.__name__)
def test_not_smooth(f: Callable[..., Any]) -> None:
    """In the basis of unit vectors many a derivative is 0 by accident: it is NaN still."""
    for x in (4 * np.eye(3), 4 * np.eye(3) + 1e-15 * symmetric(C)):
        with pytest.warns(RuntimeWarning, match=UNKNOWN):
            found = st.grad(f)(x)
        assert np.isnan(found[np.tril_indices(3)]).any()
        assert not np.any(np.isfinite(found) & (found != 0))
        with pytest.warns(RuntimeWarning, match=UNKNOWN):
            found = tangents(f, x)
        assert np.isnan(found).any()


def test_kinks_at_nearly_equal_eigenvalues() -> None:
    x = with_eigenvalues(2, 0, 0)
    w = np.linalg.eigvalsh(x)
    assert np.sort(np.abs(w))[1] < 1e-15
    for f in (kink, positive):
        with pytest.warns(RuntimeWarning, match=UNKNOWN):
            assert np.isnan(st.grad(f)(np.diag([2, 1e-16, -1e-16]))).any()
    assert not st.grad(positive)(np.zeros((3, 3))).any()  # as of np.maximum(x, 0) at 0


def test_hermitian() -> None:
    turn = np.linalg.qr(C + 1j * np.eye(3))[0]

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        y = v.conj().T @ (B + 1j * B[::-1])
        both = np.sum((v * np.exp(1j * w)) @ v.conj().T * (C + 1j * C**2)).real
        return both + np.sum(y.conj() * y / (w[:, None] + 3)).real

    for w in ((1, 1, 1), (1, 1, 2), (1, 1 + 1e-9, 2), (1, 1.5, 2)):
        x = symmetric(turn @ np.diag(w) @ turn.conj().T)
        expected = symmetric(differences(f, x).conj())
        np.testing.assert_allclose(symmetric(st.grad(f)(x).conj()), expected, rtol=1e-8, atol=1e-8)


def test_stacks() -> None:
    xs = np.stack([MATRICES["multiple"], MATRICES["two"], MATRICES["distinct"]])

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.sqrt(w)[..., None, :]) @ np.swapaxes(v, -1, -2) * C)

    each = np.stack([st.grad(f)(x) for x in xs])
    np.testing.assert_allclose(st.grad(f)(xs), each, rtol=1e-12)
    np.testing.assert_allclose(st.vmap(st.grad(f))(xs), each, rtol=1e-12)


def test_float32() -> None:
    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.sqrt(w)) @ v.T * C.astype(a.dtype))

    for x in MATRICES.values():
        x = x + np.eye(3)
        found = st.grad(f)(x.astype(np.float32))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, st.grad(f)(x), rtol=2e-4, atol=2e-5)


SECOND = (scaled_columns, quadratic_form, rows, stepped)


@pytest.mark.parametrize("f", SECOND, ids=lambda f: f.__name__)
def test_second_order(f: Callable[..., Any]) -> None:
    """Second derivatives are known for distinct eigenvalues; for equal ones they are NaN."""
    x = MATRICES["distinct"]
    gradient, h = st.grad(f), 1e-5
    found = st.hessian(f)(x)
    for at in zip(*np.tril_indices(3), strict=True):
        e = np.zeros((3, 3))
        e[at] = 1
        expected = (gradient(x + h * e) - gradient(x - h * e)) / (2 * h)
        np.testing.assert_allclose(found[(..., *at)], expected, rtol=1e-6, atol=1e-8)
    with pytest.warns(RuntimeWarning, match=UNKNOWN):
        found = st.hessian(f)(MATRICES["two"])
    low = np.tril_indices(3)
    assert np.isnan(found[low]).any()
    assert not np.any(np.isfinite(found) & (found != 0))


def exponential(a: Any) -> Any:
    w, v = np.linalg.eig(a.astype(complex))
    return np.sum(((v * np.exp(w)) @ np.linalg.inv(v) * C).real)


def cubes(a: Any) -> Any:
    return np.sum(np.linalg.eigvals(a.astype(complex)) ** 3).real


def test_not_symmetric() -> None:
    """Of functions of matrices that are not symmetric those of the eigenvalues alone are known."""
    defective = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    for x in (MATRICES["multiple"], MATRICES["two"], MATRICES["distinct"]):
        np.testing.assert_allclose(st.grad(cubes)(x), 3 * (x @ x).T, rtol=1e-8)
    for f, x in ((exponential, 4 * np.eye(3)), (exponential, MATRICES["two"]), (cubes, defective)):
        with pytest.warns(RuntimeWarning, match=UNKNOWN):
            assert np.isnan(st.grad(f)(x)).all()


def test_generalised() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    metric = symmetric(2 * np.eye(3) + np.cos(C) / 4)
    half = np.linalg.cholesky(metric)

    def f(a: Any, b: Any) -> Any:
        w, v = linalg.eigh(a, b)
        return np.sum((v * np.exp(w)) @ v.T * C) + np.sum(linalg.eigvalsh(a, b, lower=False) ** 2)

    for w in ((1, 2, 3), (1, 2, 2), (2, 2, 2)):
        x = half @ with_eigenvalues(*w) @ half.T
        value, (d_a, d_b) = st.value_and_grad(f, (0, 1))(x, metric)
        np.testing.assert_allclose(value, f(x, metric), rtol=1e-12)
        for found, one, at in ((d_a, lambda a: f(a, metric), x), (d_b, lambda b: f(x, b), metric)):
            expected = symmetric(differences(one, at))
            np.testing.assert_allclose(symmetric(found), expected, rtol=1e-8, atol=1e-8)


def test_rings() -> None:
    """Levels of a ring come in pairs; the projector on whole pairs is smooth."""

    def filled(x: Any) -> Any:
        m = len(x)
        h = np.diag(x) - np.roll(np.eye(m), 1, 0) - np.roll(np.eye(m), -1, 0)
        c = np.linalg.eigh(h)[1][:, :3]
        p = c @ c.T
        return np.sum(p * p.T * np.arange(m)) + p[0, 1]

    x, h = np.zeros(6), 1e-3
    expected = [
        (8 * (filled(x + e) - filled(x - e)) - filled(x + 2 * e) + filled(x - 2 * e)) / (12 * h)
        for e in h * np.eye(6)
    ]
    np.testing.assert_allclose(st.grad(filled)(x), expected, rtol=1e-8, atol=1e-9)
