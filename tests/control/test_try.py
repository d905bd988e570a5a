"""``try`` and ``with``: what is known at compile time takes Python's way, with its effects in
order; errors that only the running program knows are in `test_attempts`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.diagnostics.refusals import Refusals
from tests.programs import check_gradient

X = np.array([0.5, 1.5, 2.5])
TABLE = {"a": 2.0}
LATER: dict[str, Any] = {"weight": 3.0}
refused = Refusals()


def seen(function: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """What a call gives or raises, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*args)
        except (ValueError, LookupError) as error:
            result = type(error).__name__
    return result, printed.getvalue()


class Bad(Exception):
    def __init__(self, count):
        super().__init__("bad", count)
        self.count = count


class Named:
    """A manager that says what happens, and stops one kind of error."""

    def __init__(self, name, stops=()):
        self.name, self.stops = name, stops

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind is None, error is None)
        return kind is not None and issubclass(kind, self.stops)

    def close(self):
        print("close", self.name)


@contextmanager
def doubled(x):
    print("in")
    try:
        yield 2 * x
    except KeyError as error:
        print("stopped", error.args)
    finally:
        print("out")


@contextmanager
def plain(name):
    print("before", name)
    yield
    print("after", name)


def looked_up(key):
    try:
        return TABLE[key]
    except LookupError as error:
        raise ValueError(f"no {key}") from error
    finally:
        print("looked", key)


# --- programs ------------------------------------------------------------------------------------


def a_missing_key(x):
    try:
        s = TABLE["b"]
    except KeyError as e:
        s = 3.0
        print("missing", e.args[0], str(e))
    else:
        s = 5.0
    finally:
        print("done")
    try:
        e
    except NameError:
        s = s * 2
    return np.sum(x * x * s)


def imports_and_attributes(x):
    try:
        import no_such_module  # noqa: F401

        s = 1.0
    except ImportError:
        s = 2.0
    try:
        from math import no_such_name  # noqa: F401
    except ModuleNotFoundError:
        s = 0.0
    except ImportError:
        s = s * 3
    try:
        y = x.missing
    except AttributeError:
        y = x * s
    try:
        z = np.missing
    except AttributeError:
        z = y
    return np.sum(y * z)


def ways_out(x):
    out = []
    for k in ("a", "b", "c", "d"):
        try:
            out.append(TABLE[k] * x)
            if k == "a":
                continue
        except KeyError:
            if k == "c":
                break
            out.append(x * x)
        else:
            out.append(x)
        finally:
            print("step", k)
    else:
        out.append(x)
    return np.sum(sum(out))


def nested_calls(x):
    try:
        return np.sum(looked_up("q") * x)
    except ValueError as error:
        print(error)
        return np.sum(looked_up("a") * x * x)


def raised_again(x):
    try:
        try:
            raise Bad(3)
        except KeyError:
            return np.sum(x)
        except (TypeError, Bad) as b:
            print("inner", b.count, b.args)
            raise
    except Exception as e:
        return np.sum(x * x) * e.count


def errors_of_python(x):
    total = 1
    try:
        next(iter([]))
    except StopIteration:
        total *= 2
    try:
        _a, _b = (1, 2, 3)
    except ValueError:
        total *= 3
    try:
        int("x")
    except ValueError:
        total *= 5
    try:
        1 // 0
    except ZeroDivisionError:
        total *= 7
    try:
        [1, 2][5]
    except IndexError:
        total *= 11
    try:
        undefined_name
    except NameError:
        total *= 13
    try:
        assert total == 0, "message"
    except AssertionError as e:
        print(type(e))
    try:
        looked_up()
    except TypeError:
        total *= 17
    try:
        later = later + 1  # noqa: F821, F841
    except UnboundLocalError:
        total *= 19
    return np.sum(x * x) * total


def messages_of_traced_values(x):
    try:
        raise ValueError(f"it is {x[0]:.2f}")
    except ValueError as error:
        print(error)
        return np.sum(x * x)


def in_a_long_loop(x):
    total = 0.0
    for i in range(40):
        try:
            total = total + x[i % 3] * TABLE["a"]
            TABLE["none"]
        except KeyError:
            total = total * 0.9
    return total


def finally_returns(x):
    try:
        TABLE["none"]
    finally:
        return np.sum(x * 3)


def managers(x):
    with Named("a", KeyError) as a, Named("b"):
        y = x * 2
        print(a.name)
        TABLE["none"]
    with Named("c"):
        return np.sum(y * y)


def of_contextlib(x):
    with doubled(x) as y:
        y = y * y
    with doubled(x) as z, plain("z"):
        z = z * x
        TABLE["none"]
    with suppress(KeyError, IndexError):
        TABLE["none"]
        y = y * 100
    with nullcontext(5.0) as q, closing(Named("q")):
        y = y * q
    return np.sum(y + z)


def in_a_stack(x):
    y = x
    with ExitStack() as stack:
        a = stack.enter_context(doubled(x))
        stack.enter_context(Named("t"))
        stack.callback(print, "called", end="!\n")
        y = a * x
        TABLE["none"]
    return np.sum(y)


def an_inner_manager(x):
    @contextmanager
    def scaled(factor):
        yield x * factor

    with np.errstate(all="ignore"), scaled(3.0) as y, suppress(KeyError):
        return np.sum(y * y)


PROGRAMS = (
    a_missing_key, imports_and_attributes, ways_out, nested_calls, raised_again, errors_of_python,
    messages_of_traced_values, in_a_long_loop, finally_returns, managers, of_contextlib, in_a_stack,
    an_inner_manager,
)  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_known_errors(function: Callable[..., Any]) -> None:
    expected, printed = seen(function, X)
    for level in ("readable", "fast"):
        assert seen(st.compile(function, level=level), X) == (expected, printed)
    (value, gradient), said = seen(st.value_and_grad(function), X)
    assert (value, said) == (expected, printed)
    with contextlib.redirect_stdout(io.StringIO()):
        check_gradient(function, (X,), 0, gradient)


def a_return_inside(x, s):
    with doubled(x) as v, Named("n"):
        try:
            if s > 0:
                return v * x
            y = TABLE["none"] * x
        except KeyError:
            y = x * 7
        finally:
            print("left")
        print("later")
    return y * x


def a_handler_on_one_path(x, s):
    if s > 0:
        try:
            y = TABLE["none"] * x
        except KeyError:
            y = x * x
    else:
        y = x
    return y


def raised_on_one_path(x, s):
    with Named("n"):
        try:
            if s > 0:
                raise ValueError("positive")
            y = x
        except KeyError:
            y = x * 2
        finally:
            print("left")
    return y


def checked(x, s):
    assert s < 0 or s > 5, "out of range"
    if s > 0:
        raise IndexError(f"it is {s}")
    return x


def raised_in_a_call(x, s):
    try:
        with Named("n"):
            return checked(x, s)
    except KeyError:
        return x * 2


def caught_on_one_path(x, s):
    total = 0.0
    for k in range(3):
        try:
            if x[k] * s > 3:
                raise ValueError(f"too large: {x[k]}")
            if k == 1:
                total += TABLE["none"]
            total = total + x[k]
        except ValueError as error:
            print(error)
            total = total - 1.0
            if s > 5:
                continue
        except KeyError:
            total = total * 2
        else:
            print("fine", k)
        finally:
            print("step", k)
        total = total + s
    return total


def caught_in_a_long_loop(x, s):
    total = s * 0.1
    for k in range(30):
        try:
            if total > 1:
                TABLE["none"]
            total = total * 1.3 + 0.1
        except KeyError:
            total = total - x[k % 3]
            continue
        total = total + 0.01
    return total


def what_never_raises(x, s):
    try:
        y = abs(s) * float(np.sum(x)) + abs(float(x[0]))
    except (ValueError, ArithmeticError):
        y = 0.0
    return y * np.abs(x)


PATHS = (
    what_never_raises,
    caught_on_one_path, caught_in_a_long_loop, a_return_inside, a_handler_on_one_path,
    raised_on_one_path, raised_in_a_call,
)  # fmt: skip


@pytest.mark.parametrize("function", PATHS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("s", [-1.0, 6.0])
def test_paths(function: Callable[..., Any], s: float) -> None:
    expected, printed = seen(function, X, s)
    for level in ("readable", "fast"):
        found, said = seen(st.compile(function, level=level), X, s)
        assert said == printed
        np.testing.assert_array_equal(found, expected)


def test_what_is_missing_may_come() -> None:
    def weight(x):
        try:
            return x * LATER["bias"]
        except KeyError:
            return x * LATER["weight"]

    compiled = st.compile(weight)
    assert compiled(2.0) == 6.0
    LATER["bias"] = 5.0
    try:
        assert compiled(2.0) == 10.0
    finally:
        del LATER["bias"]


# --- refused -------------------------------------------------------------------------------------


@refused(X, 1.0, at="1 / s", reason="does something if this raises ZeroDivisionError")
def a_final_print(x, s):
    try:
        y = 1 / s
    finally:
        print("done")
    return np.sum(x) * y


@refused(X, 1.0, at="e", reason="what this error says is known only at run time", hint="class")
def a_message_of_the_data(x, s):
    try:
        y = 1 / s
    except ZeroDivisionError as e:
        print(e)
        y = 0.0
    return np.sum(x) * y


@refused(X, 1.0, at="raise", reason="raises an error again", hint="raise a new one")
def an_error_raised_again(x, s):
    try:
        y = 1 / s
    except ZeroDivisionError:
        raise
    return np.sum(x) * y


@refused(X, at="FloatingPointError", reason="NumPy warns or raises", hint="isfinite")
def a_warning_as_an_error(x):
    try:
        TABLE["none"]
    except FloatingPointError:
        return np.sum(x)


@refused(X, at="np.printoptions(precision=3)", reason="`np.printoptions` is not supported")
def a_manager_of_a_library(x):
    with np.printoptions(precision=3):
        return np.sum(x)


@refused(X, at="yield y", reason="yields within a loop")
def a_manager_that_loops(x):
    @contextmanager
    def twice(y):
        for _ in range(2):
            yield y

    with twice(x) as y:
        return np.sum(y)


test_refusal = refused.tests()


def test_a_loop_of_which_each_step_raises() -> None:
    def checked(x):
        for _ in range(int(x[0])):
            raise KeyError("no steps")
        return x[0] * 2

    with pytest.raises(st.LanguageError, match="each step of this loop raises an error"):
        st.compile(checked)(np.array([2.5]))
