"""How the elements of arrays are rearranged, read, written and sorted."""

from __future__ import annotations

import numpy as np

from tests.templates.rows import (
    A,
    B,
    Counter,
    I,
    J,
    Row,
    S,
    V,
    W,
    Z,
    product,
    reading,
    row,
    windows,
)

UP = reading(((1,), (0,)), (2, 4), (1, 1))
COLUMN = reading(((0,), (0, 1)), (3, 1), (1, 1), (1,))
DOWN = reading(((0,), (0, 1)), (3, 3), (1, -1))
DOWN_FROM_2 = "x0[:, {0} - 2:{0} + 1][:, ::-1]"
VIEW = "np.lib.stride_tricks.sliding_window_view"
ROWS_AND_COLUMNS = ("index", "index")


def arrangements() -> list[Row]:
    return [
        row("reshape", "x0.reshape(4, 3)", A, shape=(4, 3)),
        row("reshape", "np.reshape(x0, ())", A[:1, 0], shape=()),
        row("reshape", "np.asarray(x0)", np.float64(2), shape=()),
        row("reshape", "np.reshape(x0, (1, 1))", np.float64(2), shape=(1, 1)),
        row("transpose", "x0", S, axes=(0, 1, 2)),
        row("transpose", "x0.T", A, axes=(1, 0)),
        row("transpose", "x0.mT", S, axes=(0, 2, 1)),
        row("transpose", "x0.transpose(2, 0, 1)", S, axes=(2, 0, 1)),
        row("expand_dims", "x0[:, None]", V, axis=(1,)),
        row("expand_dims", "x0[..., None]", A, axis=(2,)),
        row("expand_dims", "np.expand_dims(x0, 0)", np.float64(2), axis=(0,)),
        row("squeeze", "x0.squeeze(0)", A[:1], axis=(0,)),
        row("squeeze", "x0.squeeze((0, 1))", A[:1, :1], axis=(0, 1)),
        row("broadcast_to", "np.broadcast_to(x0, (2, 4))", V, shape=(2, 4)),
        row("concatenate", "np.concatenate((x0, x1), axis=1)", A, B, axis=1),
        row("concatenate", "np.concatenate((x0, x1))", A, B, axis=0),
        row("stack", "np.stack((x0, x1))", A, B, axis=0),
        row("roll", "np.roll(x0, 1, axis=1)", A, shift=(1,), axis=(1,)),
        row("pad", "np.pad(x0, ((1, 0), (0, 2)))", A, pad_width=((1, 0), (0, 2)), value=0),
        row(
            "pad",
            "np.pad(x0, ((1, 0), (0, 2)), constant_values=2.5)",
            *(A,),
            pad_width=((1, 0), (0, 2)),
            value=2.5,
        ),
        row("pad", "np.pad(x0, 1, constant_values=-0.0)", V, pad_width=1, value=-0.0),
        row("diagonal", "np.diagonal(x0)", A, offset=0, axis1=0, axis2=1),
        row("diagonal", "np.diagonal(x0, 1)", A, offset=1, axis1=0, axis2=1),
        row("diagonal", "np.diagonal(x0, 0, 0, 2)", S, offset=0, axis1=0, axis2=2),
        row("diagonal", "np.diagonal(x0, 0, 2, 1)", S, offset=0, axis1=2, axis2=1),
        row("cumprod", "np.cumprod(x0, axis=1)", A, axis=1),
        row("real", "x0.real", Z),
        row("imag", "x0.imag", Z),
        row("complex_sign", "np.sign(x0)", Z),
    ]


def parts() -> list[Row]:
    at = {"at": ("index",)}
    return [
        row("slice", "x0[1:]", A, **UP),
        row("slice", "x0[:, x1]", A, Counter(2), **COLUMN),
        row("slice", DOWN_FROM_2.format("x1"), A, Counter(2), **DOWN),
        row("update", "x0[1:] = x1; x0", A, B[1:], **UP),
        row("update", "x0[:, x2] = x1; x0", A, V[:3], Counter(2), **COLUMN),
        row("update", DOWN_FROM_2.format("x2") + " = x1; x0", A, B[:, :3], Counter(2), **DOWN),
        row("update_part", "x0.real[...] = x1; x0", Z, A, part="real"),
        row("update_part", "x0.imag[...] = x1; x0", Z, A, part="imag"),
        row("index", "x0[x1]", A, I, **at),
        row("index", "x0[:, x1]", A, J, at=((0, 3, 1), "index")),
        row("index", "x0[x1, x2]", A, I, J, at=ROWS_AND_COLUMNS),
        row("index_update", "x0[x2] = x1; x0", A, B[:1], I, **at),
        row("index", "x0[x1]", A, A > 0, at=(("mask", int((A > 0).sum()), A.ndim),)),
        row("index_update", "x0[x2] = 2.5; x0", A, 2.5, A > 0, at=(("mask", None, A.ndim),)),
        row("accumulate", "x0 += x1; x0", A, B, op="add"),
        row("accumulate", "x0[1:] += x1; x0", A, B[1:], op="slice", **UP),
        row("accumulate", "x0[:, x2] += x1; x0", A, V[:3], Counter(2), op="slice", **COLUMN),
        row(
            "accumulate",
            DOWN_FROM_2.format("x2") + " += x1; x0",
            *(A, B[:, :3], Counter(2)),
            op="slice",
            **DOWN,
        ),
        row("accumulate", "x0[x2] += x1; x0", A, B, I, op="distinct", **at),
        row("accumulate", "np.add.at(x0, x2, x1); x0", A, B, I, op="index", **at),
        row(
            "accumulate",
            "x0 += x1.T @ x2; x0",
            *(np.zeros((4, 4)), A, B),
            op="contract",
            **product(contracted=((0, 0),)),
        ),
        row(
            "accumulate",
            "x0 += np.outer(x1, x2); x0",
            *(np.zeros((4, 4)), V, W),
            op="contract",
            **product(spelling="outer"),
        ),
        row(
            "windows",
            f"{VIEW}(x0, 2, axis=1)",
            *(A,),
            order=(),
            **windows((1,), (0,), (3,), (1,), (2,), (1,)),
        ),
        row(
            "windows",
            f"{VIEW}(x0, 3, axis=1)[:, 1:, ::2]",
            *(A,),
            order=(),
            **windows((1,), (1,), (1,), (1,), (2,), (2,)),
        ),
        row(
            "windows",
            f"{VIEW}(x0, (2, 3), axis=(0, 1))[:, ::2]",
            *(np.arange(24.0).reshape(4, 6),),
            order=(),
            **windows((0, 1), (0, 0), (3, 2), (1, 2), (2, 3), (1, 1)),
        ),
        row(
            "windows",
            f"{VIEW}(x0, 2, axis=1).transpose(2, 0, 1)",
            *(A,),
            order=(2, 0, 1),
            **windows((1,), (0,), (3,), (1,), (2,), (1,)),
        ),
    ]


def sorting() -> list[Row]:
    knots = np.array([-1.0, 0.0, 0.5])
    return [
        row("argsort", "np.argsort(x0, axis=1)", A, axis=1, kind=None),
        row("argsort", "np.argsort(x0, axis=0, kind='stable')", A, axis=0, kind="stable"),
        row("searchsorted", "np.searchsorted(x0, x1)", knots, A, side="left"),
        row("searchsorted", "np.searchsorted(x0, x1, side='right')", knots, A, side="right"),
        row("histogram", "np.histogram(x0, x1)[0]", A, knots),
        row("digitize", "np.digitize(x0, x1)", A, knots),
        row("digitize", "np.digitize(x0, x1, right=True)", A, knots, right=True),
        row("interp", "np.interp(x0, x1, x2)", A, knots, V[:3]),
        row("frexp", "np.frexp(x0)[0]", A, part="mantissa"),
        row("frexp", "np.frexp(x0)[1]", A, part="exponent"),
        row("i0", "np.i0(x0)", A),
        row("first_maximum", "np.maximum(x0, x1)", A, B),
        row("strong_product", "np.where(x0 == 0, 0.0, x0 * x1)", A, B),
        row("strong_quotient", "np.where(x0 == 0, 0.0, x0 / x1)", A, B),
        row("absolute", "abs(x0)", Counter(-2)),
        row("absolute", "np.abs(x0)", np.float32(-2)),
        row("power", "x0 ** 2", A, 2),
    ]
