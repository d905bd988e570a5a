"""Writes to what the function does not own, other than the arrays among its arguments and what
objects hold, are refused: then nothing outside it changes."""

from __future__ import annotations

import numpy as np

import stcompile as st
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
    seen = None


MODEL = Model()


@refused(X, at="Model.calls = 1", reason="sets the attribute .calls. of an object")
def a_write_to_a_class(x):
    Model.calls = 1
    return np.sum(x)


@refused(X, at='MODEL.seen = {"x"}', reason="keeps a set in an object from outside")
def a_set_that_an_object_keeps(x):
    MODEL.seen = {"x"}
    return np.sum(x)


@refused(X, at="MODEL.seen", reason="`seen` is .* on one path and None")
def a_read_of_what_one_path_sets(x):
    if np.sum(x) > 0:
        MODEL.seen = x
    return np.sum(MODEL.seen)


@refused(X, at="MODEL.calls += 1", reason="may run more than once for a call")
def a_write_in_many_runs(x):
    def counted(x):
        MODEL.calls += 1
        return np.sum(x)

    return np.sum(st.vmap(counted)(x))


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
