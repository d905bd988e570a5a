"""What public functions return is readable as it is, and as HTML."""

from __future__ import annotations

import dataclasses
import html.parser
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import html as pages
from stcompile.base.shown import Source


@st.differentiable(wrt="w")
def loss(w, x, n=2):
    """Its text has <angles> & ampersands."""
    return np.mean(np.tanh(x @ w["W"]) ** n) if n < 3 else np.mean(x @ w["W"])


W, X = {"W": np.ones((3, 2))}, np.ones((4, 3))


def double(x):
    return 2 * x, x


def results() -> dict[str, Any]:
    with st.timings() as spent:
        loss.value_and_grad(W, X, n=1)
    step = st.train_step(loss, st.optim.SGD(0.1), wrt="w")
    _, pullback = st.vjp(lambda x: x * x, 2.0)
    rule = st.custom_rule(double, backward=lambda x, d: 2 * d, example=(1.0,))
    primitive = st.primitive(lambda_like, adjoint=lambda y, x, d: d, example=(1.0,))
    graph = loss.graph(W, X)
    made: dict[str, Any] = {
        "decorated": loss,
        "gradient": st.grad(loss, wrt="w"),
        "value and gradient": loss.value_and_grad,
        "jacobian": st.jacobian(double),
        "hessian": st.hessian(loss),
        "compiled": st.compile(double),
        "batched": st.vmap(double),
        "checkpoint": st.checkpoint(double),
        "step": step,
        "pullback": pullback,
        "rule": rule,
        "primitive": primitive,
        "source": loss.source(W, X),
        "list": loss.wengert(W, X),
        "trace": loss.trace(W, X),
        "memory": loss.memory(W, X),
        "explanation": loss.explain(W, X),
        "graph": graph,
        "edge": graph.edges[0],
        "stages": st.show(loss, W, X),
        "stage": st.show(loss, W, X, after="share_equations"),
        "timings": spent,
    }
    return made


def lambda_like(x):
    return x


RESULTS = results()


def parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """A value, and what it has in public fields."""
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.name[0] != "_"]
        inner = [getattr(value, name) for name in names]
    else:
        inner = list(value) if isinstance(value, list | tuple) else []
    for part in inner:
        yield from parts(part, seen)


class Checker(html.parser.HTMLParser):
    """Every tag is closed, and there is none that runs or loads something."""

    EMPTY = frozenset({"br", "use", "path", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        assert not [name for name, _ in attributes if name.startswith("on")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


@pytest.mark.parametrize("name", RESULTS)
def test_no_result_is_shown_as_a_dump(name: str) -> None:
    for value in parts(RESULTS[name], set()):
        generated = hasattr(type(value).__repr__, "__wrapped__")  # by `dataclass`
        assert not (generated and dataclasses.is_dataclass(value)), type(value)
        assert "object at 0x" not in repr(value), type(value)


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "graph"])
def test_html_is_whole_and_escaped(name: str) -> None:
    if not hasattr(RESULTS[name], "_repr_html_"):
        pytest.fail(f"{name} has no HTML")
    checker = Checker()
    text = RESULTS[name]._repr_html_()
    checker.feed(text)
    assert not checker.open and text.count("<style>") == 1
    assert "<angles>" not in text


def test_a_function_says_its_signature_and_what_it_was_compiled_for() -> None:
    @st.differentiable(wrt="w", level="readable")
    def model(w: Any, x: Any, n: int = 2) -> Any:
        return np.sum((w * x) ** n)

    assert (
        repr(model) == "model(w, x, n=2), differentiable by `w`, level 'readable', not compiled yet"
    )
    model.value_and_grad(1.5, np.ones(3))
    model.value_and_grad(1.5, np.ones(3), n=3)
    model.grad(1.5, np.ones(3))
    assert repr(model).splitlines()[1:] == [
        "  grad compiled for w: float, x: f64[3], n = 2",
        "  value_and_grad compiled for w: float, x: f64[3], n = 2",
        "  value_and_grad compiled for w: float, x: f64[3], n = 3",
    ]
    shown = model._repr_html_()
    assert (
        ">model</i>" in shown and "return</i> value, d_w" in shown and shown.count("<details>") == 3
    )


def test_source_is_text() -> None:
    source = loss.source(W, X)
    assert isinstance(source, str) and type(str(source)) is str and source == str(source)
    assert repr(source) == source and f"{source}" == source and source.startswith("import numpy")
    assert type(source) is Source


def test_code_without_pygments_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str, extra: str, purpose: str) -> Any:
        raise pages.MissingExtraError(purpose)

    monkeypatch.setattr(pages, "require", missing)
    assert pages.code("a < b") == "<pre>a &lt; b</pre>"
    monkeypatch.undo()
    assert "<i" in pages.code("a < b")
