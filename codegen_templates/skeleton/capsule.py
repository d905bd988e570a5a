"""The arrays of a crash capsule."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np


def unpacked_array(dtype: str, shape: Sequence[int], axes: Sequence[int], text: str) -> Any:
    """The array whose bytes are in a text; ``axes`` is the order of its axes in memory."""
    data = zlib.decompress(base64.b85decode(text))
    array = np.frombuffer(data, dtype) if data else np.empty(0, dtype)
    return array.reshape(shape).copy().transpose(np.argsort(axes).tolist())
