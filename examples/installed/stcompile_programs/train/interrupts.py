"""Signals that ask a run to stop: they wait until a step is made."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_DEFAULTS: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


class Interrupts:
    """Inside ``with Interrupts() as interrupts``, Ctrl-C and SIGTERM are noted in ``received``
    instead of breaking off the running code, so that no parameter is left half-updated.

    A second Ctrl-C raises `KeyboardInterrupt` at once. A signal that the program ignores or handles
    in its own way is left alone, and so are all of them outside the main thread.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number, default in _DEFAULTS.items():
                if signal.getsignal(number) == default:
                    self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        self._previous.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.received = number
