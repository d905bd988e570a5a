"""Branches and loops as text: what is written, and that it means what the program means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.emit.emitting import check, text_of

X = np.array([1.0, -2.0, 3.0])
ROWS = np.arange(8.0).reshape(4, 2) / 8

# Each: a program, what is emitted for it, and calls.
CASES: dict[str, tuple[str, str, list[tuple[Any, ...]]]] = {}


def case(name: str, program: str, text: str, *calls: tuple[Any, ...]) -> None:
    CASES[name] = (program, text.strip("\n"), list(calls))


# --- branches ------------------------------------------------------------------------------------

case(
    "either value gets the name of the result",
    """
    program f(s: float, x: f64[3]) {
      v1: bool = greater(s, 0.0)
      y: f64[3] = cond(v1, x;
        otherwise=program otherwise(x: f64[3]) { return x },
        then=program then(x: f64[3]) { v1: f64[3] = sin(x) return v1 })
      return y
    }""",
    """
if s > 0.0:
    y = np.sin(x)
else:
    y = x
return (y,)
""",
    (1.0, X),
    (-1.0, X),
)

case(
    "a write in one arm needs no other",
    """
    program f(p: bool, x: f64[3]) {
      y: f64[3] = multiply(x, 2.0)
      y.1: f64[3] = cond(p, y;
        otherwise=program otherwise(y: f64[3]) { return y },
        then=program then(y: f64[3]) {
          y.1: f64[3] = update(y, 7.0; drop=(0,), length=(1,), start=((0,),), step=(1,))
          return y.1
        })
      return y.1
    }""",
    """
y = x * 2.0
if p:
    y[0] = 7.0
return (y,)
""",
    (True, X),
    (False, X),
)

case(
    "an empty first arm turns the condition round",
    """
    program f(s: float, x: f64[3]) {
      v1: bool = greater(s, 0.0)
      x.1: f64[3] = cond(v1, x;
        otherwise=program otherwise(x: f64[3]) { x.1: f64[3] = exp(x) return x.1 },
        then=program then(x: f64[3]) { return x })
      return x.1
    }""",
    """
if not s > 0.0:
    x = np.exp(x)
return (x,)
""",
    (1.0, X),
    (-1.0, X),
    (float("nan"), X),
)

case(
    "results that change places",
    """
    program f(p: bool, a: f64[3], b: f64[3]) {
      a.1: f64[3], b.1: f64[3] = cond(p, a, b;
        otherwise=program otherwise(a: f64[3], b: f64[3]) { return a, b },
        then=program then(a: f64[3], b: f64[3]) { return b, a })
      return a.1, b.1
    }""",
    """
if p:
    a, b = b, a
return a, b
""",
    (True, X, 2 * X),
    (False, X, 2 * X),
)

case(
    "both arms write, the value before is still read",
    """
    program f(p: bool, x: f64[3]) {
      y: f64[3] = multiply(x, 2.0)
      z: f64[3] = cond(p, y;
        otherwise=program otherwise(y: f64[3]) {
          z: f64[3] = accumulate(y, 1.0; op='add')
          return z
        },
        then=program then(y: f64[3]) {
          z: f64[3] = update(y, 7.0; drop=(0,), length=(1,), start=((0,),), step=(1,))
          return z
        })
      return y, z
    }""",
    """
y = x * 2.0
if p:
    z = np.copy(y)
    z[0] = 7.0
else:
    z = y + 1.0
return y, z
""",
    (True, X),
    (False, X),
)

case(
    "a chain of branches",
    """
    program f(s: float) {
      v1: bool = greater(s, 2.0)
      y: float = cond(v1, s;
        otherwise=program otherwise(s: float) {
          v1: bool = greater(s, 1.0)
          y: float = cond(v1, s;
            otherwise=program otherwise(s: float) {
              print(s; parts=('low', None)) !print
              return 0.0
            },
            then=program then(s: float) { v1: float = multiply(s, s) return v1 }) !print
          return y
        },
        then=program then(s: float) { return s }) !print
      return y
    }""",
    """
if s > 2.0:
    y = s
elif s > 1.0:
    y = s * s
else:
    print("low", s)
    y = 0.0
return (y,)
""",
    (3.0,),
    (1.5,),
    (0.0,),
)

case(
    "what an arm leaves undefined has no statement",
    """
    program f(p: bool, x: f64[3]) {
      y: f64[3], r: f64[3] = cond(p, x;
        otherwise=program otherwise(x: f64[3]) {
          r: f64[3] = undef(; depth=0, dims=(3,), dtype=f64, kind='array')
          return x, r
        },
        then=program then(x: f64[3]) {
          r: f64[3] = exp(x)
          y: f64[3] = multiply(r, x)
          return y, r
        })
      z: f64[3] = cond(p, y, r;
        otherwise=program otherwise(y: f64[3], r: f64[3]) { return y },
        then=program then(y: f64[3], r: f64[3]) { v1: f64[3] = add(y, r) return v1 })
      return z
    }""",
    """
if p:
    r = np.exp(x)
    y = r * x
else:
    y = x
if p:
    z = y + r
else:
    z = y
return (z,)
""",
    (True, X),
    (False, X),
)

# --- loops ---------------------------------------------------------------------------------------

case(
    "a recurrence that keeps its states",
    """
    program rnn(h: f64[2], W: f64[2,2], xs: f64[4,2]) {
      h.1: f64[2], hs: f64[4,2] = loop(W, h, xs; carry=1, constants=1, length=4,
        body=program body(W: f64[2,2], t: int, h: f64[2], x: f64[2]) {
          v1: f64[2] = contract(W, h; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
          v2: f64[2] = add(v1, x)
          h.1: f64[2] = tanh(v2)
          return h.1, h
        })
      return h.1, hs
    }""",
    """
hs = np.empty((4, 2), np.float64)
for t in range(4):
    hs[t] = h
    h = np.tanh(W @ h + xs[t])
return h, hs
""",
    (np.ones(2), np.eye(2) + 0.5, ROWS),
)

case(
    "values that change places",
    """
    program fibonacci(n: int) {
      a: int, b: int = loop(n, 0, 1; carry=2, constants=0, length=None,
        body=program body(t: int, a: int, b: int) {
          v1: int = add(a, b)
          return b, v1
        })
      return a, b
    }""",
    """
a = 0
b = 1
for _ in range(n):
    a, b = b, a + b
return a, b
""",
    (0,),
    (1,),
    (10,),
)

case(
    "lists of what a loop saw, and the way back",
    """
    program f(x: f64[3], n: int) {
      v1: f64[3] = full(1.0; dtype=f64, shape=(3,))
      y: f64[3], ys: stack[f64[3]] = loop(n, x, v1; carry=1, constants=1, length=None,
        body=program body(x: f64[3], t: int, y: f64[3]) {
          v1: f64[3] = multiply(y, x)
          y.1: f64[3] = sin(v1)
          return y.1, y
        })
      v2: f64[3] = full(0.0; dtype=f64, shape=(3,))
      d: f64[3], ts: stack[int] = loop(n, v2, ys; carry=1, constants=0, length=None, reverse=True,
        body=program body(t: int, d: f64[3], y: f64[3]) {
          v1: f64[3] = accumulate(d, y; op='add')
          return v1, t
        })
      return y, d, ts
    }""",
    """
y = np.ones(3, np.float64)
ys = []
for _ in range(n):
    ys.append(y)
    y = np.sin(y * x)
d = np.zeros(3, np.float64)
ts = [None] * n
for t in reversed(range(n)):
    ts[t] = t
    d += ys[t]
return y, d, ts
""",
    (X, 0),
    (X, 3),
)

case(
    "two buffers change places and one is written",
    """
    program f(x: f64[3], n: int) {
      u: f64[3] = multiply(x, 2.0)
      v: f64[3] = multiply(x, 3.0)
      u.1: f64[3], v.1: f64[3] = loop(n, u, v; carry=2, constants=0, length=None,
        body=program body(t: int, u: f64[3], v: f64[3]) {
          v.1: f64[3] = update(v, t; drop=(0,), length=(1,), start=((0,),), step=(1,))
          return v.1, u
        })
      return u.1, v.1
    }""",
    """
u = x * 2.0
v = x * 3.0
for t in range(n):
    v[0] = t
    u, v = v, u
return u, v
""",
    (X, 0),
    (X, 3),
    (X, 4),
)

case(
    "two buffers that start as one array",
    """
    program f(x: f64[3], n: int) {
      v1: f64[3] = multiply(x, 2.0)
      u: f64[3], v: f64[3] = loop(n, v1, v1; carry=2, constants=0, length=None,
        body=program body(t: int, u: f64[3], v: f64[3]) {
          v.1: f64[3] = update(v, t; drop=(0,), length=(1,), start=((0,),), step=(1,))
          return v.1, u
        })
      return u, v
    }""",
    """
u = x * 2.0
v = np.copy(u)
for t in range(n):
    v[0] = t
    u, v = v, u
return u, v
""",
    (X, 0),
    (X, 3),
    (X, 4),
)

case(
    "an argument is copied once, before the steps that write",
    """
    program f(x: f64[3], n: int) {
      x.1: f64[3] = loop(n, x; carry=1, constants=0, length=None,
        body=program body(t: int, x: f64[3]) {
          x.1: f64[3] = update(x, t; drop=(0,), length=(1,), start=((0,),), step=(1,))
          x.2: f64[3] = accumulate(x.1, 1.0; op='add')
          return x.2
        })
      return x.1
    }""",
    """
x = np.copy(x)
for t in range(n):
    x[0] = t
    x += 1.0
return (x,)
""",
    (X, 0),
    (X, 3),
)

case(
    "what is collected may be written afterwards, what a list keeps may not",
    """
    program f(x: f64[3], n: int) {
      v1: f64[3] = multiply(x, 2.0)
      y: f64[3], rows: f64[2,3] = loop(v1; carry=1, constants=0, length=2,
        body=program body(t: int, y: f64[3]) {
          y.1: f64[3] = accumulate(y, 1.0; op='add')
          return y.1, y
        })
      z: f64[3], list: stack[f64[3]] = loop(n, y; carry=1, constants=0, length=None,
        body=program body(t: int, z: f64[3]) {
          z.1: f64[3] = accumulate(z, 1.0; op='add')
          return z.1, z
        })
      return z, rows, list
    }""",
    """
y = x * 2.0
rows = np.empty((2, 3), np.float64)
for t in range(2):
    rows[t] = y
    y += 1.0
z = y
list_1 = []
for _ in range(n):
    list_1.append(z)
    z = z + 1.0
return z, rows, list_1
""",
    (X, 0),
    (X, 2),
)

case(
    "a while loop",
    """
    program newton(a: float) {
      y: float, n: int = loop(a, a, 0; carry=2, constants=1, length=None,
        condition=program condition(a: float, y: float, n: int) {
          v1: float = multiply(y, y)
          v2: float = subtract(v1, a)
          v3: float = absolute(v2)
          v4: bool = greater(v3, 0.001)
          return v4
        },
        body=program body(a: float, y: float, n: int) {
          v1: float = divide(a, y)
          v2: float = add(y, v1)
          y.1: float = multiply(0.5, v2)
          v3: int = add(n, 1)
          return y.1, v3
        })
      return y, n
    }""",
    """
y = a
n = 0
while abs(y * y - a) > 0.001:
    y = 0.5 * (y + a / y)
    n += 1
return y, n
""",
    (9.0,),
    (1.0,),
)

case(
    "a condition that is no expression",
    """
    program f(x: f64[3]) {
      x.1: f64[3] = loop(x; carry=1, constants=0, length=None,
        condition=program condition(x: f64[3]) {
          norm: f64 = sum(x; axis=(0,), keepdims=False)
          print(norm; parts=(None,)) !print
          v1: b8 = less(norm, 100.0)
          return v1
        },
        body=program body(x: f64[3]) { x.1: f64[3] = multiply(x, 3.0) return x.1 }) !print
      return x.1
    }""",
    """
while True:
    norm = np.sum(x)
    print(norm)
    if not norm < 100.0:
        break
    x = x * 3.0
return (x,)
""",
    (X,),
)

case(
    "a branch in a loop in a branch",
    """
    program f(p: bool, x: f64[3], n: int) {
      y: f64[3] = multiply(x, 2.0)
      y.1: f64[3] = cond(p, y, n;
        otherwise=program otherwise(y: f64[3], n: int) { return y },
        then=program then(y: f64[3], n: int) {
          y.1: f64[3] = loop(n, y; carry=1, constants=0, length=None,
            body=program body(t: int, y: f64[3]) {
              v1: f64 = slice(y; drop=(0,), length=(1,), start=((0,),), step=(1,))
              v2: b8 = less(v1, 3.0)
              y.1: f64[3] = cond(v2, y, t;
                otherwise=program otherwise(y: f64[3], t: int) { return y },
                then=program then(y: f64[3], t: int) {
                  y.1: f64[3] = accumulate(y, t; op='add')
                  return y.1
                })
              return y.1
            })
          return y.1
        })
      return y.1
    }""",
    """
y = x * 2.0
if p:
    for t in range(n):
        if y[0] < 3.0:
            y += t
return (y,)
""",
    (True, X, 4),
    (True, X, 0),
    (False, X, 4),
)

case(
    "a counter without a name, loops in loops",
    """
    program f(x: f64[3]) {
      total: f64[2,3] = loop(x; carry=0, constants=1, length=2,
        body=program body(x: f64[3], v1: int) {
          row: f64[3] = loop(v1; carry=0, constants=1, length=3,
            body=program body(v1: int, v2: int) {
              v3: int = multiply(v1, v2)
              v4: f64 = cast(v3; dtype=f64)
              return v4
            })
          v2: f64[3] = multiply(row, x)
          return v2
        })
      return total
    }""",
    """
total = np.empty((2, 3), np.float64)
for i in range(2):
    row = np.empty(3, np.float64)
    for i_1 in range(3):
        row[i_1] = np.float64(i * i_1)
    total[i] = row * x
return (total,)
""",
    (X,),
)

case(
    "numbers that a loop steps through",
    """
    program f(x: f64[4], w: f64[4]) {
      total: f64 = loop(f64(0.0), x, w; carry=1, constants=0, length=4,
        body=program body(t: int, total: f64, a: f64, b: f64) {
          v1: f64 = multiply(a, a)
          v2: f64 = multiply(v1, b)
          total.1: f64 = add(total, v2)
          return total.1
        })
      return total
    }""",
    """
total = np.float64(0.0)
for t in range(4):
    a = x[t]
    total += a * a * w[t]
return (total,)
""",
    (ROWS[:, 0], ROWS[:, 1]),
)

case(
    "lists are added item by item",
    """
    program f(x: f64[3], n: int) {
      y: f64[3], s: stack[f64[3]], t: stack[f64[3]] = loop(n, x, x;
        carry=1, constants=1, length=None,
        body=program body(x: f64[3], i: int, y: f64[3]) {
          y.1: f64[3] = multiply(y, x)
          return y.1, y, y.1
        })
      both: stack[f64[3]] = accumulate(s, t; op='add')
      return both
    }""",
    """
y = x
s = []
t = []
for _ in range(n):
    s.append(y)
    y = y * x
    t.append(y)
both = [a + b for a, b in zip(s, t)]
return (both,)
""",
    (X, 0),
    (X, 3),
)


@pytest.mark.parametrize("name", CASES)
def test_text(name: str) -> None:
    text, expected, _ = CASES[name]
    program = parse_program(text)
    verify(program)
    assert text_of(program) == expected


@pytest.mark.parametrize("name", CASES)
def test_meaning(name: str) -> None:
    text, _, calls = CASES[name]
    check(parse_program(text), *calls)
