// The computation graph: of the function for the first stage, else of the last one's program.

const UNIT = { x: 76, y: 60, width: 66, height: 34 };
const graph = { body: $("graph"), scope: "", nodes: [], view: [0, 0, 1], at: -1 };

function showGraph(level, isFirst) {
  const made = data.levels[level];
  graph.all = isFirst ? made.first : made.graphs;
  graph.stage = isFirst ? stageOf(level, 0) : finalStage(level);
  if (!graph.all.some((one) => one.scope === graph.scope)) graph.scope = "";
  drawGraph();
}

function drawGraph() {
  const { body, stage } = graph;
  graph.one = graph.all.find((one) => one.scope === graph.scope);
  graph.at = -1;
  const { nodes, places } = graph.one;
  $("graph-aside").textContent = counted(nodes.length, "node");
  body.replaceChildren();
  if (graph.scope) body.append(crumbs());
  graph.byRow = new Map();
  graph.nodes = [];
  if (!places) return neighbourhood([]);
  const canvas = draw("g");
  const at = ([column, row]) => [row * UNIT.x, column * UNIT.y];
  graph.edges = graph.one.hops.map(([a, b, from]) => {
    const [x, y] = at(places[a]), [end, low] = at(places[b]);
    const top = y + (a < nodes.length ? UNIT.height / 2 : 0), foot = low - (b < nodes.length ? UNIT.height / 2 : 0);
    const half = Math.abs(low - y) > UNIT.y * 2 ? UNIT.y : (foot - top) / 2;
    const rest = b < nodes.length ? "" : `V${low}`;
    const isFar = places[b][0] - places[a][0] > 1;
    const edge = draw("path", { class: `edge ${stage.lines[nodes[from][0]].section} ${isFar ? "far" : ""}`,
      d: `M${x} ${top}C${x} ${top + half} ${end} ${foot - half} ${end} ${foot}${rest}` });
    edge.plain = edge.getAttribute("class");
    edge.from = from;
    edge.to = b;
    return edge;
  });
  canvas.append(...graph.edges);
  nodes.forEach(([row], index) => canvas.append(nodeAt(index, row, at(places[index]))));
  const svg = draw("svg", { "aria-hidden": "false" }, canvas);
  body.append(svg);
  graph.canvas = canvas;
  const xs = places.map((place) => at(place)[0]), ys = places.map((place) => at(place)[1]);
  graph.box = [Math.min(...xs) - UNIT.x, Math.min(...ys) - UNIT.y, Math.max(...xs) + UNIT.x, Math.max(...ys) + UNIT.y];
  graph.fits = true;
  fitGraph();
}

function crumbs() {
  const to = (scope, text) => {
    const button = make("button", { type: "button" }, text);
    button.onclick = () => enter(scope);
    return button;
  };
  const parts = graph.scope.split("/").slice(0, -1);
  const beside = graph.all.map((one) => one.scope).filter((scope) => scope !== graph.scope &&
    scope.slice(0, scope.lastIndexOf(".")) === graph.scope.slice(0, graph.scope.lastIndexOf(".")));
  const steps = parts.map((part, at) => [" › ", at + 1 < parts.length ? to(`${parts.slice(0, at + 1).join("/")}/`, part) : part]);
  const others = beside.map((scope) => ["  ·  ", to(scope, scope.slice(scope.lastIndexOf(".") + 1, -1))]);
  return make("div", { class: "crumbs" }, to("", "whole graph"), ...steps.flat(), ...others.flat());
}

function enter(scope) {
  graph.scope = scope;
  drawGraph();
  refresh();
}

function nodeAt(index, rowNumber, [x, y]) {
  const row = graph.stage.lines[rowNumber];
  const [, symbol, ...inside] = graph.one.nodes[index];
  const name = row.kind === "block" ? row.names[index] ?? row.text : row.names.join(", ");
  const label = row.kind === "return" ? "return" : row.kind === "equation" ? symbol : name;
  const group = draw("g", { class: `node ${row.section} ${inside.length ? "more" : ""}`, transform: `translate(${x} ${y})`, role: "option", id: `node-${index}` });
  const isRound = row.kind !== "equation";
  group.append(draw("title", {}, `${name}${row.text ? ` = ${row.text}` : ""}  ${row.types.join(", ")}`));
  group.append(draw("rect", { x: -UNIT.width / 2, y: -UNIT.height / 2, width: UNIT.width, height: UNIT.height, rx: isRound ? 16 : 7 }));
  const under = row.kind === "equation" ? name : row.kind === "input" ? row.types[0] : "";
  const text = draw("text", { y: under ? -1 : 4 });
  text.textContent = short(label, 8);
  group.append(text);
  if (under) {
    const small = draw("text", { class: "under", y: 11 });
    small.textContent = short(under, 11);
    group.append(small);
  }
  group.plain = group.getAttribute("class");
  group.row = rowNumber;
  group.inside = inside;
  group.dataset.node = index;
  graph.nodes.push(group);
  push(graph.byRow, rowNumber, graph.nodes.length - 1);
  return group;
}
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Of a graph that is too large: what is around some rows.
function neighbourhood(lit) {
  const { body, stage } = graph;
  body.querySelector("svg")?.remove();
  body.querySelector(".none")?.remove();
  graph.nodes = [];
  graph.edges = [];
  graph.byRow = new Map();
  if (!lit.length) {
    body.append(make("p", { class: "none" }, `${counted(graph.one.nodes.length, "node")} are more than a picture can show. Point at an equation to see what it reads and what reads it.`));
    return;
  }
  const own = lit[0];
  const layers = [[...new Set(sources(stage, own))].slice(0, 6), [own], [...new Set(users(stage, own))].slice(0, 6)];
  const canvas = draw("g");
  const place = (layer, at) => [(at - (layers[layer].length - 1) / 2) * UNIT.x, layer * 1.5 * UNIT.y];
  for (const layer of [0, 2])
    layers[layer].forEach((row, at) => {
      const [x, y] = place(layer, at), side = layer ? -1 : 1;
      const edge = draw("path", { class: "edge lit f", d: `M${x} ${y + side * 16}C${x} ${y + side * 44} 0 ${1.5 * UNIT.y - side * 44} 0 ${1.5 * UNIT.y - side * 16}` });
      edge.plain = "edge";
      canvas.append(edge);
    });
  const known = graph.one.nodes.map(([row]) => row);
  layers.forEach((layer, l) => layer.forEach((row, at) => canvas.append(nodeAt(known.indexOf(row), row, place(l, at)))));
  body.append(draw("svg", {}, canvas));
  graph.canvas = canvas;
  graph.box = [-3 * UNIT.x, -UNIT.y, 3 * UNIT.x, 4 * UNIT.y];
  graph.fits = true;
  fitGraph();
}

function lightGraph(classes, isSome, scrolls) {
  graph.body.classList.toggle("some", isSome);
  if (!graph.one.places) neighbourhood([...classes].filter(([, names]) => /\blit\b/.test(names)).map(([row]) => row));
  const lit = new Set(), own = new Set();
  graph.nodes.forEach((node, index) => {
    const names = classes.get(node.row) ?? "";
    const wanted = `${node.plain} ${names} ${index === graph.at ? "at" : ""}`;
    if (node.getAttribute("class") !== wanted) node.setAttribute("class", wanted);
    node.setAttribute("aria-selected", String(/\blit\b/.test(names)));
    if (/\blit\b/.test(names)) lit.add(index);
    if (/\bown\b/.test(names)) own.add(index);
  });
  if (!graph.one.places) return;
  for (const edge of graph.edges) {
    const isIn = own.has(edge.to);
    const wanted = lit.has(edge.from) || isIn ? `${edge.plain} lit ${graph.stage.lines[graph.nodes[edge.from].row].section}` : edge.plain;
    if (edge.getAttribute("class") !== wanted) edge.setAttribute("class", wanted);
  }
  if (scrolls && lit.size && !graph.fits) centre(graph.nodes[[...lit][0]]);
}

// --- moving and zooming ----------------------------------------------------------------------------

function setView(x, y, scale) {
  graph.view = [x, y, scale];
  graph.canvas?.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
}

function fitGraph() {
  if (!graph.canvas || !graph.box) return;
  const { width, height } = graph.body.getBoundingClientRect();
  const [left, top, right, bottom] = graph.box;
  const whole = Math.min(width / (right - left), height / (bottom - top), 1.15);
  const scale = Math.max(whole, 0.6); // smaller ones are not read
  const x = width / 2 - (scale * (left + right)) / 2;
  setView(x, scale > whole ? -scale * top : height / 2 - (scale * (top + bottom)) / 2, scale);
  graph.fits = scale <= whole;
}

function wholeGraph() {
  if (!graph.canvas || !graph.box) return;
  const { width, height } = graph.body.getBoundingClientRect();
  const [left, top, right, bottom] = graph.box;
  const scale = Math.min(width / (right - left), height / (bottom - top), 1.15);
  setView(width / 2 - (scale * (left + right)) / 2, height / 2 - (scale * (top + bottom)) / 2, scale);
  graph.fits = true;
}

function zoom(factor, x = graph.body.clientWidth / 2, y = graph.body.clientHeight / 2) {
  const [left, top, scale] = graph.view;
  const next = Math.max(0.04, Math.min(scale * factor, 3));
  setView(x - ((x - left) * next) / scale, y - ((y - top) * next) / scale, next);
  graph.fits = false;
}

function centre(node) {
  const box = node.getBoundingClientRect(), view = graph.body.getBoundingClientRect();
  if (box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom) return;
  const [x, y, scale] = graph.view;
  setView(x + view.left + view.width / 2 - (box.left + box.width / 2), y + view.top + view.height / 2 - (box.top + box.height / 2), scale);
}

graph.body.addEventListener("wheel", (event) => {
  event.preventDefault();
  const view = graph.body.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) > 40 && !event.shiftKey)
    return zoom(Math.exp(-event.deltaY / 400), event.clientX - view.left, event.clientY - view.top);
  const [x, y, scale] = graph.view;
  setView(x - event.deltaX, y - event.deltaY, scale);
}, { passive: false });

graph.body.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".node, button")) return;
  const [x, y, scale] = graph.view;
  const move = (now) => {
    setView(x + now.clientX - event.clientX, y + now.clientY - event.clientY, scale);
    graph.fits = false;
    graph.body.classList.add("moving");
  };
  const end = () => {
    graph.body.classList.remove("moving");
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
});
$("closer").onclick = () => zoom(1.3);
$("farther").onclick = () => zoom(1 / 1.3);
$("fit").onclick = wholeGraph;
