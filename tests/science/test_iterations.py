"""Iterations until convergence: roots, fixed points, eigenvalues, minima, series."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import check_closely, check_second_order
from tests.programs import Examples
from tests.science.checks import check_program, in_place

examples = Examples(check_program)
second_order = Examples(check_second_order)
with_gradients = Examples(check_closely)

RNG = np.random.default_rng(3)
A = RNG.normal(size=(4, 4))
SPD = A @ A.T * 0.3 + 2 * np.eye(4)
B = np.array([0.5, -1.0, 0.3, 0.8])
COEFFICIENTS = np.array([0.3, -1.2, 0.5, 0.9, -0.4, 0.2])
LONG_COEFFICIENTS = np.sin(np.arange(22.0)) / (1 + np.arange(22.0))


# --- roots ---------------------------------------------------------------------------------------


@examples(2.0)
@examples(0.03)
@examples(900.0)
@second_order(2.0)
def babylonian_square_root(a):
    """Heron's rule."""
    x = 0.5 * (a + 1.0)
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


@examples(np.array([1.0, -2.0, 0.5]), 2.0)
@examples(np.array([2.0, 0.3, 0.1]), 1.0)
def newton_for_a_quartic(p, start):
    """A root of ``x**4 + p[0] * x**3 + p[1] * x - p[2] - 1``, with a limit on the steps."""
    x = start
    for _ in range(50):
        f = x**4 + p[0] * x**3 + p[1] * x - p[2] - 1
        if abs(f) < 1e-13:
            break
        x = x - f / (4 * x**3 + 3 * p[0] * x**2 + p[1])
    return x


@examples(0.3, 0.8, wrt=(0, 1))
@examples(0.9, 5.0, wrt=(0, 1))
@second_order(0.3, 0.8)
def keplers_equation(e, m):
    """The true anomaly from the eccentricity and the mean anomaly."""
    anomaly = m if e < 0.8 else np.pi
    step = 1.0
    while abs(step) > 1e-12:
        step = (anomaly - e * np.sin(anomaly) - m) / (1 - e * np.cos(anomaly))
        anomaly = anomaly - step
    return 2 * np.arctan(np.sqrt((1 + e) / (1 - e)) * np.tan(anomaly / 2))


@examples(np.array([0.7, 1.9]))
def newton_in_two_dimensions(p):
    """A point of a circle on a hyperbola, with the inverse of the Jacobian written out."""
    z = np.array([2.0, 0.6])
    residual = 1.0
    while residual > 1e-12:
        f = np.array([z[0] ** 2 + z[1] ** 2 - 4 * p[1] / 1.9, z[0] * z[1] - p[0]])
        a, b, c, d = 2 * z[0], 2 * z[1], z[1], z[0]
        det = a * d - b * c
        step = np.array([d * f[0] - b * f[1], a * f[1] - c * f[0]]) / det
        z = z - step
        residual = np.max(np.abs(step))
    return z


@examples(np.array([0.6, 0.2]))
@examples(np.array([-0.4, 1.2]))
def fixed_point(p):
    """``x = cos(p[0] * x) + p[1]`` by iteration."""
    x, previous, count = 0.5, 2.0, 0
    while abs(x - previous) > 1e-13 and count < 500:
        previous = x
        x = np.cos(p[0] * x) + p[1]
        count += 1
    return x


@examples(np.array([0.5, -0.2, 0.1, 0.4]))
def fixed_point_of_an_array(b):
    """The equilibrium of a recurrent layer."""
    h = np.zeros(4)
    change = 1.0
    while change > 1e-13:
        new = np.tanh(0.2 * (A @ h) + b)
        change = np.sqrt(np.sum((new - h) ** 2))
        h = new
    return h


@examples(2.0)
@examples(7.3)
def secant_method(a):
    """The cube root."""
    x0, x1 = 1.0, 2.5
    f0, f1 = x0**3 - a, x1**3 - a
    while abs(f1) > 1e-11:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, x1**3 - a
    return x1


def bisect(function, low, high, tolerance):
    """A bracket of a root, by halving."""
    positive = function(high) > 0
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        if (function(middle) > 0) == positive:
            high = middle
        else:
            low = middle
    return low, high


@examples(np.array([1.7, 0.4]))
@examples(np.array([3.3, -0.5]))
@second_order(np.array([1.7, 0.4]))
def bisection_and_one_polish(p):
    """Halve to find where the root is, then take Newton's steps: a root's own derivative."""

    def f(x):
        return x**3 + p[1] * x - p[0]

    low, high = bisect(f, -1.0, 3.0, 0.2)
    x = 0.5 * (low + high)
    for _ in range(5):
        x = x - f(x) / (3 * x * x + p[1])
    return x


def test_bisection_alone():
    """Its result is the bracket's ends, weighted: so is its derivative."""

    def root(bracket, c):
        low, high = bisect(lambda x: x * x - c, bracket[0], bracket[1], 1e-3)
        return 0.5 * (low + high)

    for c in (2.0, 1.3, 3.9):
        bracket = np.array([0.0, 2.0])
        value, (slope, by_c) = st.value_and_grad(root, (0, 1))(bracket, c)
        assert abs(value - np.sqrt(c)) < 1e-3
        assert value == root(bracket, c)
        np.testing.assert_allclose(slope, [1 - value / 2, value / 2], rtol=1e-12)
        assert by_c == 0.0


# --- linear algebra ------------------------------------------------------------------------------


@examples(SPD)
@examples(SPD + 0.5 * np.outer(B, B))
def power_iteration(matrix):
    """The largest eigenvalue, until it does not change any more."""
    v = np.ones(len(matrix)) / 2
    value, change = 0.0, 1.0
    while change > 1e-14:
        w = matrix @ v
        v = w / np.sqrt(w @ w)
        new = v @ matrix @ v
        change = abs(new - value)
        value = new
    return value


@examples(SPD, 30)
@examples(SPD, 6)
def power_iteration_with_deflation(matrix, steps):
    """Two eigenvalues by a fixed number of steps."""
    values = []
    for _ in range(2):
        v = np.cos(np.arange(4.0))
        for _ in range(steps):
            v = matrix @ v
            v = v / np.sqrt(v @ v)
        value = v @ matrix @ v
        matrix = matrix - value * np.outer(v, v)
        values.append(value)
    return values


@examples(SPD, B, wrt=(0, 1))
def conjugate_gradients(matrix, b):
    """The solution of a symmetric positive definite system."""
    x = np.zeros_like(b)
    r = b - matrix @ x
    p = r
    rs = r @ r
    for _ in range(len(b)):
        ap = matrix @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x


@examples(SPD, B, wrt=(0, 1))
@in_place
def gauss_seidel(matrix, b):
    """Sweeps in place until they change little."""
    n = len(b)
    x = np.zeros(n)
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for i in range(n):
            new = (b[i] - matrix[i, :i] @ x[:i] - matrix[i, i + 1 :] @ x[i + 1 :]) / matrix[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
    return x


@examples(SPD, B, 1.1, wrt=(0, 1, 2))
@in_place
def successive_over_relaxation(matrix, b, omega):
    """A fixed number of sweeps: what they return depends on the relaxation."""
    x = np.zeros(len(b))
    for _ in range(3):
        for i in range(len(b)):
            x[i] += omega * (b[i] - matrix[i] @ x) / matrix[i, i]
    return x


@examples(SPD)
@second_order(SPD)
@in_place
def cholesky(matrix):
    """The factor, row by row."""
    n = len(matrix)
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i, j] - factor[i, :j] @ factor[j, :j]
            if i == j:
                factor[i, i] = np.sqrt(rest)
            else:
                factor[i, j] = rest / factor[j, j]
    return factor


@examples(SPD, B, wrt=(0, 1))
@examples(SPD[::-1], B, wrt=(0, 1))
@examples(A, B, wrt=(0, 1))
@in_place
def gaussian_elimination(matrix, b):
    """The solution of a system, with pivots chosen at run time."""
    n = len(b)
    a = np.concatenate([matrix, b[:, None]], axis=1)
    for k in range(n):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        row = a[pivot].copy()
        a[pivot] = a[k]
        a[k] = row / row[k]
        for i in range(n):
            if i != k:
                a[i] -= a[i, k] * a[k]
    return a[:, -1]


@examples(SPD)
def gram_schmidt(matrix):
    """Orthogonal columns, of which those that are nearly dependent would be left out."""
    basis = []
    for k in range(len(matrix)):
        v = matrix[:, k]
        for q in basis:
            v = v - (q @ v) * q
        basis.append(v / np.sqrt(v @ v))
    return np.stack(basis)


@examples(0.2 * SPD)
def matrix_exponential(matrix):
    """The series, until its terms are small."""
    total = term = np.eye(len(matrix))
    k = 1
    while np.max(np.abs(term)) > 1e-16:
        term = term @ matrix / k
        total = total + term
        k += 1
    return total


# --- minima --------------------------------------------------------------------------------------


def rosenbrock(z, a):
    return (a - z[0]) ** 2 + 10.0 * (z[1] - z[0] ** 2) ** 2


@with_gradients(np.array([0.9, 0.3]), 1.1)
def descent_with_a_nested_gradient(z, a):
    """Where gradient descent goes from a point."""
    gradient = st.grad(rosenbrock)
    for _ in range(20):
        z = z - 0.01 * gradient(z, a)
    return z


@with_gradients(0.9)
def minimum_by_newton(a):
    """Newton's iteration on a nested gradient, until that is small."""

    def energy(z):
        return z**4 + (z - a) ** 2

    first, second = st.grad(energy), st.grad(st.grad(energy))
    z, slope = 0.5, 1.0
    while abs(slope) > 1e-10:
        slope = first(z)
        z = z - slope / second(z)
    return z


@examples(np.array([0.9, 0.3]), 0.05)
def descent_with_backtracking(z, rate):
    """The step is halved until the function decreases enough."""
    for _ in range(4):
        value = (1.1 - z[0]) ** 2 + 4.0 * (z[1] - z[0] ** 2) ** 2
        inner = z[1] - z[0] ** 2
        slope = np.array([-2 * (1.1 - z[0]) - 16.0 * inner * z[0], 8.0 * inner])
        step = rate * 8
        while True:
            new = z - step * slope
            trial = (1.1 - new[0]) ** 2 + 4.0 * (new[1] - new[0] ** 2) ** 2
            if trial < value - 0.1 * step * (slope @ slope):
                break
            step = step / 2
        z = new
    return z


@examples(np.array([1.0, 2.0]))
@second_order(np.array([1.0, 2.0]))
def golden_section(p):
    """The value at the minimum: by the envelope theorem its derivative is right at once."""
    low, high = -1.0, 3.0
    ratio = 0.6180339887498949
    while high - low > 1e-6:
        x1, x2 = high - ratio * (high - low), low + ratio * (high - low)
        if (x1 - 1.0) ** 2 < (x2 - 1.0) ** 2:
            high = x2
        else:
            low = x1
    x = 0.5 * (low + high)
    return p[0] * (x - 1.0) ** 2 + p[1] ** 2 * x


# --- polynomials, maps, series -------------------------------------------------------------------


@examples(COEFFICIENTS, 0.7, wrt=(0, 1))
@examples(LONG_COEFFICIENTS, 0.7, wrt=(0, 1))
@second_order(LONG_COEFFICIENTS, 0.7)
def horner(coefficients, x):
    """A polynomial and its derivative in one sweep."""
    value, slope = 0.0, 0.0
    for c in coefficients[::-1]:
        slope = slope * x + value
        value = value * x + c
    return value, slope


@examples(COEFFICIENTS, np.linspace(-0.9, 0.9, 5), wrt=(0, 1))
@examples(LONG_COEFFICIENTS, np.linspace(-0.9, 0.9, 5), wrt=(0, 1))
def clenshaw(coefficients, x):
    """A sum of Chebyshev polynomials at many points."""
    b1 = b2 = np.zeros_like(x)
    for k in range(len(coefficients) - 1, 0, -1):
        b1, b2 = coefficients[k] + 2 * x * b1 - b2, b1
    return coefficients[0] + x * b1 - b2


@examples(3.2, 0.3, 10, wrt=(0, 1))
@examples(3.2, 0.3, 40, wrt=(0, 1))
@second_order(3.2, 0.3, 20)
def logistic_map(r, x, steps):
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


@examples(np.array([0.31, 0.44]))
@examples(np.array([0.1, 0.2]))
@examples(np.array([0.9, 0.7]))
def mandelbrot(c):
    """The smooth escape count of a point; 0 for a point that stays."""
    zr = zi = 0.0
    for n in range(25):
        zr, zi = zr * zr - zi * zi + c[0], 2 * zr * zi + c[1]
        if zr * zr + zi * zi > 16:
            return n + 1 - np.log(0.5 * np.log(zr * zr + zi * zi)) / np.log(2.0)
    return (zr + zi) * 0.0


@examples(0.8)
@second_order(0.8)
def complete_elliptic_integral(m):
    """By the arithmetic-geometric mean."""
    a, g = 1.0, np.sqrt(1 - m)
    while abs(a - g) > 1e-14:
        a, g = 0.5 * (a + g), np.sqrt(a * g)
    return np.pi / (2 * a)


@examples(0.7, 1.3, 2.2, 0.4, wrt=(0, 1, 2, 3))
def hypergeometric(a, b, c, z):
    """Gauss's series until the terms vanish."""
    term = total = 1.0
    n = 0
    while abs(term) > 1e-16:
        term = term * (a + n) * (b + n) / ((c + n) * (n + 1)) * z
        total = total + term
        n += 1
    return total


@examples(4.5)
@examples(0.7)
@examples(-1.3)
def log_gamma_by_recurrence(x):
    """Stirling's series, after the argument is shifted to where that is accurate."""
    shift = 0.0
    while x < 8:
        shift = shift - np.log(np.abs(x))
        x = x + 1
    return shift + (x - 0.5) * np.log(x) - x + 1 / (12 * x) - 1 / (360 * x**3)


def simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f(0.5 * (a + b)) + f(b))


@examples(2.0, 1.3, wrt=(0, 1))
def quadrature(w, end):
    """Simpson's rule on pieces that are halved while the two estimates differ."""

    def f(x):
        return np.exp(-w * x * x)

    total, a, size, evaluations = 0.0, 0.0, 0.5 * end, 0
    while end - a > 1e-12:
        b = a + size if a + size < end else end
        coarse = simpson(f, a, b)
        fine = simpson(f, a, 0.5 * (a + b)) + simpson(f, 0.5 * (a + b), b)
        evaluations += 1
        if abs(fine - coarse) > 1e-5:
            size = size * 0.5
            continue
        total = total + fine
        a = b
    return total * (1 + 0 * evaluations)


test_program = examples.tests()
test_second_order = pytest.mark.slow(second_order.tests())
test_program_with_a_gradient_inside = pytest.mark.slow(with_gradients.tests())
