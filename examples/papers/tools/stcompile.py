"""stcompile: the plain NumPy losses of the examples."""

from __future__ import annotations

from typing import Any

import stcompile as st

from ..networks import Array, Task
from .base import Learner


def learner(task: Task, threads: int) -> Learner:
    network, params = task.network, task.copied_params()
    descent = st.optim.SGD(network.learning_rate, clip_norm=network.clip_norm)
    compiled = st.train_step(task.loss, descent)

    def step(*batch: Array) -> float:
        return float(compiled(params, *batch, *task.statics))

    def allocated_bytes(*batch: Array) -> int:
        count: Any = compiled.allocated_bytes(params, *batch, *task.statics)
        return int(count)

    return Learner(step, lambda: params, allocated_bytes)
