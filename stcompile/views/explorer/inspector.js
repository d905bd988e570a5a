// The numbers of one run: of what is lit, the value and its cotangent.

const MOST = 12; // cards

function showValues(level, at, chosen, places) {
  const stage = stageOf(level, at), numbers = data.levels[level].runs[at];
  const cards = [];
  const lines = data.lines.filter(([place]) => place >= 0 && places.has(place));
  for (const [, name, type, value, gradient] of lines) cards.push(card("f", name, type, [["value", "f", value], ["cotangent", "a", gradient]]));
  for (const index of chosen) {
    const row = stage.lines[index];
    if (row.kind === "input") {
      const own = data.lines.find(([place, name]) => place < 0 && name === row.names[0]);
      if (own) { cards.push(card("i", own[1], own[2], [["value", "f", own[3]], ["gradient", "a", own[4]]])); continue; }
    }
    if (row.section !== "a" && lines.length && !row.depth) continue; // told above
    row.names.forEach((name, k) => {
      const number = numbers?.[index]?.[k] ?? -1;
      if (number >= 0) cards.push(card(row.section, name, row.types[k], [[row.section === "a" ? "in the adjoint" : "value", row.section, number]]));
    });
  }
  const shown = cards.slice(0, MOST);
  if (!shown.length) shown.push(overview());
  $("values").replaceChildren(...shown);
  const seen = lines.length ? data.seen : data.levels[level].seen[at];
  const run = `of a run with the given arguments${seen && `, watched ${seen}`}`;
  $("values-aside").textContent = cards.length > MOST ? `${MOST} of ${cards.length}, ${run}` : run;
}

// What is shown when nothing is lit: the arguments with their gradients.
function overview() {
  const inputs = data.lines.filter(([place]) => place < 0);
  const box = make("div", { class: "pair" });
  for (const [, name, type, value, gradient] of inputs.slice(0, MOST))
    box.append(card("i", name, type, [["value", "f", value], ["gradient", "a", gradient]]));
  if (!inputs.length) box.append(make("p", { class: "none" }, "Point at an equation to see what it gave."));
  return box;
}

function card(section, name, type, values) {
  const head = make("h3", {}, name, make("i", {}, type));
  const pair = make("div", { class: "pair" });
  for (const [title, tone, number] of values) if (number >= 0) pair.append(valueOf(title, tone, data.values[number]));
  return make("div", { class: `card ${section}` }, head, pair);
}

function valueOf(title, tone, value) {
  const box = make("div", { class: `value ${tone}` }, make("h4", {}, title));
  if (value.text !== undefined) {
    box.append(make("div", { class: "big" }, value.text));
    for (const item of value.items ?? []) box.append(valueOf("", tone, item));
  }
  const shown = make("div", { class: "shown" });
  const isTable = value.rows && (value.shape.at(-1) ?? 1) <= 12;
  if (isTable) box.append(table(value.rows));
  else if (value.picture) shown.append(picture(value.picture));
  if (value.curve && !isTable) shown.append(curve(value.curve, 130));
  const facts = make("div", { class: "facts" });
  if (value.range && !(isTable && value.rows.flat().length < 4)) {
    const [low, mean, high] = value.range;
    facts.innerHTML = `${value.of ? `${value.of}  ` : ""}min <b>${low}</b><br>mean <b>${mean}</b><br>max <b>${high}</b>`;
  }
  if (value.zeros) facts.append(make("div", {}, `${counted(value.zeros, "zero")}`));
  if (value.odd) facts.append(make("div", { class: "odd" }, `${value.odd} not finite`));
  if (value.bins?.length && !isTable) shown.append(bars(value.bins));
  if (shown.childNodes.length || facts.childNodes.length) {
    shown.append(facts);
    facts.style.marginLeft = shown.childNodes.length > 1 ? "12px" : 0;
    box.append(shown);
  }
  if (value.series) box.append(make("div", { class: "facts" }, `${counted(value.steps, "step")}: the last one, and how large each was`), curve(value.series, 160));
  return box;
}

function table(cells) {
  const most = 8;
  const body = cells.slice(0, most).map((row) => make("tr", {}, ...row.map((cell) => make("td", { class: /nan|inf/.test(cell) ? "odd" : "" }, cell))));
  if (cells.length > most) body.push(make("tr", {}, make("td", {}, "…")));
  return make("table", {}, ...body);
}

function bars(bins) {
  const svg = draw("svg", { width: bins.length * 4, height: 52, role: "img", "aria-label": "histogram" });
  bins.forEach((height, at) => svg.append(draw("rect", { x: at * 4, y: 50 - height / 2, width: 3.2, height: Math.max(height / 2, height ? 1 : 0) })));
  svg.append(draw("line", { x1: 0, x2: bins.length * 4 - 1, y1: 50.5, y2: 50.5 }));
  return svg;
}

function curve(samples, width) {
  const svg = draw("svg", { width, height: 44, role: "img", "aria-label": "curve" });
  let path = "", pen = "M";
  samples.forEach((sample, at) => {
    if (sample === null) return void (pen = "M");
    path += `${pen}${((at * width) / Math.max(samples.length - 1, 1)).toFixed(1)} ${(40 - 0.36 * sample).toFixed(1)}`;
    pen = "L";
  });
  svg.append(draw("path", { d: path }));
  return svg;
}

// A picture: grey is 0, blue is positive, red negative.
function picture({ width, height, pixels }) {
  const canvas = make("canvas", { width, height, role: "img", "aria-label": "picture of the array" });
  const scale = Math.min(60 / height, 100 / width);
  canvas.style.width = `${Math.max(width * scale, 6)}px`;
  canvas.style.height = `${Math.max(height * scale, 6)}px`;
  const bytesOf = Uint8Array.from(atob(pixels), (c) => c.charCodeAt(0));
  const isDark = document.documentElement.dataset.theme === "dark";
  const ends = isDark ? [[245, 143, 118], [38, 41, 46], [125, 180, 245]] : [[181, 54, 31], [247, 245, 241], [31, 95, 174]];
  const image = new ImageData(width, height);
  bytesOf.forEach((level, at) => {
    const t = (level - 127) / 127, end = t < 0 ? ends[0] : ends[2];
    const colour = level === 255 ? [240, 190, 40] : ends[1].map((m, c) => m + (end[c] - m) * Math.abs(t) ** 0.7);
    image.data.set([...colour, 255], 4 * at);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
