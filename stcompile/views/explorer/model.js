"use strict";
// What the page shows: rows, stages, places. Everything is read from the JSON of the page.

const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = { i: "input", e: "equation", b: "block", r: "return" };

// A row of a list, as `listing.Row` has it.
const rows = data.rows.map(([kind, scope, depth, names, types, text, detail, reads, place, section]) => ({
  kind: KINDS[kind], scope, depth, names, types, text, detail, reads, place, section,
}));

function unpacked(runs) {
  const found = [];
  for (let at = 0; at < runs.length; at += 2)
    for (let k = 0; k < runs[at + 1]; k++) found.push(runs[at] + k);
  return found;
}

// A stage, with its rows and who defines and who reads what in them: made when it is first shown.
function stageOf(level, at) {
  const stage = data.levels[level].stages[at];
  if (stage.lines) return stage;
  stage.lines = unpacked(stage.rows).map((number) => rows[number]);
  stage.plus = new Set(unpacked(stage.added));
  stage.swap = new Set(unpacked(stage.rewritten));
  stage.makers = new Map();
  stage.readers = new Map();
  stage.byPlace = new Map();
  stage.lines.forEach((row, index) => {
    for (const name of row.names) stage.makers.set(row.scope + name, index);
    for (const name of row.reads) push(stage.readers, row.scope + name, index);
    if (row.place >= 0 && row.kind === "equation") push(stage.byPlace, row.place, index);
  });
  return stage;
}

function push(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

const finalStage = (level) => stageOf(level, data.levels[level].stages.length - 1);

// The rows that make what a row reads, and those that read what it makes.
const sources = (stage, at) => stage.lines[at].reads
  .map((name) => stage.makers.get(stage.lines[at].scope + name)).filter((found) => found !== undefined);
const users = (stage, at) => stage.lines[at].names
  .flatMap((name) => stage.readers.get(stage.lines[at].scope + name) ?? []);

// The rows from which the cotangents of some rows of the adjoint come, and those they go on to.
function flow(stage, inside) {
  const from = new Set(), to = new Set();
  for (const at of inside) {
    if (stage.lines[at].section !== "a") continue;
    for (const other of sources(stage, at))
      if (stage.lines[other].section === "a" && !inside.has(other)) from.add(other);
    for (const other of users(stage, at)) {
      const { section, kind } = stage.lines[other];
      if ((section === "a" || kind === "return") && !inside.has(other)) to.add(other);
    }
  }
  return { from, to };
}

// Places by line of the user's: "block:line" -> places with a span there.
const placesAt = new Map();
data.text.places.forEach((place, number) => {
  for (const [block, line] of place.spans) push(placesAt, `${block}:${line}`, number);
});

// The places of a column of a line: those of the narrowest span around it; without a column, all.
function placesOf(block, line, column = null) {
  const found = placesAt.get(`${block}:${line}`) ?? [];
  if (column === null) return found;
  const width = (number) => Math.min(...data.text.places[number].spans
    .filter(([b, l, first, last]) => b === block && l === line && first <= column && column < last)
    .map(([, , first, last]) => last - first));
  const least = Math.min(...found.map(width));
  return Number.isFinite(least) ? found.filter((number) => width(number) === least) : [];
}

// The text of a span, without its markup.
const plain = data.text.blocks.map((block) => block.lines.map((html) => {
  const node = document.createElement("template");
  node.innerHTML = html;
  return node.content.textContent;
}));
function excerpt(number) {
  const [block, line, first, last] = data.text.places[number].spans[0];
  const text = plain[block][line] ?? "";
  return last > first ? text.slice(first, last) : text.trim();
}
const lineNumber = (block, line) => data.text.blocks[block].first + line;

function bytes(number) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
    if (number >= size) return `${(number / size).toPrecision(3)} ${unit}`;
  return `${number} B`;
}
const counted = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// --- making elements -------------------------------------------------------------------------------

const $ = (id) => document.getElementById(id);
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const code = (text) => `<code>${escaped(text)}</code>`;
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function draw(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
