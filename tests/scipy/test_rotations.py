"""`scipy.spatial.transform`: rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

transform = pytest.importorskip("scipy.spatial.transform")

from scipy.spatial.transform import Rotation  # noqa: E402

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

V = np.array([0.7, -0.4, 1.2])
STACK = np.cos(np.arange(12.0) ** 2).reshape(4, 3)
Q = np.array([0.5, -0.3, 0.7, -0.4])
M = Rotation.from_rotvec(V).as_matrix() + 0.1 * STACK[:3]
LOCKED = np.array([0.4, np.pi / 2, 0.7])
OUTSIDE = Rotation.from_rotvec(STACK)
RTOL = 1e-12
TURNED = (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0]))

CASES = (
    Case("from_quat", lambda q: Rotation.from_quat(q).as_matrix(), (Q,)),
    Case("scalar first", lambda q: Rotation.from_quat(q, scalar_first=True).as_rotvec(), (Q,)),
    Case("from_rotvec", lambda v: Rotation.from_rotvec(v).as_quat(), (V,)),
    Case("at identity", lambda v: Rotation.from_rotvec(v).as_matrix(), (0 * V,)),
    Case("rotvec", lambda v: Rotation.from_rotvec(v).as_rotvec(), (0 * V,)),
    Case("stack", lambda v: Rotation.from_rotvec(v, degrees=True).as_matrix(), (40 * STACK,)),
    *(
        Case(f"euler {s}", lambda a, s=s: Rotation.from_euler(s, a).as_quat(True), (V,))
        for s in ("xyz", "ZYX", "zxz", "YXY")
    ),
    *(
        Case(f"as_euler {s}", lambda v, s=s: Rotation.from_rotvec(v).as_euler(s, True), (STACK,))
        for s in ("xyz", "ZYX", "zxz", "YXY", "yzx")
    ),
    Case("one angle", lambda a: Rotation.from_euler("y", a, degrees=True).as_matrix(), (30.0,)),
    Case("angles", lambda a: Rotation.from_euler("Y", a).as_matrix(), (V[:, None],)),
    Case("two angles", lambda a: Rotation.from_euler("XZ", a).as_matrix(), (V[:2],)),
    Case("from_matrix", lambda m: Rotation.from_matrix(m).as_rotvec(), (M,)),
    *(
        Case(f"turned {i}", lambda m: Rotation.from_matrix(m).as_matrix(), (t + 0.1 * M,))
        for i, t in enumerate(TURNED)
    ),
    Case("matrices", lambda m: Rotation.from_matrix(np.stack([m, m.T])).as_rotvec(), (M,)),
    Case("apply", lambda v, x: Rotation.from_rotvec(v).apply(x), (V, STACK)),
    Case("apply back", lambda v, x: Rotation.from_rotvec(v).apply(x, inverse=True), (STACK, V)),
    Case("each", lambda v, x: Rotation.from_rotvec(v).apply(x), (STACK, STACK[::-1].copy())),
    Case("product", lambda v, q: (Rotation.from_rotvec(v) * Rotation(q).inv()).as_matrix(), (V, Q)),
    Case("power", lambda v: (Rotation.from_rotvec(v) ** 0.4).as_rotvec(), (V,)),
    Case("magnitude", lambda v: Rotation.from_rotvec(v).magnitude(), (STACK,)),
    Case("outside", lambda x: OUTSIDE.apply(x), (STACK,)),
    Case("part", lambda v: Rotation.from_rotvec(v)[1].as_matrix(), (STACK,)),
    Case("joined", lambda v: Rotation.concatenate([Rotation.from_rotvec(v)] * 2).as_quat(), (V,)),
    Case(
        "slerp",
        lambda v, t: transform.Slerp([0, 1, 2.5, 4], Rotation.from_rotvec(v))(t).as_matrix(),
        (STACK, np.array([0.2, 1.7, 3.9])),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rotations(case: Case) -> None:
    check(Case(case.name, case.function, case.args, RTOL))
    check_forward(case)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "XYZ"])
def test_a_lock(seq: str) -> None:
    """Where the angles are not unique they are SciPy's."""
    angles = LOCKED if len(set(seq)) == 3 else LOCKED * [1, 0, 1]
    f = lambda a: Rotation.from_euler(seq, a).as_euler(seq)  # noqa: E731
    np.testing.assert_allclose(st.compile(f)(angles), f(angles), atol=1e-7)


def test_refused() -> None:
    with pytest.raises(st.StcompileError, match=r"Rotation.random|`random`"):
        st.grad(lambda x: np.sum(Rotation.random().apply(x)))(V)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    f = lambda v: np.sum(Rotation.from_rotvec(v).apply(STACK) ** 3)  # noqa: E731
    slopes = [(f(V + h) - f(V - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(st.grad(f, level=level)(V), slopes, rtol=1e-6, atol=1e-7)
