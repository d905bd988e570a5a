"""Sparse linear systems: SciPy's own call, with the adjoint of `stcompile.library.sparse`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from stcompile.frontend.state.run import Run
from stcompile.library.sparse import solved_adjoint
from stcompile.transforms.user_primitive import Operand, UserPrimitive


def sparse_solve(data: Any, rows: Any, columns: Any, b: Any) -> Any:
    """The solution of a system with these entries; `numpy.linalg.LinAlgError` if it has none."""
    sparse = importlib.import_module("scipy.sparse")
    size = b.shape[0]
    matrix = sparse.csc_array((data, (rows, columns)), shape=(size, size))
    try:
        found = importlib.import_module("scipy.sparse.linalg").splu(matrix).solve(np.asarray(b))
    except RuntimeError as error:
        raise np.linalg.LinAlgError(str(error)) from None
    return np.ascontiguousarray(found)


def _result(data: Operand, rows: Operand, columns: Operand, b: Operand) -> Any:
    return b.shape, np.result_type(data.dtype, b.dtype)


_SOLVE = UserPrimitive(sparse_solve, solved_adjoint, _result)


def stage(run: Run, data: Any, rows: Any, columns: Any, b: Any) -> Any:
    """Record a sparse system in double precision."""
    kind = np.dtype(float)
    data, b = run.cast(data, kind), run.cast(b, kind)
    return _SOLVE.stage_call(run, (data, rows, columns, b), {})
