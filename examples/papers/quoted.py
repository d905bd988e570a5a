"""Figures that the papers report. They are quoted; nothing here was measured by this program.

They were measured on other machines: times are comparable among themselves.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quoted:
    """A row of a paper's table: texts as they are to be shown, ``–`` for what it does not say."""

    paper: str
    tool: str
    accuracy: str
    time: str = "–"
    allocated: str = "–"


_OWN, _FLUX, _THIRD = "the paper's own tool", "Flux", "PyTorch or Keras"

QUOTED: dict[str, tuple[Quoted, ...]] = {
    "rnn": (
        Quoted("RNN I", _OWN, "92.47%", "15.7 s", "23.0 GiB"),
        Quoted("RNN I", _FLUX, "94.55%", "22.5 s", "17.8 GiB"),
        Quoted("RNN I", _THIRD, "91.24%", "89 s"),
        Quoted("RNN II", _OWN, "92.24%", "11.5 s", "4.6 GiB"),
        Quoted("RNN II", _FLUX, "94.4%", "12.8 s", "13.2 GiB"),
        Quoted("RNN II", _THIRD, "94.55%", "11.9 s", "31.6 GiB"),
    ),
    "cnn": (
        Quoted("CNN", _OWN, "96.20%", "35 s an epoch", "1/6 of Flux"),
        Quoted("CNN", _FLUX, "95.36%"),
        Quoted("CNN", _THIRD, "96.55%"),
    ),
    "cnn-fashion": (Quoted("CNN", _OWN, "≥ 85%"),),
}

WORKED_EXAMPLE = "11.652", "5.5", "1.716"
"""The value of ln x₁ + x₁ x₂ − sin x₂ at (2, 5), and its derivatives by x₁ and x₂."""
