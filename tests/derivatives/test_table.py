"""Each primitive is in one state: it has a rule, has no derivative, or is the engine's work."""

from __future__ import annotations

import inspect

from stcompile.codegen_templates.derivatives import DERIVATIVES, NON_DIFFERENTIABLE
from stcompile.codegen_templates.numpy.calls import call, part_of
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import UFUNCS
from stcompile.wengert.templates import TEMPLATES
from tests.derivatives.numeric import REST

STRUCTURAL = {
    *("call", "cond", "loop", "kernel", "select", "add_up", "given"),
    *("store", "print", "warn", "log_message", "assert", "raise", "seed", "exchange_wait"),
}
REFUSED = {"pack", "exchange", "exchange_start"}  # of gradients: not differentiated again
AFTERWARDS = {"lu_factor", "lu_solve", "lu_inv", "lu_det", "lu_slogdet"}  # passes alone make them


def test_one_state() -> None:
    for name in PRIMITIVES:
        rule = PRIMITIVES[name].rule
        others = STRUCTURAL | REFUSED | AFTERWARDS
        states = (rule in DERIVATIVES, rule in NON_DIFFERENTIABLE, rule in others)
        assert sum(states) == 1, f"{name}: {states}"


def test_no_rule_without_a_primitive() -> None:
    assert set(DERIVATIVES) | NON_DIFFERENTIABLE <= set(PRIMITIVES)


STEPS = {"floor", "ceil", "trunc", "rint", "spacing"}  # they have the rule of `sign`


def test_signatures_follow_the_template() -> None:
    """out, inputs, d_out; the params of the template as keywords (and what the engine knows)."""
    for name in DERIVATIVES:
        rule = DERIVATIVES[name]
        given = list(inspect.signature(rule).parameters.values())
        is_call = inspect.unwrap(TEMPLATES[name]) in (call, part_of)  # inputs of a function
        wanted = list(inspect.signature(rule if is_call else TEMPLATES[name]).parameters.values())
        inputs = [p.name for p in wanted if p.kind is not p.KEYWORD_ONLY]
        if is_call:
            inputs = [name for name in inputs if name not in ("out", "d_out")]
            assert len(inputs) == (UFUNCS[name].nin if name in UFUNCS else len(inputs)), name
        positional = [p.name for p in given if p.kind is not p.KEYWORD_ONLY]
        if rule.mark == "partials":
            assert positional == ["out", *inputs], name
            assert inputs[-1] not in REST, name
        elif rule.mark == "adjoint":
            assert positional == ["out", *inputs, "d_out"], name
        else:
            assert positional == ["d_x", "d_out", *inputs[1:]], name
        keywords = {p.name for p in given if p.kind is p.KEYWORD_ONLY}
        own = {p.name for p in wanted if p.kind is p.KEYWORD_ONLY}
        assert keywords - {"active", "static"} == own - {"active", "static"}, name
        own_name = name.split(".")[-1]
        named = "sign" if own_name in STEPS else own_name
        assert rule.__name__ in ("<lambda>", named), name  # the first is a row of a table
