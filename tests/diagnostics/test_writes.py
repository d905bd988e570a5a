"""Writes to what the function does not own, other than the arrays among its arguments, are refused:
nothing else outside it ever changes."""

from __future__ import annotations

import numpy as np

from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
WEIGHT = np.zeros((2, 3))
STATE = {"calls": 0}
ITEMS = [1.0, 2.0]


@refused({"w": X}, at='params["w"] = params["w"] * 2', reason="a dict of the caller", hint="copy")
def a_write_to_a_dict_of_the_caller(params):
    params["w"] = params["w"] * 2
    return np.sum(params["w"])


@refused([X], at="params.append", reason="a list of the caller", hint="copy")
def an_append_to_a_list_of_the_caller(params):
    params.append(1.0)
    return np.sum(params[0])


@refused(X, at='STATE["calls"] += 1', reason="a dict", hint=".")
def a_write_to_a_captured_dict(x):
    STATE["calls"] += 1
    return np.sum(x)


@refused(X, at="ITEMS.append", reason="list")
def an_append_to_a_captured_list(x):
    ITEMS.append(1)
    return np.sum(x)


@refused(X, at="WEIGHT[0] = x[0]", reason="WEIGHT is not a local array")
def a_write_to_a_captured_array(x):
    WEIGHT[0] = x[0]
    return np.sum(x)


class Model:
    calls = 0


MODEL = Model()


@refused(X, at="MODEL.calls = 1", reason="attribute.*outside|outside|Model")
def a_write_to_an_attribute(x):
    MODEL.calls = 1
    return np.sum(x)


@refused(X, at="setattr(MODEL, 'calls', 1)", reason="sets the attribute .calls. of an object")
def a_write_by_setattr(x):
    setattr(MODEL, 'calls', 1)  # fmt: skip
    return np.sum(x)


@refused(X, at="np.broadcast_to(y, (2, 3))[0] = 1", reason="read-only|broadcast_to")
def a_write_to_a_broadcast_view(x):
    y = x[0].copy()
    np.broadcast_to(y, (2, 3))[0] = 1
    return np.sum(y)


test_refusal = refused.tests()


def test_nothing_was_changed():
    for example in refused.noted:
        example.check()
    assert (STATE, ITEMS, MODEL.calls) == ({"calls": 0}, [1.0, 2.0], 0)
    np.testing.assert_array_equal(X, np.linspace(0.5, 1.5, 6).reshape(2, 3))
    assert not WEIGHT.any()
