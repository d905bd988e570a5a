"""A sample of the functions of other packages, as they are installed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.science.installed.judge import cases, judge

NAMES = {
    "scipy": (
        *(
            "optimize._tstutils.fun5",
            "optimize._tstutils.aps05_fp",
            "optimize._tstutils.fun3",
        ),
        *("stats.powerlognorm._logpdf", "optimize.tests.test_minimize_constrained.Maratos.fun"),
    ),
    "lmfit": (
        *("lineshapes.doniach(amplitude)", "CompositeModel * by a parameter"),
        *("GaussianModel.eval with Parameters", "Minimizer.__residual by values"),
    ),
    "sklearn": (
        "kernels.RBF.diag",
        "_loss.link.LogitLink.inverse",
        "neural_network ACTIVATIONS tanh",
        "utils.extmath.softmax",
        "metrics.pairwise.rbf_kernel by gamma",
        *(f"externals.array_api_compat.numpy.reshape copy={copy}" for copy in (None, True)),
    ),
    "statsmodels": (
        *("GLM Poisson.loglike", "Logit.score", "families.Gamma.deviance", "norms.Hampel.rho"),
        *("Probit.loglike", "ClaytonCopula.logpdf by theta", "MNLogit.loglike"),
    ),
}


@pytest.mark.parametrize(("package", "name"), [(p, n) for p, names in NAMES.items() for n in names])
def test_an_installed_function(package: str, name: str) -> None:
    pytest.importorskip(package)
    case = next(case for case in cases(package) if case.name == name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        judge(case.make())
