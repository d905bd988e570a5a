// The three panes of lines: the user's function, the Wengert list, the generated code.

const WORDS = /[\p{L}_][\p{L}\p{N}_.]*/gu;
const RULES = { f: "forward", a: "adjoint", e: "exchange", u: "update", t: "tangent" };

class Pane {
  constructor(id) {
    this.body = $(id);
    this.id = id;
    this.lines = []; // the elements that can be pointed at
    this.at = -1;
    this.lit = [];
    this.ruler = make("div", { class: "ruler", "aria-hidden": "true" });
    this.body.parentElement.append(this.ruler);
  }

  show(elements, lines) {
    this.inner = make("div", { class: "inner", role: "presentation" });
    this.inner.append(...elements);
    this.body.replaceChildren(this.inner);
    this.lines = lines;
    this.lit = [];
    this.at = -1;
    lines.forEach((line, index) => {
      line.id = `${this.id}-${index}`;
      line.dataset.at = index;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", "false");
    });
  }

  // Light lines up: a map from their index to the classes they get.
  light(classes, scrolls) {
    for (const line of this.lit) {
      line.className = line.dataset.plain;
      line.setAttribute("aria-selected", "false");
      line.querySelectorAll(".mark").forEach((mark) => mark.remove());
    }
    this.lit = [];
    const ticks = [];
    for (const [index, names] of classes) {
      const line = this.lines[index];
      if (!line) continue;
      line.dataset.plain ??= line.className;
      line.className = `${line.dataset.plain} ${names}`;
      line.setAttribute("aria-selected", String(/\blit\b/.test(names)));
      this.lit.push(line);
      if (/\blit\b/.test(names)) ticks.push([index, names]);
    }
    this.ruler.replaceChildren(...ticks.slice(0, 200).map(([index, names]) =>
      make("i", { class: names, style: `top:${(100 * index) / Math.max(this.lines.length, 1)}%` })));
    const body = ticks.filter(([index]) => index >= (this.start ?? 0)); // what is made once can wait
    if (scrolls && ticks.length) this.reveal((body.length ? body : ticks).map(([index]) => this.lines[index]));
  }

  // Scroll to the nearest of some lines, unless one of them can be seen.
  reveal(lines) {
    const view = this.body.getBoundingClientRect();
    const shown = lines.filter((line) => line.offsetParent);
    const boxes = shown.map((line) => line.getBoundingClientRect());
    if (!boxes.length || boxes.some((box) => box.top >= view.top && box.bottom <= view.bottom)) return;
    const middle = view.top + view.height / 2;
    const near = boxes.reduce((a, b) => (Math.abs(b.top - middle) < Math.abs(a.top - middle) ? b : a));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.body.scrollBy({ top: near.top - middle, behavior: still ? "auto" : "smooth" });
  }

  mark(index, first, last, classes) {
    const text = this.lines[index]?.querySelector(".text");
    if (text && last > first)
      text.prepend(make("i", { class: `mark ${classes}`, style: `left:${first}ch;width:${last - first}ch` }));
  }

  // The keyboard's line.
  moveTo(index) {
    this.lines[this.at]?.classList.remove("at");
    this.at = Math.max(0, Math.min(index, this.lines.length - 1));
    const line = this.lines[this.at];
    if (!line) return null;
    line.classList.add("at");
    this.body.setAttribute("aria-activedescendant", line.id);
    line.scrollIntoView({ block: "nearest" });
    return line;
  }
}

// The column of a line under the pointer.
let sample = null;
function columnAt(line, event) {
  const text = line.querySelector(".text");
  if (!sample) {
    sample = make("span", { style: "position:absolute;visibility:hidden;font:var(--code)/1 var(--mono)" }, "0".repeat(100));
    document.body.append(sample);
  }
  const width = sample.getBoundingClientRect().width / 100;
  return text && width ? Math.floor((event.clientX - text.getBoundingClientRect().left) / width) : null;
}

function lineOf(number, html, classes = "") {
  const text = make("span", { class: "text" });
  text.innerHTML = `<span>${html || " "}</span>`;
  return make("div", { class: `row ${classes}` }, make("span", { class: "n", "aria-hidden": "true" }, String(number)), text);
}

// --- the user's function ---------------------------------------------------------------------------

const source = new Pane("source");

function showSource() {
  const elements = [], lines = [];
  source.where = [];
  data.text.blocks.forEach((block, b) => {
    elements.push(make("div", { class: "file" }, block.place));
    block.lines.forEach((html, l) => {
      const line = lineOf(block.first + l, html);
      elements.push(line);
      lines.push(line);
      source.where.push([b, l]);
    });
  });
  source.show(elements, lines);
  source.index = new Map(source.where.map(([b, l], at) => [`${b}:${l}`, at]));
  source.arcs = draw("svg", { class: "arcs", "aria-hidden": "true" });
  source.inner.append(source.arcs);
}

// Arcs in the margin: from the lines that a cotangent comes from, and to those it goes on to.
function showArcs(from, here, to) {
  const middle = (index) => source.lines[index].offsetTop + source.lines[index].offsetHeight / 2;
  const own = Math.min(...here);
  const shapes = [];
  const arc = (a, b, lane) => {
    const [y, end] = [middle(a), middle(b)];
    const x = 33 - lane * 4, down = end > y ? -1 : 1;
    shapes.push(draw("path", { d: `M36 ${y}H${x + 3}Q${x} ${y} ${x} ${y - 3 * down}V${end + 3 * down}Q${x} ${end} ${x + 3} ${end}H34` }));
    shapes.push(draw("path", { class: "head", d: `M37 ${end}l-5 -3v6z` }));
  };
  if (here.size) {
    [...from].slice(0, 5).forEach((line, lane) => arc(line, own, lane));
    [...to].slice(0, 5).forEach((line, lane) => arc(own, line, lane));
  }
  source.arcs.replaceChildren(...shapes);
}

// --- the Wengert list ------------------------------------------------------------------------------

const list = new Pane("list");
const folded = new Set();

function rowHtml(row, at, stage) {
  const typed = (type) => `<span class="type">${escaped(type)}</span>`;
  const names = `<b class="names">${escaped(row.names.join(", "))}</b>`;
  if (row.kind === "input") return names + typed(row.types.join(", "));
  if (row.kind === "return") return `<span class="word">return</span> ${escaped(row.text)}`;
  if (row.kind === "block") return `<span class="word">${escaped(row.text)}</span> <b class="names">${escaped(row.names.join(", "))}</b>`;
  const deeper = stage.lines[at + 1]?.depth > row.depth;
  const shut = deeper && folded.has(row.scope + row.names.join());
  const fold = deeper
    ? `<button class="fold" type="button" tabindex="-1" aria-label="fold" aria-expanded="${!shut}">${shut ? "▸" : "▾"}</button>` : "";
  const left = row.names.length ? `${names}<span class="eq"> = </span>` : "";
  return fold + left + `<span>${escaped(row.text)}</span>` + typed(row.types.join(", "));
}

function listLine(row, at, stage) {
  const classes = `row ${row.section} ${row.kind}`;
  const sign = at === null ? "−" : stage.plus.has(at) ? "+" : stage.swap.has(at) ? "~" : "";
  const line = make("div", { class: classes + { "+": " added", "~": " rewritten", "−": " ghost", "": "" }[sign] });
  const spoken = { "+": "added", "~": "rewritten", "−": "removed" }[sign];
  line.innerHTML = `<span class="n">${sign}${spoken ? `<span class="unseen">${spoken}</span>` : ""}</span>` +
    `<span class="text" style="padding-left:${row.depth * 14 + 12}px">${at === null
      ? escaped(`${row.names.join(", ")}${row.names.length ? " = " : ""}${row.text}`) : ""}</span>`;
  if (at === null) return line;
  const text = line.lastChild;
  text.innerHTML = rowHtml(row, at, stage);
  const type = text.querySelector(".type");
  if (type) line.append(type);
  if (type) type.title = type.textContent;
  line.title = row.detail;
  return line;
}

function showList(stage) {
  const elements = [], lines = [];
  list.where = [];
  const gone = new Map();
  for (const [at, number] of stage.removed) push(gone, at, rows[number]);
  const ghosts = (at) => elements.push(...(gone.get(at) ?? []).map((row) => listLine(row, null, stage)));
  let section = "", hidden = Infinity;
  stage.lines.forEach((row, at) => {
    if (row.depth > hidden) return;
    hidden = row.kind === "equation" && folded.has(row.scope + row.names.join()) ? row.depth : Infinity;
    ghosts(at);
    if (!row.depth && row.kind === "equation" && row.section !== section) {
      section = row.section;
      elements.push(make("div", { class: `rule ${section}`, role: "presentation" }, RULES[section] ?? ""));
    }
    const line = listLine(row, at, stage);
    elements.push(line);
    lines.push(line);
    list.where.push(at);
  });
  ghosts(stage.lines.length);
  list.show(elements, lines);
  list.index = new Map(list.where.map((at, index) => [at, index]));
  $("list-aside").textContent = counted(stage.lines.filter((row) => row.kind === "equation").length, "equation");
}

// --- the generated code ----------------------------------------------------------------------------

const generated = new Pane("code");

function showCode(level) {
  const { lines, marks, start } = data.levels[level].code;
  const shown = lines.length && !lines[lines.length - 1] ? lines.length - 1 : lines.length;
  const elements = [];
  for (let at = 0; at < shown; at++) elements.push(lineOf(at + 1, lines[at], at < start ? "made" : ""));
  generated.show(elements, elements);
  generated.marks = marks;
  const stage = finalStage(level);
  generated.byRow = new Map();
  marks.forEach((found, line) => found.forEach(([first, last, row]) => push(generated.byRow, row, [line, first, last])));
  generated.stage = stage;
  $("code-aside").textContent = counted(shown, "line");
  generated.start = start;
  generated.body.scrollTop = start > 6 ? Math.max(elements[start].offsetTop - 3 * elements[start].offsetHeight, 0) : 0;
}

// The rows of the final stage that the code at a place computes: of the narrowest mark around it.
function rowsOfCode(line, column = null) {
  const found = generated.marks[line] ?? [];
  if (column === null) return found.map(([, , row]) => row);
  const around = found.filter(([first, last]) => first <= column && column < last);
  const least = Math.min(...around.map(([first, last]) => last - first));
  return around.filter(([first, last]) => last - first === least).map(([, , row]) => row);
}
