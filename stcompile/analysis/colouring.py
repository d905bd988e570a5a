"""Colour the columns of a sparse matrix: columns of the same colour share no row and are computed
at once.

Curtis, Powell and Reid (1974, IMA J. Appl. Math. 13, 117-119) grouped columns so; it is a colouring
of the graph in which two columns with a row in common are neighbours (Coleman and Moré 1983, SIAM
J. Numer. Anal. 20, 187-209; Gebremedhin, Manne and Pothen 2005, SIAM Review 47, 629-705). Colours
are given greedily, in the columns' own order, which is the best order for bands, and in the order
of falling degrees; the better result is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def coloured(matrix: Any) -> Any:
    """The colour of each column of a matrix in CSR form, from 0 on."""
    columns = matrix.tocsc()
    degrees = np.diff(matrix.indptr)
    weights = np.zeros(matrix.shape[1], np.int64)
    np.add.at(weights, matrix.indices, np.repeat(degrees, degrees))
    orders = (np.arange(matrix.shape[1]), np.argsort(-weights, kind="stable"))
    found = [_greedy(matrix, columns, order) for order in orders]
    return min(found, key=count)


def count(colours: Any) -> int:
    """The number of colours."""
    return int(colours.max(initial=-1)) + 1


def _greedy(rows: Any, columns: Any, order: Any) -> Any:
    """Give each column in turn the first colour that none of its neighbours has."""
    colours = np.full(rows.shape[1], -1, np.int64)
    used: list[set[int]] = [set() for _ in range(rows.shape[0])]  # colours in each row
    starts, indices = columns.indptr.tolist(), columns.indices.tolist()
    for column in order.tolist():
        mine = indices[starts[column] : starts[column + 1]]
        taken = set().union(*(used[row] for row in mine))
        colour = 0
        while colour in taken:
            colour += 1
        colours[column] = colour
        for row in mine:
            used[row].add(colour)
    return colours
