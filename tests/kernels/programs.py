"""Programs for the compiled level, each with arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(3)
SQUARE, WIDE = RNG.normal(size=(12, 12)), RNG.normal(size=(5, 30))
LONG = RNG.normal(size=700)
SINGLE = WIDE.astype(np.float32)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def case(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = function, args
        return function

    return note


@case(SQUARE)
def sweeps(u: Any) -> Any:
    u = u.copy()
    for _ in range(30):
        for i in range(1, 11):
            for j in range(1, 11):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


@case(RNG.normal(size=(20, 18)))
def down_columns(a: Any) -> Any:
    """Parts of columns, which are stored as rows."""
    c = np.zeros((20, 20))
    for i in range(20):
        for k in range(18):
            c[i, : i + 1] += a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


@case(SQUARE)
def whole_sweeps(u: Any) -> Any:
    for _ in range(20):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return np.sum(u**3)


@case(SQUARE)
def shared_out(u: Any) -> Any:
    """Differences of neighbours, and of these again, times what depends on the point."""
    across, down = u[:, 1:] - u[:, :-1], u[1:] - u[:-1]
    bent = across[1:-1] * u[1:-1, 1:] - 0.5 * down[:-1, 1:] + down[1:, :-1] * 3.0
    corners = bent[1:, 1:] - bent[:-1, 1:] - bent[1:, :-1] + bent[:-1, :-1] / 2.0
    return np.sum(corners**3)


@case(SQUARE)
def in_its_own_place(u: Any) -> Any:
    u = u.copy()
    for _ in range(20):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])  # reads what it writes
        u[:, ::-1] += 0.1 * u
    return np.sum(u * u)


@case(SQUARE @ SQUARE.T + 12 * np.eye(12))
def cholesky(a: Any) -> Any:
    a = a.copy()
    for i in range(12):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return np.sum(np.tril(a) ** 2)


@case(SQUARE + 12 * np.eye(12))
def lu(a: Any) -> Any:
    a = a.copy()
    for k in range(11):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(a * a)


@case(WIDE)
def reductions(x: Any) -> Any:
    spread = x - np.mean(x, axis=0)
    top = np.max(spread, axis=1, keepdims=True)
    return np.sum(np.exp(spread - top)) + np.sum(np.prod(np.cos(x), axis=0)) + np.min(x)


@case(LONG)
def long_sums(x: Any) -> Any:
    return np.sum(np.sin(x)) * np.mean(x * x)


@case(SINGLE)
def single_precision(x: Any) -> Any:
    y = np.where(x > 0.1, x / 3, np.tanh(0.7 * x))
    return np.sum(y * 0.3 + np.maximum(y, 0.25)) / 2


@case(WIDE)
def arrangements(x: Any) -> Any:
    y = x.reshape(5, 5, 6).transpose(2, 0, 1)[::-1, :, 1:4]
    z = np.broadcast_to(y[0], (4, 5, 3)) * np.arange(3) + np.diagonal(y[:3])[0]
    return np.sum(z * y[2:]) + np.sum(np.expand_dims(x, 1) * x)


@case(WIDE, np.array([[4, 0], [-1, 2]]), np.array([3, 3, 29, -30]))
def picked(x: Any, rows: Any, columns: Any) -> Any:
    y = x[rows] * x[rows, 3:5][:, :, :1]
    return np.sum(y * y) + np.sum(x[:, columns] ** 3)


@case(LONG, RNG.integers(-40, 40, 50))
def walk(x: Any, steps: Any) -> Any:
    y, last = np.zeros(50), 0.0
    for t in range(50):
        last = 0.5 * last + x[steps[t]] * x[t]
        y[steps[t]] += last
    return np.sum(y * y)


@case(LONG)
def branches(x: Any) -> Any:
    low, total = 0.0, 0.0
    for t in range(600):
        rate = 0.5 if x[t] > low else 0.05
        low = low + rate * (x[t] - low)
        if low < 0.0:
            total += low * x[t + 1]
        else:
            total -= max(low, x[t + 2]) / 2.0
    return total


@case(0.3)
def iteration(a: float) -> Any:
    x = 1.0
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


@case(SQUARE[:, :3])
def pairs(position: Any) -> Any:
    energy = 0.0
    for i in range(12):
        for j in range(i + 1, 12):
            d = position[i] - position[j]
            energy += 1.0 / np.sqrt(np.dot(d, d) + 0.01)
    return energy


@case(SQUARE[:4, :3])
def systems_between(x: Any) -> Any:
    """Calls between loops, and loops with calls."""
    total = 0.0
    for t in range(20):
        a = np.outer(x[0], x[0]) + 3.0 * np.eye(3)
        x = np.tanh(x @ np.linalg.inv(a) + 0.1 * t)
        total = total + np.sum(x * x)
    return total


@case(WIDE)
def put_together(x: Any) -> Any:
    both = np.concatenate((x[:, 20:], 2 * x[:, :20]), axis=1)
    layers = np.stack((x, both * both, np.roll(x, 4, axis=1)), axis=1)
    edged = np.pad(layers[:, 1], ((1, 0), (2, 3)))
    row = np.array([x[0, 0], x[1, 1] * 2.0, np.sum(x[2])])
    flat = layers.transpose(1, 0, 2).reshape(3, 150)
    return np.sum(edged**2) + np.sum(np.cumsum(both, axis=1)) * np.sum(row @ flat)


@case(WIDE)
def picked_by_size(x: Any) -> Any:
    columns, row = np.argmax(x, axis=1), np.argmin(x[:, 2])
    return np.sum(x[np.arange(5), columns] ** 2) * x[row, 0] + np.sum((x[:, :5] * np.eye(5)) ** 3)


@case(SQUARE[:4])
def complex_steps(x: Any) -> Any:
    """Arrays that are not compiled, kept for all steps of a loop with some that are."""
    total = 0.0
    for t in range(20):
        z = np.fft.fft(x[t % 4] * x[1])
        x = np.tanh(x + 0.01 * np.abs(z))
        total = total + np.sum(x * x)
    return total


@case(RNG.normal(size=3))
def small_vectors(z: Any) -> Any:
    for _ in range(40):
        slope = np.array([10.0 * (z[1] - z[0]), z[0] * (28.0 - z[2]) - z[1], z[0] * z[1] - z[2]])
        z = z + 0.001 * slope
    return np.sum(z * z)


@case(WIDE, np.array(0.5))
def masked(x: Any, v: Any) -> Any:
    y = x * 2
    y[x > 0.3] = v
    y[(x < -0.5) | (x > 0.95)] = 0
    return np.sum(y * x) * v + np.sum(x[x > 1.0])


@case(WIDE)
def first_large_row(x: Any) -> Any:
    """Rows that some steps leave undefined."""
    for t in range(5):
        for k in range(30):
            row = x[t] * x[:, k][0]
            if np.sum(row) > 2.0:
                return np.sum(row * row)
    return np.sum(x)


@case(WIDE)
def standardised(x: Any) -> Any:
    """Writes to its argument what is read again after a call."""
    spread = np.std(x, axis=0)
    spread[spread < 0.5] = 1.0
    x -= np.mean(x, axis=0)
    x /= spread
    return np.sum(x[:, 0] * x[:, 1]) + np.sum(x**3)


@case(LONG[:40] + 3.0, RNG.integers(1, 4, 40))
def powers_and_remainders(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(39):
        total += x[i] ** k[i] / x[i] ** -2 + i**2 * x[i] ** (0 - k[i + 1]) + x[i] ** (i % 3)
        total += (x[i] % k[i]) * (x[i] // x[i + 1]) + (-i) // k[i] % 5
    return total


@case(0.7)
def of_python_floats(a: float) -> Any:
    x = a
    for i in range(30):
        x = 0.1 * x**2 + a**-1.5 + (i % 7) * x % a + (-0.9) ** (i - 5) // 3.0
    return x


ROWS = np.append(np.sort(RNG.integers(0, 28, 20)), 27)
COLUMNS = RNG.integers(0, 12, 27)


@case(LONG[:27], COLUMNS, ROWS)
def sparse_products(values: Any, columns: Any, rows: Any) -> Any:
    """The rows of a sparse matrix with a vector, and with themselves."""
    y = np.zeros(20)
    for i in range(20):
        low, high = rows[i], rows[i + 1]
        y[i] = np.sum(values[low:high] * LONG[columns[low:high]])
        y[i] += np.dot(values[low:high], values[low:high])
    return np.sum(y * y)


@case(LONG[:60], np.array([5, 0, 9, 1, 2, 8, 3, 3, 0, 7, 1, 1, 2, 4, 6, 2, 1, 1, 3, 1]))
def ragged_sequences(x: Any, lengths: Any) -> Any:
    total, start = 0.0, 0
    for i in range(20):
        part = np.tanh(x[start : start + lengths[i]])
        total = total + np.sum(part * part[::-1]) + np.sum(part) ** 2
        start = start + lengths[i]
    return total


@case(WIDE)
def what_a_mask_selects(x: Any) -> Any:
    chosen = x[x > 0.2]
    scaled = np.exp(chosen - np.max(chosen)) * np.sin(chosen)
    return np.sum(scaled**2) / np.mean(chosen) + np.sum(np.cumsum(x[0][: len(chosen) // 40 + 2]))


@case(SQUARE)
def triangles(a: Any) -> Any:
    total = 0.0
    for i in range(1, 12):
        total += np.sum(a[i, :i] * a[:i, i]) * np.max(a[i:, i]) + np.sum(np.tril(a)[i])
    return total


@case(WIDE, 0.7)
def one_value_for_many(x: Any, v: Any) -> Any:
    y = x * 0.5
    y[x < -0.233] = 0.5 * v
    return np.sum(y * y) * v


@case(RNG.normal(size=(20, 20)) + 12 * np.eye(20))
def in_triangles(a: Any) -> Any:
    """An adjoint with calls between kernels that fill arrays of the length of a step."""
    a = a.copy()
    for k in range(19):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.sin(np.arange(400.0)).reshape(20, 20) * a)


@case(WIDE[0, :5])
def part_of_a_vector(x: Any) -> Any:
    """A write to the first elements, whose number the data decide, of an array of few."""
    y = x * 1.0
    for _ in range(30):
        k = int(np.sum(y > 0.1))
        if y[0] > -3.0:
            y[:k] += 0.01 * x[:k]
    return np.sum(y * y)


@case(0.1 + 0.1 * RNG.random(9))
def layers_of_glass(thickness: Any) -> Any:
    """Products of small complex matrices, of which the numbers are Python's and NumPy's."""
    total = 0.0
    for w in range(20):
        m = np.eye(2) + 0j
        for j in range(9):
            phase = thickness[j] * (5.0 + w)
            c, s = np.cos(phase), np.sin(phase)
            m = m @ np.array([[c + 0j, 1j * s / thickness[j]], [1j * s, c]])
        total += np.abs(2.0 / np.sum(m)) ** 2 + np.abs(m[0, 1] - 0.3j)
    return total


@case(RNG.normal(size=30) + 1j * RNG.normal(size=30))
def complex_recurrence(z: Any) -> Any:
    """Functions of complex numbers, differentiated by complex ones."""
    state, total = 0.2 + 0.1j, 0.0
    for t in range(30):
        w = z[t] / (1.0 + np.abs(z[t]))
        state = np.exp(0.1 * state) * w**3 / (2.0 + np.sqrt(state)) + 0.2 * np.conjugate(state)
        state = 0.3 * np.sin(state) / np.abs(state) + 0.01 * w**-2 + 0.1 * np.log(state)
        steep = np.tanh(state + 0.3j) * np.sinh(0.5 * state) / np.cosh(state)
        total += state.real * steep.imag + np.abs(np.mean(np.cumsum(z) * state)) ** 2
    return total


@case((RNG.normal(size=30) + 1j * RNG.normal(size=30)).astype(np.complex64))
def complex_singles(z: Any) -> Any:
    """complex64 stays complex64, also beside numbers of Python's."""
    state, total = np.complex64(0.2j), np.float32(0.0)
    kept = np.zeros(3, np.complex64)
    for t in range(30):
        state = 0.3 * state**2 + 0.1j * np.exp(-z[t]) / (2.0 + np.abs(z[t])) + 0.1
        kept[t % 3] += np.sin(state) / (1.5 + state) + 0.5 * np.tanh(state)
        total = total + np.log(1.0 + np.abs(state)) * state.imag
    return total + np.sum(np.abs(kept)) + np.mean(z * np.conjugate(state)).real


@case(RNG.normal(size=30), RNG.normal(size=(30, 30)) / 6)
def last_two_slopes(y: Any, a: Any) -> Any:
    """A product before the loop that stays a call of BLAS; those in the loop are computed there."""
    ys = [y, y + 0.05 * np.tanh(a @ y)]
    for _ in range(40):
        ys.append(ys[-1] + 0.05 * (1.5 * np.tanh(a @ ys[-1]) - 0.5 * np.tanh(a @ ys[-2])))
    return np.sum(ys[-1] ** 2)


@case(0.3 * RNG.normal(size=(3, 3)) + np.eye(3), RNG.normal(size=(20, 3)))
def filtered(a: Any, z: Any) -> Any:
    """Determinants, inverses, systems and factors of small matrices."""
    p, total = np.eye(3), 0.0
    for t in range(20):
        p = a @ p @ a.T + np.eye(3)
        lower = np.linalg.cholesky(p)
        total += np.linalg.slogdet(p)[1] + z[t] @ np.linalg.solve(lower, z[t])
        total += np.log(np.linalg.det(p)) + np.sum(lower)
        p = np.linalg.inv(np.linalg.inv(p) + np.eye(3))
    return total


@case(RNG.normal(size=11), np.array([0.3, -0.2, 5.0]), RNG.normal(size=2))
def seen_by_a_camera(camera: Any, point: Any, seen: Any) -> Any:
    """A block of bundle adjustment: a point is turned by Rodrigues' formula, and projected with
    radial distortion."""
    turn, moved = camera[:3], point - camera[3:6]
    angle = np.sqrt(np.sum(turn * turn))
    axis, c, s = turn / angle, np.cos(angle), np.sin(angle)
    p = c * moved + s * np.cross(axis, moved) + axis * (np.dot(axis, moved) * (1.0 - c))
    flat = p[:2] / p[2]
    r2 = np.sum(flat * flat)
    focus = camera[6] * (1.0 + r2 * (camera[9] + camera[10] * r2))
    off = flat * focus + camera[7:9] - seen
    return np.sum(off * off)
