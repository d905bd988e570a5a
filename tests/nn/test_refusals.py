"""What does not fit is refused: by the plain function, and at the user's line when compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

nn = st.nn


def z(*shape: int) -> Any:
    return np.zeros(shape)


ONES = np.ones((3, 4), bool)
WRONG: tuple[tuple[Any, tuple[Any, ...], str], ...] = (
    (nn.dense, (z(3, 4), z(5, 2), z(2)), "dense takes x"),
    (nn.dense, (z(3, 4), z(4, 2), z(3)), r"dense takes b \(2,\)"),
    (nn.dense, (z(3, 4), z(4, 2), z(1)), r"dense takes b \(2,\)"),
    (nn.conv2d, (z(3, 4, 5), z(1, 4, 2, 2)), "conv2d takes four axes"),
    (nn.conv2d, (z(2, 3, 5, 5), z(1, 4, 2, 2)), "3 channels and a kernel"),
    (nn.conv2d, (z(2, 4, 5, 5), z(3, 2, 2, 2), 1, 0, 1, 2), "filters a multiple of groups"),
    (nn.conv2d, (z(2, 3, 2, 5), z(1, 3, 3, 3)), r"spans \(3, 3\) is larger than the input"),
    (nn.conv2d, (z(2, 3, 5, 5), z(1, 3, 3, 3), 2, "same"), "'same' takes stride 1"),
    (nn.conv2d, (z(2, 3, 5, 5), z(1, 3, 3, 3), 1, "full"), "a number, 'valid' or 'same'"),
    (nn.conv2d, (z(2, 3, 5, 5), z(1, 3, 3, 3), 1, 0, 1, 1, "CHWN"), "'NCHW' or 'NHWC'"),
    (nn.conv1d, (z(2, 3), z(1, 3, 2)), "conv1d takes three axes"),
    (nn.conv1d, (z(2, 3, 5), z(1, 3, 2), 1, 0, 1, 1, "CWN"), "'NCW' or 'NWC'"),
    (nn.max_pool2d, (z(2, 5, 5),), "pool2d takes four axes"),
    (nn.max_pool2d, (z(2, 3, 1, 5),), "larger than the input"),
    (nn.avg_pool2d, (z(2, 3, 5, 5), 2, None, 0, "WHCN"), "'NCHW' or 'NHWC'"),
    (nn.embedding, (z(4), np.array([0])), "embedding takes a table"),
    (nn.layer_norm, (z(3, 4), z(3), z(3)), r"layer_norm takes a gain and a bias \(4,\)"),
    (nn.layer_norm, (z(3, 4), z(4), z(1)), "layer_norm takes a gain"),
    (nn.batch_norm, (z(3), z(3), z(3)), r"batch_norm takes x \(batch, channels"),
    (nn.batch_norm, (z(3, 4), z(3), z(3)), "batch_norm takes one number for each of the 4"),
    (nn.batch_norm_inference, (z(3, 4), z(4), z(4), z(4), z(1)), "batch_norm_inference takes one"),
    (nn.dropout, (z(3, 4), ONES[:2], 0.5), "does not broadcast|could not be broadcast|mismatch"),
    (nn.dropout, (z(3, 1), ONES, 0.5), "a mask .* does not broadcast"),
    (nn.mse, (z(3, 4), z(4)), "mse takes a prediction and a target of one shape"),
    (nn.huber, (z(3), z(3, 1)), "huber takes a prediction and a target of one shape"),
    (nn.binary_cross_entropy_with_logits, (z(3), z(3, 1)), "takes logits and targets of one"),
    (nn.softmax_cross_entropy, (z(3), np.zeros(3, int)), "takes logits"),
    (nn.rnn_cell, (z(2, 3), z(3, 4), z(3, 4), z(4, 4), z(4)), r"rnn_cell takes x \(batch, inp"),
    (nn.rnn_cell, (z(2, 3), z(2, 4), z(3, 5), z(4, 4), z(4)), r"rnn_cell takes Wx \(3, 4\)"),
    (nn.rnn_cell, (z(2, 3), z(2, 4), z(3, 4), z(4, 4), z(1)), r"rnn_cell takes a bias \(4,\)"),
    (nn.lstm_cell, (z(2, 3), z(2, 4), z(2, 4), z(3, 4), z(4, 16), z(16)), r"takes Wx \(3, 16\)"),
    (nn.lstm_cell, (z(2, 3), z(2, 4), z(1, 4), z(3, 16), z(4, 16), z(16)), "h and c of one shape"),
    (nn.gru_cell, (z(2, 3), z(2, 4), z(3, 12), z(4, 12), z(12), z(4)), "gru_cell takes biases"),
    (nn.rnn, (z(2, 3), z(2, 4), z(3, 4), z(4, 4), z(4)), "rnn takes xs"),
    (nn.rnn, (z(0, 2, 3), z(2, 4), z(3, 4), z(4, 4), z(4)), "rnn takes xs"),
    (nn.scaled_dot_product_attention, (z(3, 4), z(5, 3), z(5, 2)), "takes q .* k .* v"),
    (nn.scaled_dot_product_attention, (z(3, 4), z(5, 4), z(4, 2)), "takes q .* k .* v"),
    (nn.scaled_dot_product_attention, (z(4), z(5, 4), z(5, 2)), "two or more dimensions"),
    (nn.scaled_dot_product_attention, (z(3, 4), z(5, 4), z(5, 2), z(2, 3, 5)), "does not broadc"),
)


@pytest.mark.parametrize(("function", "args", "message"), WRONG)
def test_shapes_that_do_not_fit(function: Any, args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*args)

    def loss(*args: Any) -> Any:
        return np.sum(function(*args)[0])

    with pytest.raises(st.LanguageError, match=message) as caught:
        st.grad(loss)(*args)
    assert "function(*args)" in str(caught.value)


@pytest.mark.parametrize("ids", [[-1, 0], [0, 4]])
def test_ids_that_are_not_rows(ids: list[int]) -> None:
    def loss(table: Any, ids: Any) -> Any:
        return np.sum(nn.embedding(table, ids))

    for function in (loss, st.grad(loss)):
        with pytest.raises(IndexError, match="an id is not a row of the table"):
            function(np.ones((4, 2)), np.array(ids))
    assert nn.embedding(np.ones((4, 2)), np.zeros((0,), int)).shape == (0, 2)


def test_types_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="integers as ids"):
        nn.embedding(np.ones((4, 2)), np.ones(3))
    with pytest.raises(TypeError, match="a boolean mask"):
        nn.dropout(np.ones(3), np.ones(3), 0.5)
    with pytest.raises(ValueError, match="'none' or 'tanh', not 'erf'"):
        nn.gelu(np.ones(3), approximate="erf")
    for rate in (-0.1, 1.0):
        with pytest.raises(ValueError, match="a rate from 0"):
            nn.dropout(np.ones(3), np.ones(3, bool), rate)
