"""The managers of `contextlib`, in plain Python."""

from __future__ import annotations

from typing import Any


class Null:
    """`contextlib.nullcontext`."""

    def __init__(self, enter_result: Any = None) -> None:
        self.enter_result = enter_result

    def __enter__(self) -> Any:
        return self.enter_result

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Nothing."""


class Suppress:
    """`contextlib.suppress`."""

    def __init__(self, *exceptions: Any) -> None:
        self.exceptions = exceptions

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        return kind is not None and issubclass(kind, self.exceptions)


class Closing:
    """`contextlib.closing`."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __enter__(self) -> Any:
        return self.thing

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.thing.close()


def entered(manager: Any) -> Any:
    """Enter a manager and return its value. Frontends handle the call."""
    return type(manager).__enter__(manager)


def left(manager: Any, kind: Any, error: Any) -> Any:
    """Leave a manager; True if an error ends there. Frontends handle the call."""
    return type(manager).__exit__(manager, kind, error, None)


class Call:
    """A call as a manager: it is made when the manager is left."""

    def __init__(self, function: Any, arguments: Any, keywords: Any) -> None:
        self.function, self.arguments, self.keywords = function, arguments, keywords

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.function(*self.arguments, **self.keywords)


class ExitStack:
    """`contextlib.ExitStack`, but for the pushing of functions."""

    def __init__(self) -> None:
        self.managers: list[Any] = []

    def __enter__(self) -> Any:
        return self

    def enter_context(self, cm: Any) -> Any:
        """Enter a manager; it is left with the stack."""
        value = entered(cm)
        self.managers.append(cm)
        return value

    def push(self, exit: Any) -> Any:
        """Leave a manager with the stack, without entering it."""
        self.managers.append(exit)
        return exit

    def callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
        """Call a function when the stack is left."""
        self.managers.append(Call(callback, args, kwds))
        return callback

    def pop_all(self) -> Any:
        """Another stack, which takes over the managers that are still to be left."""
        other = ExitStack()
        other.managers = list(self.managers)
        self.managers.clear()
        return other

    def close(self) -> None:
        """Leave all managers now."""
        self.__exit__(None, None, None)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        received, is_new = error, False
        while self.managers:
            manager = self.managers.pop()
            try:
                if left(manager, kind, error) and error is not None:
                    kind, error, is_new = None, None, False
            except BaseException as other:
                kind, error, is_new = type(other), other, True
        if is_new:
            raise error
        return received is not None and error is None
