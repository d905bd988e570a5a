"""Functions of lmfit: line shapes, models, their combinations, residuals."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import lmfit
import numpy as np
from lmfit import lineshapes, models

from .judge import Call, Case

X = np.linspace(0.33, 4.17, 9)


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def shapes() -> Iterator[Case]:
    for name, function in vars(lineshapes).items():
        if (
            not inspect.isfunction(function)
            or function.__module__ != lineshapes.__name__
            or name in ("not_zero",)
        ):
            continue
        names = parameters(function)
        values = [0.6 + 0.17 * k for k in range(len(names))]
        forms = {
            "step": ("linear", "arctan", "erf", "logistic"),
            "rectangle": ("linear", "arctan", "erf", "logistic"),
            "thermal_distribution": ("bose", "maxwell", "fermi"),
        }.get(name, ("",))
        for form in forms:
            given = [X, *([form if n == "form" else v for n, v in zip(names[1:], values)])]
            if names[1] == "y":
                given[1] = X[::-1].copy()
            for wrt in range(min(len(names), 3)):
                if names[wrt] != "form":
                    yield Case(
                        f"lineshapes.{name}({names[wrt]}) {form}".strip(),
                        lambda function=function, given=tuple(given), wrt=wrt: Call(
                            function, given, wrt
                        ),
                    )


def made(name: str) -> Any:
    if name == "PolynomialModel":
        return models.PolynomialModel(3)
    if name == "SplineModel":
        return models.SplineModel(np.linspace(0, 5, 6))
    if name == "ExpressionModel":
        return models.ExpressionModel("amp * exp(-x / tau) + off")
    return getattr(models, name)()


def values_of(model: Any) -> dict[str, float]:
    return {name: 0.7 + 0.13 * k for k, name in enumerate(model.param_names)}


def evaluations() -> Iterator[Case]:
    names = [
        n
        for n, c in vars(models).items()
        if inspect.isclass(c) and issubclass(c, lmfit.Model) and c is not lmfit.Model
    ]
    for name in names:
        if name == "ComplexConstantModel":
            continue
        arguments = {"Gaussian2dModel": {"y": X[::-1].copy()}}.get(name, {})

        def by_x(name: str = name, arguments: Any = arguments) -> Call:
            model = made(name)

            def evaluated(x: Any, **values: Any) -> Any:
                return model.eval(x=x, **values)

            return Call(evaluated, (X,), 0, {**values_of(model), **arguments})

        def by_value(name: str = name, arguments: Any = arguments) -> Call:
            model = made(name)
            values = values_of(model)
            first = model.param_names[0]
            del values[first]

            def evaluated(value: Any, x: Any) -> Any:
                return model.eval(x=x, **{first: value}, **values, **arguments)

            return Call(evaluated, (0.8, X))

        yield Case(f"{name}.eval by x", by_x)
        yield Case(f"{name}.eval by its first parameter", by_value)
        if name in (
            "GaussianModel",
            "LorentzianModel",
            "VoigtModel",
            "ExponentialModel",
            "LinearModel",
            "QuadraticModel",
            "PowerLawModel",
            "MoffatModel",
            "SineModel",
            "StudentsTModel",
        ):

            def residual(name: str = name) -> Call:
                model = made(name)
                params = model.make_params(**values_of(model))

                def residuals(data: Any) -> Any:
                    return model._residual(params, data, None, x=X)

                return Call(residuals, (np.cos(X),))

            yield Case(f"{name}._residual by data", residual)

            def with_parameters(name: str = name) -> Call:
                model = made(name)
                params = model.make_params(**values_of(model))
                return Call(lambda x: model.eval(params, x=x), (X,))

            yield Case(f"{name}.eval with Parameters", with_parameters)


def combinations() -> Iterator[Case]:
    def pair(operator: str) -> Any:
        one, two = models.GaussianModel(prefix="g_"), models.LinearModel(prefix="l_")
        return {"+": one + two, "*": one * two, "-": one - two, "/": two / one}[operator]

    for operator in "+*-/":

        def make(operator: str = operator) -> Call:
            model = pair(operator)
            values = values_of(model)
            return Call(lambda x: model.eval(x=x, **values), (X,))

        yield Case(f"CompositeModel {operator} by x", make)

        def value(operator: str = operator) -> Call:
            model = pair(operator)
            values = values_of(model)
            del values["g_sigma"]
            return Call(lambda sigma: model.eval(x=X, g_sigma=sigma, **values), (0.8,))

        yield Case(f"CompositeModel {operator} by a parameter", value)

    def own() -> Call:
        def decay(x: Any, amplitude: float, rate: float) -> Any:
            return amplitude * np.exp(-rate * x)

        model = lmfit.Model(decay)
        return Call(lambda rate: model.eval(x=X, amplitude=2.0, rate=rate), (0.7,))

    yield Case("Model of a function", own)

    def of_parameters() -> Call:
        params = lmfit.create_params(amplitude=2.0, rate=0.7)

        def residual(shift: float) -> Any:
            values = params.valuesdict()
            return values["amplitude"] * np.exp(-values["rate"] * (X - shift)) - np.cos(X)

        return Call(residual, (0.2,))

    yield Case("residual of Parameters by an argument", of_parameters)

    def set_values() -> Call:
        params = lmfit.create_params(amplitude=2.0, rate=0.7)

        def residual(values: Any) -> Any:
            params["amplitude"].value = values[0]
            params["rate"].value = values[1]
            return params["amplitude"].value * np.exp(-params["rate"] * X) - np.cos(X)

        return Call(residual, (np.array([1.2, 0.4]),))

    yield Case("residual of Parameters that are set", set_values)

    def minimised() -> Call:
        def residual(params: Any) -> Any:
            return params["amplitude"] * np.exp(-params["rate"] * X) - np.cos(X)

        params = lmfit.create_params(amplitude=2.0, rate=0.7)
        minimizer = lmfit.Minimizer(residual, params)
        minimizer.prepare_fit()
        minimizer.result.method = "leastsq"
        return Call(lambda values: minimizer._Minimizer__residual(values), (np.array([1.2, 0.4]),))

    yield Case("Minimizer.__residual by values", minimised)


def cases() -> Iterator[Case]:
    yield from shapes()
    yield from evaluations()
    yield from combinations()
