// The lives of arrays over the lines of the generated code; bars in one row share their memory.

const CHART = { left: 14, right: 14, top: 22, area: 46, gap: 17, bar: 13 };

function showMemory(level) {
  const made = data.levels[level], { lives, memory, code: written } = made;
  const body = $("memory");
  const parts = [memory.peak && `peak ${bytes(memory.peak)}`, memory.buffers && `buffers ${bytes(memory.buffers)}`, memory.naive && `a tape would hold ${bytes(memory.naive)}`];
  $("memory-aside").textContent = parts.filter(Boolean).join(" · ");
  showMemory.bars = [];
  if (!lives.length) return body.replaceChildren(make("p", { class: "none" }, "No array is made: all of it is numbers."));
  const width = Math.max(body.clientWidth, 300);
  const first = written.start, last = written.lines.length - 1;
  const x = (line) => CHART.left + ((line - first) / Math.max(last - first, 1)) * (width - CHART.left - CHART.right);
  const lanes = lanesOf(lives);
  const height = CHART.top + CHART.area + CHART.gap + lanes.length * (CHART.bar + 3) + 14;
  const svg = draw("svg", { height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `memory over ${last - first} lines, at most ${bytes(memory.peak)}` });
  const turn = written.lines.findIndex((line, at) => at > first && line.includes("--- adjoint"));
  svg.append(...alive(made.alive, memory, x, first, last));
  lanes.forEach((lane, at) => {
    const y = CHART.top + CHART.area + CHART.gap + at * (CHART.bar + 3);
    for (const life of lane) svg.append(bar(life, x, y, generated.byRow, level));
  });
  if (turn > 0) {
    svg.append(draw("line", { class: "turn", x1: x(turn), x2: x(turn), y1: CHART.top, y2: height }));
    const label = draw("text", { class: "axis", x: x(turn) + 5, y: CHART.top + CHART.area + 11 });
    label.textContent = "adjoint →";
    svg.append(label);
  }
  const cursor = draw("line", { class: "cursor", y1: CHART.top, y2: height, visibility: "hidden" });
  svg.append(cursor);
  body.replaceChildren(svg);
  showMemory.cursor = (line) => {
    cursor.setAttribute("visibility", line === null ? "hidden" : "visible");
    if (line !== null) { cursor.setAttribute("x1", x(line)); cursor.setAttribute("x2", x(line)); }
  };
}

// Rows of bars: each piece of memory has one; what is allocated in the call goes where there is room.
function lanesOf(lives) {
  const fixed = new Map(), free = [];
  for (const life of [...lives].sort((a, b) => a[2] - b[2] || b[1] - a[1])) {
    if (life[4] !== null) { push(fixed, life[4], life); continue; }
    const lane = free.find((one) => one.at(-1)[3] < life[2]);
    if (lane) lane.push(life); else free.push([life]);
  }
  const size = (lane) => Math.max(...lane.map((life) => life[1]));
  return [...fixed.values(), ...free].sort((a, b) => size(b) - size(a)).slice(0, 40);
}

function alive(sums, memory, x, first, last) {
  const most = Math.max(...sums.map(([, sum]) => sum), 1), at = sums.find(([, sum]) => sum === most)?.[0] ?? first;
  const foot = CHART.top + CHART.area;
  const y = (sum) => foot - (sum / most) * CHART.area;
  let path = `M${x(first)} ${foot}`, before = first;
  for (const [line, sum] of sums) {
    path += `H${x(Math.max(line - 0.5, before))}V${y(sum)}`;
    before = line;
  }
  path += `H${x(last)}`;
  const crowded = x(last) - x(at) < 100;
  const label = draw("text", { class: "peak-text", x: x(at) - (crowded ? 5 : 0), y: CHART.top - 8, "text-anchor": crowded ? "end" : "start" });
  label.textContent = `peak ${bytes(memory.peak)}`;
  return [draw("path", { class: "area", d: `${path}V${foot}Z` }), draw("line", { class: "peak", x1: x(at), x2: x(at), y1: CHART.top - 4, y2: foot }), label];
}

function bar([name, nbytes, from, to, memory], x, y, byRow, level) {
  const isDerived = name.startsWith("d_");
  const width = Math.max(x(to) - x(from), 4);
  const group = draw("g", { class: `bar ${isDerived ? "a" : "f"}` });
  const title = draw("title");
  title.textContent = `${name || "a temporary array"}: ${bytes(nbytes)}, lines ${from + 1} to ${to + 1}${memory === null ? "" : `, in piece ${memory}`}`;
  group.append(title, draw("rect", { x: x(from), y, width, height: CHART.bar, rx: 3 }));
  const text = draw("text", { x: x(from) + 4, y: y + CHART.bar - 3.5 });
  const room = Math.floor((width - 6) / 5.9);
  if (room > 1) text.textContent = short(room > name.length + 8 ? `${name}  ${bytes(nbytes)}` : name, room);
  group.append(text);
  group.lines = [from, to];
  group.plain = group.getAttribute("class");
  showMemory.bars.push(group);
  return group;
}

function lightMemory(lines, cursor) {
  for (const one of showMemory.bars) one.setAttribute("class", `${one.plain} ${lines.has(one.lines[0]) ? "lit" : ""}`);
  showMemory.cursor?.(cursor);
}
