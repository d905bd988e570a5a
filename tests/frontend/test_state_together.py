"""Objects with state beside what else a method does: `try`, branches, kept loops, aliases, errors
of called functions, choices with infinite derivatives.

Each method is called as plain Python and as a gradient: value, derivative and all that the object
holds afterwards are compared.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st

Array = Any


class Model:
    def __init__(self) -> None:
        self.calls, self.scale, self.w = 0, 2.0, np.ones(3)
        self.best: Any = None
        self.log: list[Any] = []

    def factor(self, x: Array) -> Any:
        self.calls += 1
        a = np.outer(x, x) + 0.1 * np.eye(3) * x[0]
        try:
            lower = np.linalg.cholesky(a)
            self.best = lower[0, 0]
        except np.linalg.LinAlgError:
            self.log.append(x[1])
            return self.scale * np.sum(x)
        finally:
            self.calls += 1
        return 2 * np.sum(np.log(np.diag(lower)))

    def steps(self, x: Array) -> Any:
        total = 0.0
        for i in range(30):
            self.scale = self.scale * 0.9 + x[i % 3] * 0.1
            if self.scale > 1.2:
                self.calls += 1
                total = total + self.scale**2
            else:
                total = total + np.sum(np.where(x > 0, np.sqrt(x), 0.0)) * self.scale
        return total

    def early(self, x: Array) -> Any:
        self.w = self.w * x
        if x[0] > 1.5:
            return np.sum(self.w**2)
        self.w = self.w + np.sin(x)
        return np.sum(self.w**3)

    def nested(self, x: Array) -> Any:
        y = self.early(x)
        try:
            z = 1.0 / float(x[2] * 0.0 + (x[1] if x[1] > 2 else 0.0))
        except ZeroDivisionError:
            z = 0.5
            self.calls += 10
        return y * z + self.steps(x)

    def aliases(self, x: Array) -> Any:
        self.best = x
        self.w = self.best * 2
        self.best = self.best + self.w
        self.w[1] = 5.0
        return np.sum(self.best * self.w)

    def in_place(self, x: Array) -> Any:
        self.w *= x
        view = self.w[1:]
        view += x[:2] ** 2
        return np.sum(self.w * x)

    def raising(self, x: Array) -> Any:
        self.calls += 1

        def checked(v: Any) -> Any:
            if v < 0.5:
                raise ValueError("small")
            return v * v

        try:
            result = checked(x[0])
        except ValueError:
            result = x[1] * 3
        return result + np.sum(x)


METHODS = ("factor", "steps", "early", "nested", "aliases", "in_place", "raising")
POINTS = ([1.0, 2.2, 3.0], [-1.0, 2.5, 0.3], [2.0, -0.4, 0.7], [0.9, 1.1, 1.2])


def differences(name: str, x: Array, h: float = 1e-6) -> list[Any]:
    steps = [e * h for e in np.eye(len(x))]
    return [
        (getattr(Model(), name)(x + e) - getattr(Model(), name)(x - e)) / (2 * h) for e in steps
    ]


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", METHODS)
def test_value_gradient_and_state(name: str, point: list[float], level: Any) -> None:
    x = np.array(point)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model, plain = Model(), Model()
        expected = getattr(plain, name)(x.copy())
        value, gradient = st.value_and_grad(getattr(model, name), level=level)(x.copy())
        slopes = differences(name, x)
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-5)
    for attribute, wanted in vars(plain).items():
        found = getattr(model, attribute)
        assert (found is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-9, err_msg=attribute)
