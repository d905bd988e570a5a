"""Convolutions by XLA's own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def _valid(x: Any, kernel: Any, padding: Any = "VALID") -> Any:
    return jax.lax.conv_general_dilated(
        x[None, :, :, None], kernel[:, :, None, None], (1, 1), padding,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )[0, :, :, 0]  # fmt: skip


def convolve_pixels(x: Any, kernel: Any, bias: Any) -> Any:
    names = ("NHWC", "HWIO", "NHWC")
    y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=names)
    return jnp.maximum(y + bias, 0.0)


def convolve_taps(x: Any, kernel: Any) -> Any:
    return _valid(x, kernel, "SAME")


def convolve_scalars(x: Any, kernel: Any) -> Any:
    return _valid(x, kernel)
