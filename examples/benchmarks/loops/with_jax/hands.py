"""The same hand."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

FINGERS, BONES = 5, 3


def turned(axis: int, angle: Any) -> Any:
    c, s, o, i = jnp.cos(angle), jnp.sin(angle), jnp.zeros(()), jnp.ones(())
    rows = {
        0: [i, o, o, o, c, -s, o, s, c],
        1: [c, o, s, o, i, o, -s, o, c],
        2: [c, -s, o, s, c, o, o, o, i],
    }
    return jnp.stack(rows[axis]).reshape(3, 3)


def hand_tracking(pose: Any, joints: Any, skin: Any, weights: Any, seen: Any) -> Any:
    wrist = turned(2, pose[2]) @ turned(1, pose[1]) @ turned(0, pose[0])
    place = pose[3:6]
    moved = weights[0][:, None] * (skin @ wrist.T + place)
    for finger in range(FINGERS):
        angles = pose[6 + 4 * finger : 10 + 4 * finger]
        rotation, origin = wrist @ turned(1, angles[0]), place
        for bone in range(BONES):
            number = BONES * finger + bone
            origin = origin + rotation @ joints[number]
            rotation = rotation @ turned(0, angles[1 + bone])
            moved = moved + weights[1 + number][:, None] * (skin @ rotation.T + origin)
    return (moved - seen).reshape(-1)
