"""Passes of one or two rules each, so that a case shows what these do alone."""

from __future__ import annotations

from collections.abc import Callable

from stcompile.passes.rewriting import calls, products, smaller_work
from stcompile.passes.rewriting.rewrite import Rule, RuleBook, rewrite
from stcompile.wengert.ir import Program


def only(*rules: Rule) -> Callable[[Program], Program]:
    """The pass of some rules."""
    return lambda program: rewrite(program, RuleBook(rules))


products_of_transposed = only(*products.ALL)
thin_product = only(smaller_work.thin_product)
long_sum_in_parts = only(smaller_work.long_sum_in_parts)
long_rows_in_parts = only(smaller_work.long_rows_in_parts)
stacked_before_reshaped = only(calls.stacked_before_reshaped)
repeated_factor = only(smaller_work.repeated_factor)
outer_product = only(smaller_work.outer_product)
smaller_factor_scaled = only(smaller_work.smaller_factor_scaled)
rows_summed_by_blas = only(calls.rows_summed_by_blas)
negated_terms_subtracted = only(calls.negated_terms_subtracted)
operands_converted = only(calls.operands_converted)
small_arguments_copied = only(calls.small_arguments_copied)
number_spread = only(calls.number_spread)

ALONE = {
    name: value
    for name, value in vars().copy().items()
    if callable(value) and getattr(value, "__qualname__", "").startswith("only.")
}
