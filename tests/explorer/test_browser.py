"""The explorer's page in a browser: what lights up, against what the compiler says; the stages, the
keyboard, the themes. No error and no request of the network is made."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.emit.origins import all_items_of
from stcompile.passes.pipeline import OWN, stages_at
from stcompile.views.explorer.page import page_of
from tests.explorer.functions import W, X, gated, loss

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PATIENCE = 180_000  # milliseconds: other tests may keep the machine busy
PICTURES = os.environ.get("STCOMPILE_PICTURES")  # a folder that screenshots are kept in

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is there")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=BROWSER, args=FLAGS.split())
        yield started
        started.close()


@functools.cache
def page_of_loss() -> str:
    return page_of(loss.function, (W, X), {})


class Opened:
    """A page in a browser, and what went wrong in it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.troubles: list[str] = []
        page.on("console", lambda m: m.type in ("error", "warning") and self.note(m.text))
        page.on("pageerror", lambda error: self.note(str(error)))
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or self.note(r.url))

    def note(self, text: str) -> None:
        self.troubles.append(text)

    def all(self, selector: str) -> list[str]:
        """The texts of elements."""
        texts: list[str] = self.page.eval_on_selector_all(
            selector, "nodes => nodes.map(n => n.textContent)"
        )
        return texts

    def lit_rows(self) -> list[str]:
        return self.all("#list .row.lit .names")

    def lit_lines(self) -> list[int]:
        """The lines of the generated code that are lit, from 1."""
        return [int(n) for n in self.all("#code .row.lit > .n")]

    def point_at(self, selector: str, text: str) -> None:
        """Move the mouse to the middle of a text within an element of fixed width."""
        where = self.page.evaluate(
            """([selector, text]) => {
                for (const line of document.querySelectorAll(selector)) {
                    const at = line.querySelector('.text')?.textContent.indexOf(text) ?? -1;
                    if (at < 0) continue;
                    line.scrollIntoView({block: 'center', behavior: 'instant'});
                    const box = line.querySelector('.text').getBoundingClientRect();
                    const column = parseFloat(getComputedStyle(line).fontSize) * 0.6;
                    return [box.x + (at + text.length / 2) * column, box.y + box.height / 2];
                }
            }""",
            [selector, text],
        )
        assert where is not None, f"{text} is not there"
        self.page.mouse.move(*where)

    def choose(self, selector: str) -> None:
        self.page.locator(selector).first.hover()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    contexts = []
    pages = []

    def open_page(function: Any, *arguments: Any, theme: str = "light", **size: int) -> Opened:
        target = tmp_path / "page.html"
        is_loss = function is loss.function
        target.write_text(page_of_loss() if is_loss else page_of(function, arguments, {}), "utf-8")
        view = {"width": 1440, "height": 900, **size}
        contexts.append(browser.new_context(viewport=view, color_scheme=theme))
        contexts[-1].set_default_timeout(PATIENCE)
        pages.append(Opened(contexts[-1].new_page()))
        pages[-1].page.goto(target.as_uri())
        return pages[-1]

    yield open_page
    for context in contexts:
        context.close()
    assert [trouble for one in pages for trouble in one.troubles] == []


def picture(opened: Opened, name: str) -> None:
    if PICTURES:
        opened.page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


LINE = "h = np.tanh(x @ w)"


def emitted_lines(level: Any, text: str, columns: tuple[int, int] | None = None) -> list[int]:
    """The lines of code that compute what the user's line says, by the compiler's own account."""
    made = st.value_and_grad(loss.function, level=level)
    emitted = made.specialise(made.bind((W, X), {})).emitted
    return sorted(
        line
        for line, statement in emitted.statements.items()
        for item in all_items_of(statement)
        if item.source.location.text == text
        and columns in (None, (item.source.location.column, item.source.location.end_column))
    )


def equations(level: Any, text: str) -> list[str]:
    made = st.value_and_grad(loss.function, level=level)
    return [
        ", ".join(output.name for output in equation.outputs)
        for equation in made.program(W, X).equations
        if equation.location.text == text
    ]


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_line_lights_up_what_it_became(opened: Any, level: str) -> None:
    page = opened(loss.function, W, X)
    page.page.click(f"[data-level={level}]")
    page.point_at("#source .row", "h =")  # no expression: all of the line
    assert page.lit_rows() == equations(level, LINE)
    assert page.lit_lines() == sorted(set(emitted_lines(level, LINE)))
    assert page.page.locator("#graph .node.lit").count() == len(equations(level, LINE))
    sections = page.page.eval_on_selector_all(
        "#list .row.lit", "rows => rows.map(r => r.classList.contains('a') ? 'a' : 'f')"
    )
    assert set(sections) == {"f", "a"}
    said = page.page.text_content("#said")
    assert "in the adjoint" in said
    assert "its cotangent comes from line" in said
    assert page.page.locator("#source .row.from").count() == 1
    assert page.page.locator("#source .arcs path").count() == 2
    picture(page, f"line-{level}")


def test_memory_is_a_chart_of_lives(opened: Any) -> None:
    page = opened(loss.function, W, X)
    lives = page.page.evaluate("data.levels.fast.lives")
    assert page.page.locator("#memory .bar").count() == len(lives)
    assert "peak" in page.page.text_content("#memory .peak-text")
    page.point_at("#source .row", "np.tanh")
    lit = page.all("#memory .bar.lit title")
    lines = set(page.lit_lines())
    starting = [name for name, _, first, *_ in lives if first + 1 in lines]
    assert sorted(title.split(":")[0] for title in lit) == sorted(starting)
    assert starting


def test_an_expression_lights_up_alone(opened: Any) -> None:
    page = opened(loss.function, W, X)
    page.page.click("[data-level=readable]")
    page.point_at("#source .row", "x @ w")
    start = 4 + LINE.index("x @ w")
    wanted = emitted_lines("readable", LINE, (start, start + 5))
    assert page.lit_lines() == sorted(set(wanted))
    assert set(page.lit_rows()) < set(equations("readable", LINE))
    marks = page.page.locator("#code .mark").count()
    assert marks == len(wanted)


def test_an_equation_lights_up_its_expression(opened: Any) -> None:
    page = opened(loss.function, W, X)
    page.page.click("[data-level=readable]")
    row = page.page.locator("#list .row.equation", has_text="h = tanh(v1)")
    row.hover()
    assert page.page.locator("#source .row.lit").count() == 1
    width = page.page.eval_on_selector("#source .mark", "mark => mark.style.width")
    assert width == f"{len('np.tanh(x @ w)')}ch"
    own = page.all("#list .row.own .names")
    assert own == ["h"]
    assert page.page.locator("#graph .node.own").count() == 1
    assert "value" in page.all("#values h4")
    assert "cotangent" in page.all("#values h4")


def test_code_and_nodes_light_up_the_line(opened: Any) -> None:
    page = opened(loss.function, W, X)
    page.page.click("[data-level=readable]")
    page.point_at("#code .row", "1 - v1")
    assert page.all("#list .row.own .names") == ["v3"]
    page.page.locator("#graph .node", has_text="tanh").hover()
    assert page.all("#list .row.own .names") == ["h"]
    assert [text for text in page.all("#source .row.lit .text") if LINE in text]


def test_an_argument_lights_up_what_reads_it(opened: Any) -> None:
    page = opened(loss.function, W, X)
    page.page.click("[data-level=readable]")
    readable = st.value_and_grad(loss.function, level="readable").program(W, X)
    (w, _) = readable.inputs
    readers = [e.output.name for e in readable.equations if w in e.inputs]
    page.page.locator("#arguments .chip").first.hover()
    assert page.lit_rows() == ["w", *readers]
    assert page.all("#list .row.own .names") == ["w"]
    assert page.page.text_content("#said").startswith("w is an argument, read by")
    assert page.all("#values h4") == ["value", "gradient"]


def test_nothing_is_lit_at_first_and_after_escape(opened: Any) -> None:
    page = opened(loss.function, W, X)
    assert page.page.locator(".row.lit, .node.lit").count() == 0
    page.page.locator("#list .row.equation").first.click()
    page.page.mouse.move(720, 4)
    assert page.lit_rows(), "a click keeps it"
    page.page.keyboard.press("Escape")
    assert page.page.locator(".row.lit, .node.lit").count() == 0


def test_the_slider_goes_through_the_stages(opened: Any) -> None:
    page = opened(loss.function, W, X)
    names = ["staged", "reverse", *(s.name for s in stages_at("fast")), OWN]
    shown = st.show(loss.function, W, X, level="fast")
    seen = []
    page.page.focus("#slider")
    page.page.keyboard.press("Home")
    for name in names:
        seen.append(page.page.text_content("#stage").removeprefix("after "))
        program = shown.after(name).program  # type: ignore[union-attr]
        wanted = [", ".join(o.name for o in e.outputs) for e in program.equations]
        assert page.all("#list .row.equation:not(.ghost) .names") == wanted
        page.page.keyboard.press("ArrowRight")
    assert seen == names
    page.page.locator("#slider").fill("1")
    assert page.page.locator("#list .row.added").count() > 5
    picture(page, "stage")
    removing = page.page.evaluate("stagesNow().findIndex(stage => stage.removed.length)")
    page.page.locator("#slider").fill(str(removing))
    assert page.page.locator("#list .row.ghost").count() > 0


def test_the_keyboard(opened: Any) -> None:
    page = opened(loss.function, W, X)
    keys = page.page.keyboard
    keys.press("[")
    assert page.page.text_content("#stage") == f"after {stages_at('fast')[-1].name}"
    keys.press("]")
    assert page.page.text_content("#stage") == f"after {OWN}"
    keys.press("{")
    assert page.page.locator("#list .row.added, #list .row.rewritten, #list .row.ghost").count()
    keys.press("1")
    for _ in range(3):
        keys.press("ArrowDown")
    assert page.page.locator("#source .row.at").count() == 1
    assert page.lit_rows() == [] or page.page.locator("#source .row.lit").count() == 1
    active = page.page.get_attribute("#source", "aria-activedescendant")
    assert page.page.get_attribute(f"#{active}", "role") == "option"
    assert page.page.get_attribute(f"#{active}", "aria-selected") == "true"
    keys.press("l")
    assert page.page.get_attribute("[data-level=readable]", "aria-checked") == "true"
    keys.press("?")
    assert page.page.evaluate("document.getElementById('help').open")
    keys.press("Escape")
    keys.press("/")
    keys.type("tanh")
    assert page.page.locator(".row.found").count() >= 3
    keys.press("Enter")
    assert page.page.locator("#source .row.lit").count() == 1


def test_light_and_dark(opened: Any) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page = opened(loss.function, W, X, theme="dark")
    dark = page.page.evaluate(paper)
    picture(page, "dark")
    page.page.click("#theme")
    light = page.page.evaluate(paper)
    assert (dark, light) == ("rgb(20, 21, 23)", "rgb(251, 250, 248)")
    assert opened(loss.function, W, X).page.evaluate(paper) == light


CONTRAST = """() => {
    const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const colour = name => {
        const probe = document.createElement('i');
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        const found = getComputedStyle(probe).color.match(/[0-9.]+/g).map(Number);
        probe.remove();
        return light(found);
    };
    const poor = [];
    const inks = '--ink --soft --faint --f --a --u --t --plus --swap --key --string --number ' +
        '--comment --name';
    for (const ink of inks.split(' '))
        for (const ground of ['--paper', '--sheet', '--f-wash', '--a-wash']) {
            const [a, b] = [colour(ink), colour(ground)].sort((x, y) => y - x);
            const ratio = (a + 0.05) / (b + 0.05);
            if (ratio < 4.5) poor.push(`${ink} on ${ground}: ${ratio.toFixed(2)}`);
        }
    return poor;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast(opened: Any, theme: str) -> None:
    """4.5 to 1, as the Web Content Accessibility Guidelines ask (level AA)."""
    assert opened(loss.function, W, X, theme=theme).page.evaluate(CONTRAST) == []


def test_everything_has_a_name(opened: Any) -> None:
    page = opened(loss.function, W, X).page
    nameless = page.evaluate("""() => {
        const found = [...document.querySelectorAll('button, input, [tabindex="0"]')];
        const name = n => n.ariaLabel || n.textContent.trim() || n.labels?.length ||
            n.getAttribute('aria-labelledby');
        return found.filter(n => !name(n)).map(n => n.outerHTML);
    }""")
    assert nameless == []
    for _ in range(14):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement !== document.body")


def test_loops_and_branches_fold(opened: Any) -> None:
    page = opened(gated, 0.5, 1.0)
    inside = page.page.locator("#list .row.block").count()
    assert inside > 3
    page.page.locator("#list .fold").first.click()
    assert page.page.locator("#list .row.block").count() < inside
    assert page.page.locator("#list .fold[aria-expanded=false]").count() == 1
    page.page.locator("#list .fold").first.click()
    assert page.page.locator("#list .row.block").count() == inside
    node = page.page.locator("#graph .node.more").first
    node.dblclick()
    assert page.page.locator("#graph .crumbs").count() == 1
    page.page.click("#graph .crumbs button")
    assert page.page.locator("#graph .crumbs").count() == 0
    picture(page, "loop")


@pytest.mark.parametrize("width", [1800, 1000, 420])
def test_no_width_is_too_narrow(opened: Any, width: int) -> None:
    page = opened(loss.function, W, X, width=width)
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    picture(page, f"width-{width}")


def many(x):
    for k in {f"step {n}" for n in range(144)}:  # no counter: the loop is written out
        x = np.tanh(x * (0.1 * int(k[5:]))) + x * 0.5
    return np.sum(x)


def test_a_thousand_equations_stay_fluid(opened: Any) -> None:
    page = opened(many, np.ones(20))
    count = page.page.locator("#list .row.equation").count()
    assert count > 1000
    spent = page.page.evaluate("""async () => {
        const start = performance.now();
        for (let at = 0; at < 10; at++) {
            const line = document.querySelectorAll('#list .row')[50 * at + 60];
            line.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
            await new Promise(requestAnimationFrame);
        }
        return (performance.now() - start) / 10;
    }""")
    assert spent < 2000, "milliseconds to point at an equation; a machine that is idle takes 40"
    assert page.page.locator("#graph .node.own").count() == 1, "what is around it"


def tagged(p, x):
    tag = "</script><b>bold</b>"
    return np.sum(p[tag[:9]] * x)


def test_texts_are_shown_as_they_are(opened: Any) -> None:
    page = opened(tagged, {"</script>": np.ones(2)}, np.array([np.nan, 1.0]))
    assert any("</script><b>bold</b>" in line for line in page.all("#source .text"))
    page.point_at("#source .row", "p[tag")
    assert page.page.locator("#values .odd").count()
