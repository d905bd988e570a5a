"""Control flow, keys, lengths and texts that depend on traced values are refused."""

from __future__ import annotations

import numpy as np

from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
ITEMS = [1.0, 2.0]


@refused(X, at="np.sum(x) > 0", reason="`if` depends on a traced value", hint=r"np\.where")
def a_traced_if(x):
    if np.sum(x) > 0:
        return np.sum(x)
    return np.sum(x * x)


@refused(X, at="x[0, 0] > 1", reason="depends on a traced value", hint=r"np\.where")
def a_traced_ternary(x):
    return x[0, 0] if x[0, 0] > 1 else x[1, 1]


@refused(2.0, at="x > 1", reason="`while` depends on a traced value")
def a_traced_while(x):
    while x > 1:
        x = x / 2
    return x


@refused(X, at="x[0, 0] > 1 and 2.0", reason="`and` depends on a traced value", hint=r"np\.where")
def a_traced_and(x):
    return x[0, 0] * (x[0, 0] > 1 and 2.0)


@refused(X, at="not x[0, 0]", reason="`not` depends on a traced value")
def a_traced_not(x):
    return x[0, 1] * (not x[0, 0])


@refused(1.5, at="0 < x < 2", reason="depends on a traced value")
def a_traced_chained_comparison(x):
    return x * (0 < x < 2)


@refused(X, at="bool(x[0, 0])", reason=r"bool.*depends on a traced value")
def a_traced_bool(x):
    return x[0, 1] * bool(x[0, 0])


@refused(X, at="max(x[0, 0], 1.0)", reason="`max` compares traced values", hint=r"np\.maximum")
def a_traced_max(x):
    return max(x[0, 0], 1.0)


@refused(X, at="min(x[0])", reason="`min` compares traced values", hint=r"np\.min")
def a_traced_min(x):
    return min(x[0])


@refused(X, at="sorted(x[0])", reason="`sorted` compares traced values")
def a_traced_sort(x):
    return sorted(x[0])[1]


@refused(X, at="x[0, 0] in [1.0, 2.0]", reason="traced values")
def a_traced_membership(x):
    return x[0, 1] * (x[0, 0] in [1.0, 2.0])


@refused(X, at="range(int(x[0, 0]))", reason="`range`.*traced", hint="static")
def a_traced_range(x):
    for _ in range(int(x[0, 0])):
        x = x * 2
    return np.sum(x)


@refused(X, at="x[: int(x[0, 0])]", reason="slice bound is a traced value")
def a_traced_slice_bound(x):
    return np.sum(x[: int(x[0, 0])])


@refused(X, at="ITEMS[int(x[0, 0])]", reason="indexed by a traced value", hint=r"np\.stack")
def a_traced_list_index(x):
    return x[0, 0] * ITEMS[int(x[0, 0])]


@refused(X, at="x[x > 1]", reason="boolean mask", hint=r"np\.where\(mask, x, 0\)")
def a_boolean_mask(x):
    return np.sum(x[x > 1])


@refused(X, at="{x[0, 0]: 1}", reason="traced value")
def a_traced_key(x):
    return x[0, 0] * len({x[0, 0]: 1})


@refused(X, at="[1.0, 2.0].count(x[0, 0])", reason="traced value")
def a_traced_count(x):
    return x[0, 0] * [1.0, 2.0].count(x[0, 0])


@refused(X, at="{1.0: 2.0}.get(x[0, 0], 3.0)", reason="traced value")
def a_traced_lookup(x):
    return x[0, 0] * {1.0: 2.0}.get(x[0, 0], 3.0)


@refused(X, at="(x[0, 0], 1) == (1.0, 1)", reason="traced value")
def a_comparison_of_containers(x):
    return x[0, 0] if (x[0, 0], 1) == (1.0, 1) else x[1, 1]


@refused(X, at="[1] * int(x[0, 0])", reason="traced number")
def a_traced_repetition(x):
    return x[0, 0] * len([1] * int(x[0, 0]))


@refused(X, at="f'{x[0, 0]}'", reason="f-string of a traced value")
def a_traced_f_string(x):
    return x[0, 0] * len(f'{x[0, 0]}')  # fmt: skip


@refused(X, at="str(x[0, 0])", reason="`str`.*traced")
def a_traced_text(x):
    return x[0, 0] * len(str(x[0, 0]))


@refused.test
def test_refusal(refused):
    refused.check()
