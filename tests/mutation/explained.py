"""Mutants that are as right as the original, so that no test of values can notice them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.mutation.mutants import Mutant


@dataclass(frozen=True)
class Equivalent:
    """Changes that are no mistakes: where (a part of "file function"), of what, and why.

    In ``before`` and ``after``, three dots stand for any text. ``line`` is a part of the line that
    the change is in, where the same change is a mistake elsewhere in the function.
    """

    where: str
    before: str
    after: str
    why: str
    line: str = ""

    def fits(self, mutant: Mutant) -> bool:
        return (
            self.where in f"{mutant.file} {mutant.function}"
            and _like(self.before, mutant.before)
            and _like(self.after, mutant.after)
            and self.line in mutant.source
        )


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), text) is not None


ZERO = "the sum is a divisor of 0 there, or its logarithm a factor of 0: any number but 0 will do"
BOTH = "the operands have as many axes as each other wherever this can be true"
NUMBERS = "of two numbers each holds the other one, but for -0.0, of which the other code is right"
NO_STRIDE = "no stride is 0"
NOTHING = "a part without elements may begin anywhere"
MEASURED = "an end that is measured when the program runs is as right"
CLIPPED = "an end that is clipped to the axis is as right"
INTEGERS = "a sum and a difference of numbers are integers under the same conditions"

EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent("elementwise.py absolute", "out + (out == 0)", "(out) - (out == 0)", ZERO),
    Equivalent("elementwise.py power", "base + (base == 0)", "(base) - (base == 0)", ZERO),
    Equivalent(
        "complex_numbers.py complex_sign",
        "2 * size + (size == 0)",
        "(2 * size) - (size == 0)",
        ZERO,
    ),
    Equivalent(
        "linalg.py eigvals",
        "out[..., None, :] - w[..., :, None]",
        "(w[..., :, None]) - (out[..., None, :])",
        "a distance is the same both ways",
    ),
    Equivalent("elementwise.py power", "x + 0j", "(x) - (0j)", "0 is added or subtracted"),
    Equivalent("axes.py aligned", "1 - axis", "(axis) - (1)", "of two places, -1 is 1 and 0 is 0"),
    *(
        Equivalent(
            "derivatives/elementwise.py sinc",
            "5 / 39916800 - t * (6 / 6227020800)",
            after,
            "the last term is below the last bit of the derivative: those of high order need it",
        )
        for after in ("5 / 39916800", "(5 / 39916800) + (t * (6 / 6227020800))")
    ),
    *(
        Equivalent(
            "linear.py contract",
            "form(x.ndim, y.ndim, ...)",
            "form(y.ndim, x.ndim, ...)",
            BOTH,
            line=f'== "{form}"',
        )
        for form in ("outer(x, y)", "outer(y, x)", "vdot(x, y)", "tensordot(x, y)", "einsum(x, y)")
    ),
    Equivalent(
        "numpy/linear.py contract",
        "form(x.ndim, y.ndim, ...)",
        "form(y.ndim, x.ndim, ...)",
        "all that is left is a sum over all axes, and one with a batch, whatever the order",
        line='!= "einsum(x, y)"',
    ),
    Equivalent(
        "buffered/linear.py contract",
        "batched(x.ndim, y.ndim, ...)",
        "batched(y.ndim, x.ndim, ...)",
        BOTH,
    ),
    Equivalent("subscripts.py form", "_batched(x, y, ...)", "_batched(y, x, ...)", BOTH),
    Equivalent(
        "subscripts.py form",
        "order and not turned and order != tuple(range(len(order)))",
        "(not turned) and ...",
        "no order at all is the order of no axes",
    ),
    *(
        Equivalent("subscripts.py _turn", "-1", after, "no order has this place")
        for after in ("-(-1)", "1.001 * (-1)")
    ),
    *(
        Equivalent(
            "reductions.py _product_of_others",
            "n - 1",
            after,
            "the first step takes n of them in any case",
        )
        for after in ("n", "(n) + (1)")
    ),
    *(
        Equivalent(
            "reductions.py std",
            "...",
            after,
            "the deviation of one element is 0, or NaN",
            line="return _kept(d_out * scale, axis",
        )
        for after in ("-(_kept...", "1.001 * (_kept...", "scale")
    ),
    *(
        Equivalent(
            f"bessel.py {own}",
            "v - 1.0",
            "(1.0) - (v)",
            "K is the same of an order and its negative",
            line=f"special.{own}(",
        )
        for own in ("kv", "kve")
    ),
    Equivalent(
        "subscripts.py _affine",
        "coefficient // factor",
        "(factor) // (coefficient)",
        "the factor is the coefficient without its sign",
    ),
    Equivalent("numpy/creation.py full", "holds(v, 1)", "holds(1, v)", NUMBERS),
    Equivalent("numpy/random.py", "holds(low, 0)", "holds(0, low)", NUMBERS),
    Equivalent("numpy/creation.py arange", "start + stop", "(start) - (stop)", INTEGERS),
    Equivalent(
        "numpy/creation.py arange", "start + stop + step", "(start + stop) - (step)", INTEGERS
    ),
    Equivalent(
        "numpy/indexing.py accumulate",
        'op == "slice" and reversal(...',
        "(reversal(...",
        "only slices have a start, of which there may be a reversal",
    ),
    Equivalent(
        "sum_after_loops.py _Pusher._terms",
        "isinstance(value, Variable) and ...",
        "(self._adds(...",
        "a number has the type of no array, so that it is no term; the type checker asks",
    ),
    *(
        Equivalent("numpy/indexing.py", before, after, "addition may be done in either order")
        for before, after in (
            ("_total(a, b)", "_total(b, a)"),
            ("zip(x, y)", "zip(y, x)"),
            ("_total(acc, operands[0])", "_total(operands[0], acc)"),
        )
    ),
    Equivalent(
        "plan/collected.py collected_rows",
        "isinstance(step, Step) and step.at in writable",
        "(step.at in writable)",
        "these positions are those of steps: the other part is for the type checker",
    ),
    *(
        Equivalent(
            "plan/lifetimes.py _Loops.until",
            before,
            after,
            "nothing gets a buffer at a loop's first line, or is read at its very end",
        )
        for before, after in (
            ("start <= begin", "(start) < (begin)"),
            ("at <= end", "(at) < (end)"),
        )
    ),
    Equivalent(
        "general/inline_calls.py inline_calls",
        "not is_numbered(old.name) and isinstance(new, Variable)",
        "(not is_numbered(old.name))",
        "the name of a constant is not read; the type checker asks",
    ),
    Equivalent(
        "layout/layout_rules.py _is_swapped",
        "first > second",
        "(first) >= (second)",
        "of two operands of the same size either may be the one that stays",
    ),
    Equivalent(
        "loops/steps_apart.py moving_part",
        "len(columns) != 1 or len(moving) != 1",
        "(len(moving) != 1)",
        "a slice that moves has the counter among its operands, and once",
    ),
    Equivalent(
        "loops/share_states.py _pair",
        'same and type.kind == "array" and type.dims',
        "(same) and (type.dims)",
        "stacks are not collected, and all else that has dims is an array",
    ),
    Equivalent(
        "products/merge_sums.py _Merger._key",
        "t.ndim != 2 or not t.inexact",
        "(t.ndim != 2)",
        "sums of integers are the same in any order, as these wrap around",
    ),
    Equivalent(
        "plan/buffers.py _Planner._buffered",
        "variable in head_of or ...",
        "(not kept...",
        "a class that is known is found once more, which takes time only",
    ),
    Equivalent(
        "analysis/sparsity.py _Walk.spread",
        "1",
        "2",
        "nothing is in the second row, and nobody reads it",
    ),
    Equivalent(
        "analysis/sparsity.py _keys",
        "1",
        "2",
        "of any negative length NumPy finds what it is",
        line="-1 if a == axis else 1",
    ),
    Equivalent(
        "loops/regions_of_steps.py Region.steps_after",
        "( (own.low, ...",
        "(its.low, ...), (own.low, ...)",
        "either of the two conditions may be the first",
    ),
    Equivalent(
        "batch/indexing.py _sum",
        "0",
        "1",
        "a list is added to a list",
        line='.kind == "stack"',
    ),
    Equivalent(
        "general/push_slices.py _Span.misses",
        "self.start - other.start",
        "(other.start) - (self.start)",
        "a distance is a multiple both ways",
    ),
    *(
        Equivalent(
            "general/push_slices.py _Pusher.",
            before,
            after,
            "names that are given once are as good as others",
            line="self.count",
        )
        for before, after in (("0", "1"), ("1", "2"))
    ),
    Equivalent(
        "general/push_slices.py _Pusher._slices_of",
        "span.step > 0",
        "(span.step) >= (0)",
        NO_STRIDE,
    ),
    *(
        Equivalent("kernels/loop_over_parts.py", before, after, why, line)
        for before, after, why, line in (
            ("0", "1", "rows are at the same distances from any place in them", "_levels([row["),
            ("0", "1", "all parts are added to arrays of one type", "(dims,) ="),
        )
    ),
    *(
        Equivalent("kernels/gather_parts.py _Gathered.", before, after, why, line)
        for before, after, why, line in (
            ("0", "1", "all parts are added on lines of one kind", "parts[0].added.location"),
            ("1", "2", "the first part is added between", 'at + 1, "pad", (root,)'),
        )
    ),
    *(
        Equivalent("numpy/subscripts.py", f"stride {sign} 0", f"(stride) {sign}= (0)", NO_STRIDE)
        for sign in "<>"
    ),
    *(
        Equivalent(
            "numpy/subscripts.py _sum",
            f"coefficient {sign} 0",
            f"(coefficient) {sign}= (0)",
            "no coefficient is 0",
        )
        for sign in "<>"
    ),
    *(
        Equivalent(f"numpy/subscripts.py {where}", before, after, why, line)
        for where, before, after, why, line in (
            ("subscript", "0", "1", NO_STRIDE, "stride < 0"),
            ("reversal", "0", "1", NO_STRIDE, "stride < 0"),
            ("_span", "0", "1", "of stride 1 both ends are the same", "high = low"),
            ("_sum", "0", "1", "no coefficient is 0", "if coefficient < 0"),
            ("holds", "1", "2", "the sign of any number", "math.copysign"),
            ("holds", "math.copysign(1, value) > 0", "...", "no sign is 0", ""),
            ("nested", "1", "2", "what is behind is not read", "return [nested("),
            ("_turn", "...1", "...", "no order has this place", "(-1,)"),
        )
    ),
    *(
        Equivalent(f"kernels/elements.py {where}", before, after, why, line)
        for where, before, after, why, line in (
            (
                "split_axes",
                "0",
                "1",
                "an axis longer than 1 is made of axes longer than 1",
                "whole =",
            ),
            ("selecting", "0", "1", "nobody reads the length", "else (0, 0, 1)"),
            ("_arange", "equation.params, ...", "...", "what is not lazy is in memory", ""),
        )
    ),
    Equivalent(
        "kernels/writer.py Writer.are_apart",
        "... > 0",
        "... >= (0)",
        "neither a factor nor the offset is 0 here",
    ),
    *(
        Equivalent(
            "operations/overlapping.py _part",
            before,
            after,
            "only the strides of what it takes matter",
            line,
        )
        for before, after, line in (
            ("2", "3", ""),
            ("0", "1", ""),
            ("1", "2", "0 if step > 0 else 1"),
            ("1", "2", "any(form[1:])"),
        )
    ),
    *(
        Equivalent(
            "operations/overlapping.py check_copy",
            before,
            after,
            "of two elements any copy is right",
            line="value.type.size < 2",
        )
        for before, after in (("2", "3"), ("value.type.size < 2", "..."))
    ),
    *(
        Equivalent(f"operations/subscripts.py {where}", before, after, why)
        for where, before, after, why in (
            ("_take_counted_slice", "(low, high)", "high, low", "either end may be the first"),
            (
                "place_on_axis",
                "greatest(place)",
                "least(place)",
                "where the range has both signs it is not within the axis, whatever is added",
            ),
            (
                "_within",
                "end.low >= 0",
                "(end.low) > (0)",
                "other ends are clipped, with the same result",
            ),
            ("_take_slice", "(TypeError, ValueError)", "...", "either error may be the first"),
        )
    ),
    Equivalent(
        "kernels/memory.py spread", "0", "1", "what is padded is of length 1", line="padded ="
    ),
    *(
        Equivalent(
            "kernels/memory.py _goes_along_rows",
            before,
            "...",
            "in either order of the loops the sums are the same: one is faster",
            line=line,
        )
        for before, line in (
            ("(count - 1, -1)", "_across"),
            ("1", "_across"),
            ("count - 1", "_across"),
            ("1", "order[-1]"),
            ("-1", "order[-1]"),
            ("-1", "_across"),
            ("terms.order[-1] < count", ""),
        )
    ),
    Equivalent(
        "kernels/elements.py _eye",
        "(indices[0] + offset, indices[1])",
        "...",
        "two numbers are equal both ways",
    ),
    Equivalent(
        "kernels/join_loops.py _nest_of",
        "list[int](), list[Variable]()",
        "...",
        "both lists are empty",
    ),
    Equivalent(
        "loops/triangles.py Triangle._compare", "i > at", "(i) >= (at)", "a read is no write"
    ),
    Equivalent("operations/overlapping.py _part", "step > 0", "(step) >= (0)", NO_STRIDE),
    Equivalent(
        "operations/overlapping.py _numbers",
        "-numbers.real",
        "numbers.real",
        "all numbers are different from their conjugates either way",
    ),
    Equivalent(
        "ad/restoring.py _before",
        '(equation.params["then"], equation.params["otherwise"])',
        "...",
        "the arms have to agree",
    ),
    Equivalent(
        "ad/restoring.py Restoring.run",
        "1",
        "2",
        "nothing is inserted behind the end",
        line="range(len(adjoint) + 1)",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _take_counted_slice",
        "stride < 0",
        "(stride) <= (0)",
        NO_STRIDE,
    ),
    Equivalent(
        "frontend/operations/subscripts.py _take_counted_slice",
        "0",
        "1",
        NO_STRIDE,
        line="if stride < 0",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _spanned",
        "-1",
        "1",
        "a division by 1 changes nothing",
        line="step in (1, -1)",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _spanned",
        "0",
        "1",
        NOTHING,
        line="if length else 0",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _take_slice",
        "0",
        "1",
        NOTHING,
        line="if count else 0",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _is_torn",
        "picks[:at], picks[at + 1 :]",
        "picks[at + 1:], picks[:at]",
        "both of them have an index, or it is not torn",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _end",
        "least(size) >= 0",
        "(least(size)) > (0)",
        MEASURED,
    ),
    Equivalent(
        "frontend/operations/subscripts.py _end",
        "0",
        "1",
        MEASURED,
        line="least(size) >= 0",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _within",
        "0",
        "1",
        CLIPPED,
        line="return end if end.low >= 0",
    ),
    Equivalent("frontend/operations/subscripts.py _within", "-dim", "dim", CLIPPED),
    Equivalent(
        "frontend/operations/subscripts.py _within",
        "end.high <= dim",
        "(end.high) < (dim)",
        CLIPPED,
    ),
    Equivalent(
        "frontend/operations/subscripts.py _within",
        "-dim <= end.low",
        "(-dim) < (end.low)",
        CLIPPED,
    ),
    Equivalent(
        "loops/triangles.py Triangle._compare",
        "i < at",
        "(i) <= (at)",
        "what does not write is none of the writes",
        line="before = ",
    ),
    Equivalent(
        "loops/triangles.py Triangle._compare",
        "i < at",
        "(i) <= (at)",
        "a write that does not add has an index of its own in each step, or is refused",
        line="use.adds and one.adds",
    ),
    Equivalent(
        "frontend/operations/subscripts.py _take_counted_slice",
        "0",
        "1",
        MEASURED,
        line="least(end) < 0 <= greatest(end)",
    ),
    Equivalent(
        "kernels/join_loops.py _Joiner._both",
        "self._place(variable) >= first.at",
        "...",
        "what a loop makes is not among the others, and nothing else is made in its place",
    ),
    Equivalent(
        "frontend/operations/subscripts.py counted_entries",
        "least(dim)",
        "greatest(dim)",
        "for a length with a name the integer has no bounds here",
    ),
    Equivalent(
        "kernels/turn_arrays.py _Orders._choose",
        "0",
        "1",
        "the uses are those of loops, which have this parameter",
        line='get("constants", 0)',
    ),
    Equivalent(
        "kernels/memory.py _goes_along_rows",
        "by_rows < one_by_one",
        "(by_rows) <= (one_by_one)",
        "of two forms of equal cost either is right",
    ),
    Equivalent(
        "general/added_parts.py AddedPart",
        "(self.added, self.read)",
        "self.read, self.added",
        "they are looked up, in no order",
    ),
    Equivalent(
        "general/added_parts.py AddedPart.kind",
        "self.source, same",
        "same, self.source",
        "a key of the same kind either way",
    ),
    Equivalent(
        "general/added_parts.py AddedPart.kind",
        "self.read.params, self.added.params",
        "...",
        "a key of the same kind either way",
        line="read, added =",
    ),
    Equivalent(
        "loops/all_steps.py _slice_by_counter",
        "a < axis",
        "(a) <= (axis)",
        "the axes that are kept are others",
    ),
)


def reason(mutant: Mutant) -> str:
    """Why a mutant is no mistake; nothing if it may be one."""
    return next((known.why for known in EQUIVALENT if known.fits(mutant)), "")
