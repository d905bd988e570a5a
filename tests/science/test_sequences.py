"""Recursions along a sequence: hidden states, filters, dynamic programming, recurrent networks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.control.checks import check_float32, check_second_order
from tests.programs import Examples
from tests.science.checks import check_program, in_place

examples = Examples(check_program)
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)

RNG = np.random.default_rng(7)
LOGITS = RNG.normal(size=(3, 3))
EMISSIONS = RNG.normal(size=(3, 4))
SYMBOLS = RNG.integers(0, 4, 30)
SIGNAL = np.cos(0.7 * np.arange(30.0)) + 0.1 * np.sin(3.0 * np.arange(30.0))
SHORT = SIGNAL[:6]
INPUTS = RNG.normal(size=(20, 3))
LONG_INPUTS = RNG.normal(size=(100, 2))
WX, WH = RNG.normal(size=(3, 4)) * 0.5, RNG.normal(size=(4, 4)) * 0.4


# --- hidden states -------------------------------------------------------------------------------


def log_sum_exp(z, axis):
    top = np.max(z, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(z - top), axis=axis))


def log_softmax(z):
    return z - log_sum_exp(z, 1)[:, None]


@examples(LOGITS, EMISSIONS, SYMBOLS[:4], wrt=(0, 1))
@examples(LOGITS, EMISSIONS, SYMBOLS, wrt=(0, 1))
@second_order(LOGITS, EMISSIONS, SYMBOLS[:20])
def forward_in_logarithms(logits, emissions, symbols):
    """The log-likelihood of a hidden Markov model."""
    transition, emission = log_softmax(logits), log_softmax(emissions)
    alpha = emission[:, symbols[0]] - np.log(3.0)
    for symbol in symbols[1:]:
        alpha = log_sum_exp(alpha[:, None] + transition, 0) + emission[:, symbol]
    return log_sum_exp(alpha[None], 1)[0]


@examples(LOGITS, EMISSIONS, SYMBOLS, wrt=(0, 1))
def forward_scaled(logits, emissions, symbols):
    """The same by probabilities, which are scaled in each step."""
    transition, emission = np.exp(log_softmax(logits)), np.exp(log_softmax(emissions))
    alpha, likelihood = np.full(3, 1 / 3), 0.0
    for t in range(len(symbols)):
        if t > 0:
            alpha = alpha @ transition
        alpha = alpha * emission[:, symbols[t]]
        scale = np.sum(alpha)
        alpha = alpha / scale
        likelihood = likelihood + np.log(scale)
    return likelihood


@examples.slow
@examples(LOGITS, EMISSIONS, SYMBOLS[:20])
@in_place
def forward_and_backward(logits, emissions, symbols):
    """The posterior of the states, from two arrays that are filled."""
    transition, emission = np.exp(log_softmax(logits)), np.exp(log_softmax(emissions))
    n = len(symbols)
    alpha, beta = np.zeros((n, 3)), np.ones((n, 3))
    alpha[0] = emission[:, symbols[0]] / 3
    for t in range(1, n):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, symbols[t]]
        alpha[t] /= np.sum(alpha[t])
    for t in range(n - 2, -1, -1):
        beta[t] = transition @ (beta[t + 1] * emission[:, symbols[t + 1]])
        beta[t] /= np.sum(beta[t])
    posterior = alpha * beta
    return posterior / np.sum(posterior, axis=1, keepdims=True)


@examples(LOGITS, EMISSIONS, SYMBOLS, wrt=(0, 1))
def viterbi_score(logits, emissions, symbols):
    """The score of the best path."""
    score = emissions[:, symbols[0]]
    for symbol in symbols[1:]:
        score = np.max(score[:, None] + logits, axis=0) + emissions[:, symbol]
    return np.max(score)


@examples(LOGITS, EMISSIONS[:, [0, 1, 3, 2, 2]], wrt=(0, 1))
def viterbi_path(logits, scores):
    """The best path is followed back at run time, then its score is added up."""
    score, back = scores[:, 0], []
    for t in range(1, scores.shape[1]):
        candidates = score[:, None] + logits
        back.append(np.argmax(candidates, axis=0))
        score = np.max(candidates, axis=0) + scores[:, t]
    state = np.argmax(score)
    total = 0.0
    for t in range(scores.shape[1] - 1, 0, -1):
        before = back[t - 1][state]
        total = total + scores[state, t] + logits[before, state] * (t + 1)
        state = before
    return total + scores[state, 0]


# --- filters -------------------------------------------------------------------------------------


def inverse_of_two(m):
    """The inverse of a matrix of two rows."""
    a, b, c, d = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    return np.array([[d, -b], [-c, a]]) / (a * d - b * c)


@examples(np.array([0.1, 0.3, 0.5]), SIGNAL[:6].reshape(3, 2))
@examples(np.array([0.1, 0.3, 0.5]), np.stack([SIGNAL, SIGNAL[::-1]], 1))
def kalman_filter(noise, measured):
    """The log-likelihood of measurements, with Joseph's form of the covariance."""
    transition = np.array([[1.0, 0.1], [-0.2, 0.9]])
    q, r = noise[0] ** 2 * np.eye(2), np.eye(2) * (noise[1:] ** 2 + 0.1)
    x, p, likelihood = np.zeros(2), np.eye(2), 0.0
    for z in measured:
        x, p = transition @ x, transition @ p @ transition.T + q
        s = p + r
        gain = p @ inverse_of_two(s)
        innovation = z - x
        determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
        likelihood = likelihood - 0.5 * (
            innovation @ inverse_of_two(s) @ innovation + np.log(determinant)
        )
        x = x + gain @ innovation
        rest = np.eye(2) - gain
        p = rest @ p @ rest.T + gain @ r @ gain.T
    return likelihood


@examples(np.array([0.3, 0.2, -0.4]), np.array([-0.5, 0.2]), SHORT, wrt=(0, 1, 2))
@examples(np.array([0.3, 0.2, -0.4]), np.array([-0.5, 0.2]), SIGNAL, wrt=(0, 1, 2))
@second_order(np.array([0.3, 0.2, -0.4]), np.array([-0.5, 0.2]), SHORT)
@in_place
def recursive_filter(b, a, x):
    """Feed-forward and feedback taps, as in `scipy.signal.lfilter`."""
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(len(a)):
            if n - k - 1 >= 0:
                y[n] -= a[k] * y[n - k - 1]
    return y


@examples(SIGNAL, 0.3, wrt=(0, 1))
@examples(-SIGNAL, 0.3, wrt=(0, 1))
def envelope(x, release):
    """Attack at once, release slowly; the largest value so far as well."""
    level, peak, levels = 0.05, -10.0, []
    for v in np.abs(x):
        if v > level:
            level = v
        else:
            level = (1 - release) * level + release * v
        peak = max(peak, level)
        levels.append(level)
    return np.stack(levels), peak


@dataclass
class Controller:
    """A controller with a bounded integral."""

    gain: object
    integral: object = 0.0
    before: object = 0.0

    def update(self, error, h):
        self.integral = self.integral + h * error
        if self.integral > 0.4:
            self.integral = 0.4
        elif self.integral < -0.4:
            self.integral = -0.4
        slope = (error - self.before) / h
        self.before = error
        return self.gain[0] * error + self.gain[1] * self.integral + self.gain[2] * slope


@examples(np.array([2.0, 1.0, 0.05]))
@examples(np.array([5.0, 0.1, 0.01]))
def controlled_plant(gain):
    controller = Controller(gain)
    x, cost, h = 0.0, 0.0, 0.05
    for k in range(30):
        target = 1.0 if k > 4 else 0.0
        x = x + h * (controller.update(target - x, h) - x)
        cost = cost + h * (target - x) ** 2
    return cost, x


@examples(SIGNAL[:8], 0.05)
@examples(SIGNAL, 0.3)
@examples(SIGNAL, -0.4)
def metropolis(steps, scale):
    """A chain that accepts by thresholds given as an array."""
    thresholds = np.abs(np.sin(5.0 * np.arange(len(steps))))
    x, accepted, total = 0.3, 0, 0.0
    for k in range(len(steps)):
        proposal = x + scale * steps[k] + 0.2
        change = 0.5 * (proposal * proposal - x * x)
        if change < 0 or thresholds[k] < np.exp(-change):
            x = proposal
            accepted += 1
        total = total + x * x
    return total / len(steps), x, accepted


# --- dynamic programming -------------------------------------------------------------------------


def soft_minimum(a, b, c, gamma):
    low = min(a, b, c)
    return low - gamma * np.log(
        np.exp((low - a) / gamma) + np.exp((low - b) / gamma) + np.exp((low - c) / gamma)
    )


@examples.slow
@examples(SHORT[:2], SIGNAL[7:10], 0.5, wrt=(0, 1))
@examples(SIGNAL[:3], SIGNAL[5:23], 0.5, wrt=(0, 1))
@in_place
def soft_time_warping(x, y, gamma):
    """The table of soft dynamic time warping."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 100.0)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            best = soft_minimum(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1], gamma)
            table[i, j] = cost + best
    return table[n, m]


@examples(SHORT[:3], SIGNAL[7:11])
@in_place
def time_warping(x, y):
    """The same with the minimum itself."""
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            best = min(table[i, j + 1], table[i + 1, j], table[i, j])
            table[i + 1, j + 1] = abs(x[i] - y[j]) + best
    return table[-1, -1]


@examples(np.abs(LOGITS) + 0.1)
@in_place
def shortest_paths(weights):
    """Floyd and Warshall's distances between all points."""
    d = weights.copy()
    for k in range(len(d)):
        d[:] = np.minimum(d, d[:, k][:, None] + d[k][None, :])
    return d


@examples(np.abs(LOGITS) + 0.1)
def shortest_path_by_relaxation(weights):
    """Bellman and Ford's, until nothing changes."""
    n = len(weights)
    distance = np.array([0.0, 50.0, 50.0])
    for _ in range(n):
        new = np.minimum(distance, np.min(distance[:, None] + weights, axis=0))
        if np.all(new == distance):
            break
        distance = new
    return distance


@examples(np.array([3.0, 1.6, 2.2, 0.75]))
def knapsack(values):
    """The best value for each capacity, by maxima of traced values."""
    best = [values[0] * 0.0] * 8
    for k, weight in enumerate((3, 2, 4, 1)):
        for capacity in range(7, weight - 1, -1):
            best[capacity] = max(best[capacity], best[capacity - weight] + values[k])
    return best[-1], best[4]


@examples(EMISSIONS, LOGITS, wrt=(0, 1))
def optimal_transport(cost, start):
    """Sinkhorn's iteration in logarithms, until the marginals fit."""
    f, g = start[0] * 0.1, np.zeros(4)
    gap, count = 1.0, 0
    while gap > 1e-13 and count < 300:
        g = -log_sum_exp(f[:, None] - cost, 0) - np.log(4.0)
        plan = np.exp(f[:, None] + g[None, :] - cost)
        gap = np.max(np.abs(np.sum(plan, axis=1) - 1 / 3))
        f = -log_sum_exp(g[None, :] - cost, 1) - np.log(3.0)
        count += 1
    return np.sum(np.exp(f[:, None] + g[None, :] - cost) * cost)


# --- recurrent networks --------------------------------------------------------------------------


@examples(LONG_INPUTS, WX[:2], WH, np.zeros(4), wrt=(1, 2, 3))
@second_order(WX[:2], WH, np.zeros(4), LONG_INPUTS[:20])
def simple_network(*args):
    """A hundred steps, and a loss in each."""
    inputs, wx, wh, b = args if args[0].shape[1] == 2 else (args[3], *args[:3])
    h, loss = np.zeros(4), 0.0
    for x in inputs:
        h = np.tanh(x @ wx + h @ wh + b)
        loss = loss + np.mean((h - 0.1) ** 2)
    return loss / len(inputs)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@examples({"w": RNG.normal(size=(5, 8)) * 0.5, "b": np.zeros(8)}, INPUTS)
@in_float32(
    {"w": (RNG.normal(size=(5, 8)) * 0.5).astype("f4"), "b": np.zeros(8, "f4")},
    INPUTS.astype("f4"),
)
def long_short_term_memory(parameters, inputs):
    """A cell of two units; the gates are slices of one product."""
    n = 2
    h = c = np.zeros(n, inputs.dtype)
    outputs = []
    for x in inputs:
        z = np.concatenate([x, h]) @ parameters["w"] + parameters["b"]
        i, f, o = sigmoid(z[:n]), sigmoid(z[n : 2 * n] + 1), sigmoid(z[2 * n : 3 * n])
        c = f * c + i * np.tanh(z[3 * n :])
        h = o * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs)


@examples(WX, WH, INPUTS, wrt=(0, 1))
def gated_network(wx, wh, inputs):
    """Gated units that stop when they are saturated, and skip small inputs."""
    h = np.zeros(4)
    for t in range(len(inputs)):
        if np.sum(inputs[t] ** 2) < 0.5:
            continue
        gate = sigmoid(inputs[t] @ wx)
        h = gate * h + (1 - gate) * np.tanh(inputs[t] @ wx + (gate * h) @ wh)
        if np.max(np.abs(h)) > 0.95:
            break
    return h


@examples(np.array([0.5, -0.3, 0.8]), 12, wrt=0)
@examples(np.array([0.5, -0.3, 0.8]), 30, wrt=0)
def teacher_or_free_running(w, length):
    """The first half of a series is given, the second is the model's own."""
    x, loss = SIGNAL[0], 0.0
    for t in range(1, length):
        guess = np.tanh(w[0] * x + w[1]) * w[2]
        loss = loss + (guess - SIGNAL[t]) ** 2
        x = SIGNAL[t] if t < length // 2 else guess
    return loss


test_program = examples.tests()
test_second_order = pytest.mark.slow(second_order.tests())
test_float32 = in_float32.tests()
