"""What is decided before anything is printed, on programs in text form."""

from __future__ import annotations

from stcompile.base.options import Options
from stcompile.base.thresholds import INLINED_WEIGHT
from stcompile.plan.decide import make_schedule
from stcompile.plan.moves import Move, is_crossed, ordered
from stcompile.plan.schedule import Schedule
from tests.plan.lists import Listed


def scheduled(listed: Listed, level: str = "fast", blas: bool = True) -> Schedule:
    options = Options("fast" if level == "fast" else "readable", blas=blas)
    return make_schedule(listed.tree, set(listed.tree.inputs), options)


def ways(listed: Listed, level: str = "fast", blas: bool = True) -> str:
    found = scheduled(listed, level, blas).ways
    return " ".join(found[at].name for at in sorted(found))


LAYER = Listed(
    """program f(x: f64[3,4], w: f64[4,2], b: f64[2]) {
      v1: f64[3,2] = contract(x, w; MATMUL)
      v2: f64[3,2] = add(v1, b)
      y: f64[3,2] = tanh(v2)
      s: f64 = sum(y; axis=(0, 1), keepdims=False)
      return s
    }"""
)


def test_each_level_has_its_ways() -> None:
    assert ways(LAYER, "readable") == "INLINE INLINE NAME NAME"
    assert ways(LAYER, blas=False) == "INTO INTO INTO NAME"


def test_blas_adds_to_a_buffer_and_the_product_is_nowhere() -> None:
    found = ways(LAYER)
    if scheduled(LAYER).has_blas:
        assert found == "NOTHING BLAS INTO NAME"
    else:
        assert found == "INTO INTO INTO NAME"


def chain(length: int, primitive: str) -> Listed:
    """``x`` with ``s`` so many times, one after the other, without names."""
    steps, last = "", "x"
    for at in range(length):
        steps += f"v{at + 1}: f64 = {primitive}({last}, s) "
        last = f"v{at + 1}"
    return Listed(f"program f(x: f64, s: f64) {{ {steps} y: f64 = sin({last}) return y }}")


def names(listed: Listed) -> str:
    found = scheduled(listed, "readable")
    return listed.names(v for v in listed.tree.makers if v not in found.inlined)


def test_a_heavy_expression_has_a_name() -> None:
    fits = (INLINED_WEIGHT - 1) // 2  # operations, each with one operand more
    assert names(chain(fits, "multiply")) == "y"
    assert names(chain(fits + 1, "multiply")) == f"v{fits + 1} y"


def test_a_sign_between_terms_weighs_nothing() -> None:
    fits = INLINED_WEIGHT - 1
    assert names(chain(fits, "add")) == "y"
    assert names(chain(fits + 1, "add")) == f"v{fits + 1} y"


EXCHANGED = Listed(
    """program f(a: f64[3], b: f64[3], n: f64[3]) {
      p: f64[3] = sin(a) q: f64[3] = cos(b) r: f64[3] = tanh(n)
      s: f64 = sum(p; axis=(0,), keepdims=False) t: f64 = sum(q; axis=(0,), keepdims=False)
      u: f64 = sum(r; axis=(0,), keepdims=False)
      return s, t, u
    }"""
)


def test_what_is_read_is_moved_first() -> None:
    found, (p, q, r) = scheduled(EXCHANGED), (EXCHANGED[own] for own in "pqr")
    assert ordered(found, [(p, q), (q, r)]) == [Move(p, q), Move(q, r)]
    assert ordered(found, [(q, r), (p, q)]) == [Move(p, q), Move(q, r)]
    assert is_crossed(found, [(q, r), (p, q)]) and not is_crossed(found, [(p, q), (q, r)])


def test_one_of_an_exchange_is_kept_aside() -> None:
    found, (p, q, _) = scheduled(EXCHANGED), (EXCHANGED[own] for own in "pqr")
    assert ordered(found, [(p, q), (q, p)]) == [Move(q, p, aside=True), Move(p, q), Move(q, p)]


def test_an_outer_product_is_a_product_of_numpy() -> None:
    outer = Listed(
        """program f(x: f64[3], y: f64[4]) {
          z: f64[3,4] = contract(x, y; OUTER)
          return z
        }"""
    )
    assert "BLAS" not in ways(outer)


def test_a_view_is_written_wherever_it_is_read() -> None:
    listed = Listed(
        """program f(x: f64[3]) {
          v1: f64[3,1] = expand_dims(x; axis=(1,))
          v2: f64[3,1] = sin(v1)
          v3: f64[3,1] = multiply(v2, v1)
          y: f64[3,1] = exp(v3)
          return y
        }"""
    )
    assert "v1" not in names(listed).split()
