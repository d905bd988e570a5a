"""Rotations of `scipy.spatial.transform`, as unit quaternions (x, y, z, w).

Formulas: Diebel, "Representing attitude" (2006); angles about axes by Bernardes & Viollet,
"Quaternion to Euler angles conversion", PLoS ONE 17 (2022), as SciPy has them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.library.matrix_equations import polar

_SMALL = 1e-5
"""Squares of angles below which series stand for quotients of 0 by 0."""


class Rotation:
    """A rotation, or a stack of them."""

    __array_ufunc__ = None

    def __init__(self, quat: Any, normalize: bool = True, copy: bool = True) -> None:
        values = np.asarray(quat) + 0.0
        length = np.sqrt(np.sum(values * values, axis=-1, keepdims=True))
        self._quat = values / length if normalize else values

    @property
    def single(self) -> bool:
        return self._quat.ndim == 1

    def __len__(self) -> int:
        if self._quat.ndim == 1:
            raise TypeError("Single rotation has no len().")
        return int(self._quat.shape[0])

    def __getitem__(self, indexer: Any) -> Any:
        return Rotation(self._quat[indexer], False)

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        q = self._quat
        if canonical:
            q = q * _sign(q)
        if scalar_first:
            return np.concatenate([q[..., 3:], q[..., :3]], axis=-1)
        return q

    def as_matrix(self) -> Any:
        x, y, z, w = (self._quat[..., i] for i in range(4))
        rows = [
            np.stack([x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)], -1),
            np.stack([2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)], -1),
            np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w], -1),
        ]
        return np.stack(rows, -2)

    def as_rotvec(self, degrees: bool = False) -> Any:
        q = self._quat * _sign(self._quat)
        vector, w = q[..., :3], q[..., 3:]
        square = np.sum(vector * vector, axis=-1, keepdims=True)
        is_small = square < _SMALL
        length = np.sqrt(np.where(is_small, 1.0, square))
        series = 2 + square * (1 / 3 + square * (3 / 20 + square * (5 / 56)))
        scale = np.where(is_small, series, 2 * np.arctan2(length, w) / length)
        return vector * scale * (180 / math.pi if degrees else 1.0)

    def magnitude(self) -> Any:
        q = self._quat
        return 2 * np.arctan2(np.sqrt(np.sum(q[..., :3] ** 2, axis=-1)), np.abs(q[..., 3]))

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        axes, is_intrinsic = _axes(seq, 3)
        i, j, k = axes[::-1] if is_intrinsic else axes
        is_symmetric = i == k
        k = 3 - i - j if is_symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        q = [self._quat[..., at] for at in range(4)]
        if is_symmetric:
            a, b, c, d = q[3], q[i], q[j], q[k] * sign
        else:
            a, b, c, d = q[3] - q[j], q[i] + q[k] * sign, q[j] + q[3], q[k] * sign - q[i]
        middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
        half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
        first, third = half_sum - half_difference, half_sum + half_difference
        if is_intrinsic:
            first, third = third, first
        is_low, is_high = np.abs(middle) <= 1e-7, np.abs(middle - math.pi) <= 1e-7
        turned = 2 * half_difference * (1 if is_intrinsic else -1)
        first = np.where(is_low, 2 * half_sum, np.where(is_high, turned, first))
        third = np.where(is_low | is_high, 0.0, third)
        if not is_symmetric:
            first, third = (first * sign, third) if is_intrinsic else (first, third * sign)
            middle = middle - math.pi / 2
        angles = np.stack([first, middle, third], axis=-1)
        angles = np.where(angles < -math.pi, angles + 2 * math.pi, angles)
        angles = np.where(angles > math.pi, angles - 2 * math.pi, angles)
        return angles * (180 / math.pi if degrees else 1.0)

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        x, matrix = np.asarray(vectors), self.as_matrix()
        if inverse:
            matrix = np.swapaxes(matrix, -1, -2)
        if matrix.ndim == 2:
            return x @ matrix.T
        return np.sum(matrix * np.broadcast_to(x, (matrix.shape[0], 3))[:, None, :], axis=-1)

    def inv(self) -> Any:
        return Rotation(self._quat * np.array([-1.0, -1.0, -1.0, 1.0]), False)

    def __mul__(self, other: Any) -> Any:
        p, q = self._quat, other._quat
        vector = (
            p[..., 3:] * q[..., :3] + q[..., 3:] * p[..., :3] + np.cross(p[..., :3], q[..., :3])
        )
        scalar = p[..., 3:] * q[..., 3:] - np.sum(p[..., :3] * q[..., :3], axis=-1, keepdims=True)
        return Rotation(np.concatenate([vector, scalar], axis=-1))

    def __pow__(self, n: Any) -> Any:
        return from_rotvec(n * self.as_rotvec())


def _sign(q: Any) -> Any:
    return np.where(q[..., 3:] < 0, -1.0, 1.0)


def _axes(seq: str, most: int) -> tuple[list[int], bool]:
    """The axes of a sequence, and whether they turn with the body."""
    if not 1 <= len(seq) <= most or not (seq.islower() or seq.isupper()):
        raise ValueError("Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z']")
    return ["xyz".index(letter) for letter in seq.lower()], seq.isupper()


def from_quat(quat: Any, *, scalar_first: bool = False) -> Any:
    q = np.asarray(quat)
    return Rotation(np.concatenate([q[..., 1:], q[..., :1]], axis=-1) if scalar_first else q)


def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
    vector = np.asarray(rotvec) * (math.pi / 180 if degrees else 1.0)
    square = np.sum(vector * vector, axis=-1, keepdims=True)
    is_small = square < _SMALL
    angle = np.sqrt(np.where(is_small, 1.0, square))
    series = 1 / 2 - square * (1 / 48 - square * (1 / 3840 - square / 645120))
    near = 1 - square * (1 / 8 - square * (1 / 384 - square / 46080))
    scale = np.where(is_small, series, np.sin(angle / 2) / angle)
    return Rotation(
        np.concatenate([vector * scale, np.where(is_small, near, np.cos(angle / 2))], axis=-1)
    )


def from_euler(seq: str, angles: Any, degrees: bool = False) -> Any:
    axes, is_intrinsic = _axes(seq, 3)
    turns = np.asarray(angles) * (math.pi / 180 if degrees else 1.0)
    if len(axes) == 1:
        turns = turns[..., None] if turns.ndim == 0 or turns.shape[-1] != 1 else turns
    total = _about(axes[0], turns[..., 0])
    for at in range(1, len(axes)):
        turn = _about(axes[at], turns[..., at])
        total = total * turn if is_intrinsic else turn * total
    return total


def _about(axis: int, angle: Any) -> Any:
    sine, cosine = np.sin(angle / 2), np.cos(angle / 2)
    parts = [sine if at == axis else 0.0 * sine for at in range(3)]
    return Rotation(np.stack([*parts, cosine], axis=-1))


def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Any:
    """The rotation that is nearest to a matrix, which is its polar factor."""
    values = np.asarray(matrix) + 0.0
    if values.ndim == 3:
        return Rotation(
            np.stack([_quaternion(polar(values[i])[0]) for i in range(values.shape[0])])
        )
    return Rotation(_quaternion(polar(values)[0]))


def _quaternion(m: Any) -> Any:
    """By the largest of the quaternion's four numbers (Markley, "Unit quaternion from rotation
    matrix", Journal of Guidance, Control, and Dynamics 31, 2008)."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    skew = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    rows = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        row = [1 - trace + 2 * m[i, i], m[j, i] + m[i, j], m[k, i] + m[i, k], skew[i]]
        rows.append(np.stack([row[(at - i) % 3] for at in range(3)] + [row[3]]))
    rows.append(np.stack([*skew, 1 + trace]))
    choice = np.argmax(np.stack([m[0, 0], m[1, 1], m[2, 2], trace]))
    return np.stack(rows)[choice]


def identity(num: Any = None) -> Any:
    one = np.array([0.0, 0.0, 0.0, 1.0])
    return Rotation(one if num is None else np.tile(one, (num, 1)))


def concatenate(rotations: Any) -> Any:
    return Rotation(np.concatenate([np.atleast_2d(each._quat) for each in rotations]), False)


class Slerp:
    """Rotations between rotations at times, each turning about one axis."""

    def __init__(self, times: Any, rotations: Any) -> None:
        self.times = np.asarray(times) + 0.0
        self.rotations = rotations
        self.vectors = (rotations[:-1].inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: Any) -> Any:
        at = np.asarray(times)
        n = self.times.shape[0]
        place = np.clip(np.searchsorted(self.times, at) - 1, 0, n - 2)
        part = (at - self.times[place]) / (self.times[place + 1] - self.times[place])
        return self.rotations[place] * from_rotvec(self.vectors[place] * part[..., None])
