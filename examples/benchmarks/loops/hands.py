"""A model of a hand that is fitted to points: a Jacobian of few columns and many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram

FINGERS, BONES = 5, 3
POSE = 6 + FINGERS * 4  # the wrist: rotation and place; a finger: sideways, and three joints


def turned(axis: int, angle: float) -> Any:
    """The matrix that turns about one of the axes."""
    c, s = np.cos(angle), np.sin(angle)
    if axis == 0:
        return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    if axis == 1:
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def hand_tracking(pose: Array, joints: Array, skin: Array, weights: Array, seen: Array) -> Any:
    """The distance of each point of the skin from its observed place, three numbers a point.

    ``pose`` (26,), ``joints`` (15, 3) relative to the previous joint, ``skin`` (points, 3),
    ``weights`` (16, points) of the bones and the wrist, ``seen`` (points, 3).
    """
    wrist = turned(2, pose[2]) @ turned(1, pose[1]) @ turned(0, pose[0])
    place = pose[3:6]
    moved = weights[0][:, None] * (skin @ wrist.T + place)
    for finger in range(FINGERS):
        rotation, origin = wrist, place
        angles = pose[6 + 4 * finger : 10 + 4 * finger]
        rotation = rotation @ turned(1, angles[0])
        for bone in range(BONES):
            number = BONES * finger + bone
            origin = origin + rotation @ joints[number]
            rotation = rotation @ turned(0, angles[1 + bone])
            share = weights[1 + number][:, None]
            moved = moved + share * (skin @ rotation.T + origin)
    return (moved - seen).reshape(-1)


def _hand(rng: np.random.Generator, points: int) -> Arguments:
    weights = rng.random((1 + FINGERS * BONES, points)) ** 8
    return {
        "pose": 0.3 * rng.normal(size=POSE), "joints": rng.normal(size=(FINGERS * BONES, 3)),
        "skin": rng.normal(size=(points, 3)), "weights": weights / np.sum(weights, axis=0),
        "seen": rng.normal(size=(points, 3)),
    }  # fmt: skip


PROGRAMS = (
    LoopProgram(
        hand_tracking, _hand, wrt=("pose",), jacobian=True, whole=True, grows=("points",),
        small={"points": 20}, middle={"points": 500}, large={"points": 10000},
    ),
)  # fmt: skip
