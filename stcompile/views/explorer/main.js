// What is chosen, and what that lights up; the stages, the keyboard, the search.

const state = { level: data.level, stage: 0, over: null, kept: null };
const stagesNow = () => data.levels[state.level].stages;
const isLast = () => state.stage === stagesNow().length - 1;

// --- what is lit -----------------------------------------------------------------------------------

// A selection: places of the user's text, and maybe rows of a stage, which it is exactly.
const nothing = { places: new Set() };
const ofPlaces = (places) => ({ places: new Set(places) });

// Rows of a stage; of an argument, which has no place, also those that read it.
function ofRows(stage, numbers) {
  const places = new Set(numbers.map((at) => stage.lines[at].place).filter((place) => place >= 0));
  const readers = numbers.filter((at) => stage.lines[at].kind === "input").flatMap((at) => users(stage, at));
  return { places, stage, rows: numbers, readers };
}

function choose(selection, pane = null) {
  state.over = selection;
  state.pane = pane;
  refresh();
}

const chosenNow = () => state.over ?? state.kept ?? nothing;

// The classes of the rows of a stage.
function classesOf(stage, selection) {
  const lit = new Set();
  for (const place of selection.places) for (const at of stage.byPlace.get(place) ?? []) lit.add(at);
  const exact = stage === selection.stage ? selection.rows : [];
  const read = stage === selection.stage ? selection.readers : [];
  for (const at of [...exact, ...read]) lit.add(at);
  const { from, to } = flow(stage, lit);
  const found = new Map();
  for (const at of from) found.set(at, "from");
  for (const at of to) found.set(at, "to");
  for (const at of lit) found.set(at, `lit ${stage.lines[at].section}`);
  for (const at of exact) found.set(at, `lit own ${stage.lines[at].section}`);
  return { lit, from, to, found };
}

function refresh() {
  const selection = chosenNow();
  const isSome = selection.places.size > 0 || selection.rows?.length > 0;
  const stage = stageOf(state.level, state.stage), final = finalStage(state.level);
  const here = classesOf(stage, selection), there = stage === final ? here : classesOf(final, selection);
  lightList(here, state.pane !== list);
  lightSource(selection, stage, here, state.pane !== source);
  const lines = lightCode(there, selection, state.pane !== generated);
  lightGraph(graph.stage === final ? there.found : classesOf(graph.stage, selection).found, isSome, state.pane !== graph);
  lightMemory(new Set(lines), lines.length ? lines[0] : null);
  lightArguments(stage, here, selection);
  showValues(state.level, state.stage, selection.readers?.length ? new Set(selection.rows) : here.lit, selection.places);
  $("said").innerHTML = said(selection, here, there, lines.length);
}

function lightList({ found }, scrolls) {
  const classes = new Map();
  for (const [at, names] of found) {
    const index = list.index.get(at) ?? list.index.get(around(at));
    if (index !== undefined) classes.set(index, names);
  }
  list.light(classes, scrolls);
  list.lines[list.at]?.classList.add("at");
}

// The row that a folded one is in.
function around(at) {
  const stage = stageOf(state.level, state.stage);
  for (let up = at; up >= 0; up--) if (list.index.has(up) && stage.lines[up].depth < stage.lines[at].depth) return up;
  return at;
}

function lightSource(selection, stage, { from, to }, scrolls) {
  const classes = new Map(), linesOf = (number) => data.text.places[number].spans.map(([b, l]) => source.index.get(`${b}:${l}`));
  const here = new Set([...selection.places].flatMap(linesOf));
  const others = (ats) => new Set([...ats].map((at) => stage.lines[at].place).filter((p) => p >= 0)
    .map((number) => linesOf(number)[0]).filter((line) => !here.has(line)));
  const [sent, next] = [others(from), others(to)];
  for (const line of sent) classes.set(line, "from");
  for (const line of next) classes.set(line, "to");
  for (const line of here) classes.set(line, "lit f");
  source.light(classes, scrolls);
  source.lines[source.at]?.classList.add("at");
  const drawn = new Set();
  for (const number of selection.places)
    for (const [b, l, first, last] of data.text.places[number].spans) {
      const key = `${b}:${l}:${first}:${last}`;
      if (!drawn.has(key)) source.mark(source.index.get(`${b}:${l}`), first, last, "f deep");
      drawn.add(key);
    }
  showArcs(sent, here, next);
}

function lightCode({ found, lit, from, to }, selection, scrolls) {
  const classes = new Map(), marks = [], lines = new Set();
  for (const [ats, name] of [[from, "from"], [to, "to"]])
    for (const at of ats) for (const [line] of generated.byRow.get(at) ?? []) if (line >= generated.start) classes.set(line, name);
  for (const at of lit)
    for (const [line, first, last] of generated.byRow.get(at) ?? []) {
      const section = generated.stage.lines[at].section;
      classes.set(line, `lit ${section}`);
      lines.add(line);
      marks.push([line, first, last, `${section} ${/\bown\b/.test(found.get(at)) ? "deep" : ""}`]);
    }
  generated.light(new Map([...classes].sort((a, b) => a[0] - b[0])), scrolls);
  generated.lines[generated.at]?.classList.add("at");
  for (const [line, first, last, names] of marks.sort((a, b) => a[2] - a[1] - b[2] + b[1])) generated.mark(line, first, last, names);
  const start = data.levels[state.level].code.start;
  return [...lines].filter((line) => line >= start).sort((a, b) => a - b);
}

function lightArguments(stage, { lit, to }, selection) {
  const read = new Set([...lit].flatMap((at) => stage.lines[at].section === "f" ? stage.lines[at].reads : []));
  const made = new Set([...lit].flatMap((at) => stage.lines[at].section === "a" ? stage.lines[at].names : []));
  const ends = [...to].some((at) => stage.lines[at].kind === "return");
  for (const chip of $("arguments").children) {
    const own = (selection.rows ?? []).some((at) => stage.lines[at]?.kind === "input" && stage.lines[at].names[0] === chip.dataset.name);
    chip.classList.toggle("lit", own || read.has(chip.dataset.name));
    chip.classList.toggle("to", ends && made.has(`d_${chip.dataset.name}`));
  }
}

function said(selection, here, there, lines) {
  const places = [...selection.places];
  if (!places.length && !selection.rows?.length) return "Point at a line, an equation, a piece of code or a node; <kbd>?</kbd> for help.";
  const inputs = (selection.rows ?? []).map((at) => selection.stage.lines[at]).filter((row) => row.kind === "input");
  if (inputs.length) return `${code(inputs[0].names[0])} is an argument, read by ${counted(selection.readers.length, "equation")}`;
  const what = places.length ? code(shortened(excerpt(places[0]))) : code((selection.rows ?? []).map((at) => selection.stage.lines[at].names.join(", ")).join(", ") || "return");
  const all = [...here.lit].map((at) => stageOf(state.level, state.stage).lines[at]);
  const values = all.filter((row) => row.section !== "a").length, adjoints = all.length - values;
  let text = `${what} → ${counted(values, "equation")}`;
  if (adjoints) text += ` and <b>${adjoints} in the adjoint</b>`;
  text += `, ${counted(lines, "line")} of code`;
  if (!there.lit.size && places.length) text += gone(places);
  const stage = stageOf(state.level, state.stage);
  const named = (ats) => [...new Set([...ats].map((at) => stage.lines[at]).filter((row) => row.place >= 0)
    .map((row) => { const [b, l] = data.text.places[row.place].spans[0]; return lineNumber(b, l); }))].sort((a, b) => a - b);
  const lined = (numbers) => (numbers.length ? `line${numbers.length > 1 ? "s" : ""} ${numbers.slice(0, 4).join(", ")}${numbers.length > 4 ? ", …" : ""}` : "");
  if (here.from.size) text += `; its cotangent comes from ${lined(named(here.from))}`;
  const ends = [...here.to].some((at) => stage.lines[at].kind === "return");
  const next = [lined(named(here.to)), ends ? "the gradient" : ""].filter(Boolean).join(" and ");
  if (next) text += `${here.from.size ? " and" : "; its cotangent"} goes on to ${next}`;
  return text;
}
const shortened = (text) => (text.length > 44 ? `${text.slice(0, 43)}…` : text);

// After which stage nothing is left of some places.
function gone(places) {
  const stages = stagesNow();
  for (let at = stages.length - 1; at >= 0; at--)
    if (places.some((place) => stageOf(state.level, at).byPlace.has(place)))
      return at < stages.length - 1 ? `; nothing is left of it after ${code(stages[at + 1].name)}` : "";
  return "; it is computed once, when the function is compiled";
}

// --- stages ----------------------------------------------------------------------------------------

function showStage() {
  const stages = stagesNow(), stage = stageOf(state.level, state.stage);
  $("stage").innerHTML = `${state.stage < 2 && stages.length > 1 ? "" : "<i>after</i> "}${escaped(stage.name)}`;
  $("about").textContent = stage.about.replaceAll("``", "").replaceAll("`", "");
  $("slider").max = stages.length - 1;
  $("slider").value = state.stage;
  $("slider").setAttribute("aria-valuetext", `${stage.name}, ${state.stage + 1} of ${stages.length}`);
  $("back").disabled = !state.stage;
  $("forth").disabled = isLast();
  const gone = stage.removed.length, equations = stage.lines.filter((row) => row.kind === "equation").length;
  $("counts").innerHTML = [["", "equations", equations], ["plus", "added", stage.plus.size], ["swap", "rewritten", stage.swap.size], ["minus", "removed", gone], ["", "in arrays", bytes(stage.nbytes)]]
    .map(([name, title, number]) => `<span class="${name}"><b>${number}</b>${title}</span>`).join("");
  drawChanges(stages);
  showList(stage);
  showGraph(state.level, state.stage === 0 && stages.length > 1);
  if (state.kept?.rows) state.kept = ofPlaces(state.kept.places);
  state.over = null;
  refresh();
}

// How much each stage changed: rows added and rewritten above the line, removed below.
function drawChanges(stages) {
  const width = $("changes").clientWidth || 600, step = width / stages.length;
  const size = (number) => (number ? 2 + 5.5 * Math.log2(1 + number) : 0);
  const tall = Math.max(...stages.map((s) => size(count(s.added) + count(s.rewritten))), ...stages.map((s) => size(s.removed.length)), 20);
  const unit = 21 / tall, shapes = [draw("line", { class: "base", x1: 0, x2: width, y1: 23, y2: 23 })];
  stages.forEach((stage, at) => {
    const x = at * step + step / 2, wide = Math.min(step * 0.55, 9);
    if (at === state.stage) shapes.unshift(draw("rect", { class: "at", x: at * step, width: step, y: -4, height: 54, rx: 5 }));
    const [plus, swap, minus] = [count(stage.added), count(stage.rewritten), stage.removed.length];
    const up = unit * size(plus + swap), part = plus + swap ? plus / (plus + swap) : 0;
    if (!plus && !swap && !minus) shapes.push(draw("circle", { class: "dot", cx: x, cy: 23, r: 2 }));
    shapes.push(draw("rect", { class: "swap", x: x - wide / 2, width: wide, y: 22 - up * (1 - part), height: up * (1 - part), rx: 1.5 }));
    shapes.push(draw("rect", { class: "plus", x: x - wide / 2, width: wide, y: 22 - up, height: up * part, rx: 1.5 }));
    shapes.push(draw("rect", { class: "minus", x: x - wide / 2, width: wide, y: 24, height: unit * size(minus), rx: 1.5 }));
  });
  $("changes").replaceChildren(...shapes);
}
const count = (runs) => { let sum = 0; for (let at = 1; at < runs.length; at += 2) sum += runs[at]; return sum; };
const changes = (stage) => count(stage.added) + count(stage.rewritten) + stage.removed.length;

function toStage(at) {
  const next = Math.max(0, Math.min(at, stagesNow().length - 1));
  if (next !== state.stage) { state.stage = next; showStage(); }
}
function toChange(by) {
  let at = state.stage + by;
  while (stagesNow()[at] && !changes(stagesNow()[at])) at += by;
  toStage(at);
}

let playing = null;
function play() {
  const stop = () => { clearInterval(playing); playing = null; $("play").setAttribute("aria-pressed", "false"); };
  if (playing) return stop();
  $("play").setAttribute("aria-pressed", "true");
  if (isLast()) toStage(0);
  playing = setInterval(() => { if (isLast()) stop(); else toChange(1); }, 900);
}

function toLevel(level) {
  state.level = level;
  state.stage = stagesNow().length - 1;
  for (const button of $("levels").children) {
    button.setAttribute("aria-checked", String(button.dataset.level === level));
    button.tabIndex = button.dataset.level === level ? 0 : -1;
  }
  if (state.kept?.rows) state.kept = ofPlaces(state.kept.places);
  state.over = null;
  showCode(level);
  showMemory(level);
  showStage();
}

// --- pointing --------------------------------------------------------------------------------------

function selectionOf(pane, line, column) {
  const at = Number(line.dataset.at);
  if (pane === source) {
    const [b, l] = source.where[at];
    const exact = column === null ? [] : placesOf(b, l, column);
    return ofPlaces(exact.length ? exact : placesOf(b, l));
  }
  if (pane === list) return ofRows(stageOf(state.level, state.stage), [list.where[at]]);
  const exact = column === null ? [] : rowsOfCode(at, column);
  return ofRows(finalStage(state.level), exact.length ? exact : rowsOfCode(at));
}

for (const pane of [source, list, generated]) {
  const found = (event) => event.target.closest?.(".row[data-at]");
  const chosen = (event) => selectionOf(pane, found(event), columnAt(found(event), event));
  let last = "";
  pane.body.addEventListener("pointermove", (event) => {
    const line = found(event);
    const key = line ? `${line.dataset.at}:${pane === list ? 0 : columnAt(line, event)}` : "";
    if (key === last) return;
    last = key;
    choose(line ? chosen(event) : null, pane);
  });
  pane.body.addEventListener("pointerleave", () => { last = ""; choose(null, pane); });
  pane.body.addEventListener("click", (event) => {
    if (event.target.closest(".fold")) return toggleFold(Number(found(event).dataset.at));
    if (!found(event)) return;
    pane.moveTo(Number(found(event).dataset.at));
    keep(chosen(event));
  });
}

function keep(selection) {
  state.kept = selection;
  refresh();
}

graph.body.addEventListener("pointerover", (event) => {
  const node = event.target.closest(".node");
  choose(node && ofRows(graph.stage, [node.row]), graph);
});
graph.body.addEventListener("pointerleave", () => choose(null, graph));
graph.body.addEventListener("click", (event) => {
  const node = event.target.closest(".node");
  if (node) keep(ofRows(graph.stage, [node.row]));
});
graph.body.addEventListener("dblclick", (event) => {
  const node = event.target.closest(".node");
  if (node?.inside.length) enter(node.inside[0]);
});

function toggleFold(index, shut = null) {
  const row = stageOf(state.level, state.stage).lines[list.where[index]], key = row.scope + row.names.join();
  const next = stageOf(state.level, state.stage).lines[list.where[index] + 1];
  if (row.kind !== "equation" || !(next?.depth > row.depth)) return;
  if (shut ?? !folded.has(key)) folded.add(key); else folded.delete(key);
  showList(stageOf(state.level, state.stage));
  refresh();
  list.moveTo(index);
}

// --- the keyboard ----------------------------------------------------------------------------------

const paneIds = ["source", "list", "code", "graph", "values", "memory"];
const paneOf = (id) => ({ source, list, code: generated }[id]);
const KEYS = {
  "[": () => toStage(state.stage - 1), "]": () => toStage(state.stage + 1),
  "{": () => toChange(-1), "}": () => toChange(1),
  "/": () => $("search").focus(), "?": () => $("help").showModal(),
  t: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  l: () => { const names = Object.keys(data.levels); toLevel(names[(names.indexOf(state.level) + 1) % names.length]); },
  p: play, 0: wholeGraph, "+": () => zoom(1.3), "-": () => zoom(1 / 1.3),
  Escape: () => { state.kept = state.over = null; search(""); refresh(); },
};
paneIds.forEach((id, at) => (KEYS[at + 1] = () => $(id).focus()));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target === $("search")) return;
  const pane = paneOf(event.target.id);
  if (pane && move(pane, event.key)) return event.preventDefault();
  if (event.target === graph.body && moveInGraph(event.key)) return event.preventDefault();
  if (event.target === $("slider") && event.key.startsWith("Arrow")) return;
  if (event.target.closest("#levels") && /^Arrow/.test(event.key)) { KEYS.l(); $("levels").querySelector("[aria-checked=true]").focus(); return event.preventDefault(); }
  if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});

function move(pane, key) {
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[key];
  if (by) {
    const line = pane.moveTo(pane.at + by);
    if (line) choose(selectionOf(pane, line, null), pane);
    return true;
  }
  if (pane === list && (key === "ArrowLeft" || key === "ArrowRight")) { toggleFold(pane.at, key === "ArrowLeft"); return true; }
  if (key === "Enter" && state.over) { keep(state.over); return true; }
  return false;
}

function moveInGraph(key) {
  const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  if (by && graph.nodes.length) {
    graph.at = Math.max(0, Math.min(graph.at + by, graph.nodes.length - 1));
    graph.body.setAttribute("aria-activedescendant", graph.nodes[graph.at].id);
    choose(ofRows(graph.stage, [graph.nodes[graph.at].row]), graph);
    if (graph.nodes[graph.at]) centre(graph.nodes[graph.at]);
    return true;
  }
  if (key === "Enter" && graph.nodes[graph.at]?.inside.length) { enter(graph.nodes[graph.at].inside[0]); return true; }
  if (key === "Enter" && state.over) { keep(state.over); return true; }
  if (key === "Backspace" && graph.scope) { enter(""); return true; }
  return false;
}

// --- the search ------------------------------------------------------------------------------------

let hits = [], hit = -1;
function search(text) {
  for (const line of document.querySelectorAll(".row.found")) { line.classList.remove("found"); if (line.dataset.plain) line.dataset.plain = line.dataset.plain.replace(" found", ""); }
  hits = [];
  hit = -1;
  if (!text) return void ($("search").value = "");
  for (const pane of [source, list, generated])
    pane.lines.forEach((line, index) => {
      if (!line.querySelector(".text").textContent.toLowerCase().includes(text.toLowerCase())) return;
      line.classList.add("found");
      if (line.dataset.plain) line.dataset.plain += " found";
      hits.push([pane, index]);
    });
  $("said").textContent = `${counted(hits.length, "line")} with “${text}”`;
}
$("search").addEventListener("input", () => search($("search").value));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search(""); $("search").blur(); }
  if (event.key !== "Enter" || !hits.length) return;
  hit = (hit + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
  const [pane, index] = hits[hit];
  const line = pane.moveTo(index);
  keep(selectionOf(pane, line, null));
});

// --- light and dark --------------------------------------------------------------------------------

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("stcompile-theme", theme); } catch { /* a page from a file may have none */ }
  refresh();
}
function firstTheme() {
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("stcompile-theme"); } catch { /* likewise */ }
  document.documentElement.dataset.theme = kept ?? (wanted.matches ? "dark" : "light");
  wanted.addEventListener("change", () => setTheme(wanted.matches ? "dark" : "light"));
}

// --- the start -------------------------------------------------------------------------------------

function start() {
  firstTheme();
  $("name").textContent = data.name;
  $("title").innerHTML = escaped(data.title).replace(/`([^`]*)`/g, "<code>$1</code>");
  if (data.refusal) { $("title").textContent = "No gradient: " + data.refusal.split("\n").slice(-2, -1)[0]; $("title").title = data.refusal; }
  const first = stageOf(state.level, 0), last = finalStage(state.level);
  const gradients = new Set(data.lines.filter(([place, , , , gradient]) => place < 0 && gradient >= 0).map(([, name]) => name));
  first.lines.filter((row) => row.kind === "input").forEach((row) => {
    const chip = make("span", { class: `chip ${gradients.has(row.names[0]) ? "wrt" : ""}`, "data-name": row.names[0] });
    chip.innerHTML = `<b>${escaped(row.names[0])}</b> <i>${escaped(row.types[0])}</i>`;
    chip.onpointerenter = () => choose(inputSelection(row.names[0]), null);
    chip.onpointerleave = () => choose(null);
    $("arguments").append(chip);
  });
  for (const level of ["readable", "fast", "compiled"].filter((name) => data.levels[name])) {
    const button = make("button", { type: "button", role: "radio", "data-level": level }, level[0].toUpperCase() + level.slice(1));
    button.onclick = () => toLevel(level);
    $("levels").append(button);
  }
  for (const [name, section] of [["u", "u"], ["t", "t"]])
    document.querySelector(`.legend .${name}`).hidden = !last.lines.some((row) => row.section === section);
  $("slider").oninput = () => toStage(Number($("slider").value));
  $("slider").onpointermove = (event) => {
    const stages = stagesNow(), box = $("slider").getBoundingClientRect();
    const at = Math.min(Math.floor(((event.clientX - box.left) / box.width) * stages.length), stages.length - 1);
    const shown = stages[Math.max(at, 0)];
    $("slider").title = `${shown.name}: ${count(shown.added)} added, ${count(shown.rewritten)} rewritten, ${shown.removed.length} removed`;
  };
  $("back").onclick = () => toStage(state.stage - 1);
  $("forth").onclick = () => toStage(state.stage + 1);
  $("play").onclick = play;
  $("theme").onclick = KEYS.t;
  $("ask").onclick = KEYS["?"];
  showSource();
  toLevel(state.level);
  let waiting = null;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { sample?.remove(); sample = null; showMemory(state.level); drawChanges(stagesNow()); fitGraph(); refresh(); }, 120);
  });
}

// An argument, in the stage that is shown.
function inputSelection(name) {
  const stage = stageOf(state.level, state.stage);
  const at = stage.makers.get(name);
  return at === undefined ? null : ofRows(stage, [at]);
}

start();
