"use strict";
// The report as text, maps, histograms and a table.

const by = id => document.getElementById(id);
const data = JSON.parse(by("data").textContent),
  tasks = data.tasks,
  count = n => n.toLocaleString("en");
const MANY = 300,
  VERDICTS = ["clean", "unknown", "damaged", "inherited", "here_or_upstream", "introduced"];
// Text from the report only ever becomes text: kernels and files may be named like markup.
function el(name, className, ...inside) {
  const e = document.createElement(name);
  e.className = className;
  e.append(...inside);
  return e;
}
function button(text, className, act) {
  const e = el("button", className, text);
  e.type = "button";
  e.addEventListener("click", act);
  return e;
}
const items = lines => {
  const list = el("ul", "");
  lines.forEach(line => list.append(el("li", "", line)));
  return list;
};
const id = t => tasks[t][0],
  kernel = t => tasks[t][1],
  verdict = t => tasks[t][2],
  wrong = t => ["introduced", "inherited", "here_or_upstream"].includes(verdict(t));
const everybody = tasks.map((_, t) => t),
  into = tasks.map(() => []),
  out = tasks.map(() => []);
for (const [from, to] of data.edges) {
  into[to].push(from);
  out[from].push(to);
}
// Ids without the digits that all of them share.
let shared = tasks.length > 1 ? id(0).length - 2 : 0;
tasks.forEach((_, t) => {
  while (!id(t).startsWith(id(0).slice(0, shared))) shared--;
});
const brief = t => (shared > 2 ? "…" : "") + id(t).slice(shared > 2 ? shared : 0),
  named = t => (kernel(t) + " " + brief(t)).trim();
function what(t) {
  const sources = into[t].filter(wrong);
  return [
    tasks[t][3],
    verdict(t) === "inherited" && sources.length
      ? "waits for wrong " +
        sources.slice(0, 4).map(named).join(", ") +
        (sources.length > 4 ? " and more" : "")
      : "",
  ]
    .filter(Boolean)
    .join("; ");
}

// The answer.
const word = {
  agree: "AGREE",
  differ: "DIFFER",
  damaged: "DAMAGED",
  failed: "FAILED",
  race: "RACE",
  unjudged: "NOT JUDGED",
}[data.verdict];
document.title = [
  "argus find",
  word,
  ...data.first_wrong.slice(0, 1).map(first => first.kernel + " " + first.id),
].join(" · ");
by("title").append(el("span", "pill " + data.verdict, word), data.dump);
by("with").textContent =
  "compared with " +
  data.compared_with +
  (data.other ? ": " + data.other : "") +
  "; the end result " +
  {
    agrees: "agrees",
    partly_agrees: "agrees as far as it was compared",
    differs: "differs",
    affected: "follows from wrong values",
    unknown: "was not compared",
  }[data.end_result];
const answer = (...inside) => by("answers").append(el("div", "answer " + data.verdict, ...inside)),
  firsts = data.first_wrong,
  AT_ONCE = 3;
// For a shell.
const quoted = path => (/^[\w@%+=:,./-]+$/.test(path) ? path : "'" + path.replaceAll("'", "'\\''") + "'");
const behind = n =>
  n === null
    ? ""
    : n === 0
      ? "No wrong task is downstream of it."
      : n === 1
        ? "1 wrong task is downstream of it."
        : count(n) + " wrong tasks are downstream of it.";
for (const first of firsts.slice(0, AT_ONCE)) {
  const looks = first.outputs.flatMap(output => output.looks_like.slice(0, 1));
  answer(
    el(
      "b",
      "",
      first.kernel || "A task without a kernel",
      first.verdict === "introduced"
        ? " introduced " + (firsts.length > 1 ? "an error" : "the error")
        : " is wrong, here or upstream",
    ),
    " ",
    button(first.id, "link", () => choose(first.task, true)),
    el("div", "", "First wrong task: no task before it is known to be wrong. " + behind(first.downstream)),
    ...(first.why ? [el("div", "", "It may have been made upstream: " + first.why + ".")] : []),
    ...(first.suspects.length
      ? [
          el(
            "div",
            "",
            "Suspects: ",
            first.suspects.slice(0, 12).map(named).join(", ") +
              (first.suspects.length > 12 ? " and " + count(first.suspects.length - 12) + " more" : ""),
          ),
        ]
      : []),
    ...looks.map(look => el("div", "", "Looks like ", el("strong", "", look))),
    el("div", "dim", "Next: ", el("code", "", `argus replay ${quoted(data.dump)} --task ${first.id}${data.repeat}`)),
  );
}
if (firsts.length > AT_ONCE) {
  const kernels = new Map();
  tasks.forEach((_, t) => {
    const sums = kernels.get(kernel(t)) || [0, 0];
    kernels.set(kernel(t), [sums[0] + wrong(t), sums[1] + 1]);
  });
  const guilty = [...kernels].filter(([, sums]) => sums[0]).sort((a, b) => b[1][0] - a[1][0]);
  answer(
    el("b", "", "Errors begin at " + count(firsts.length) + " tasks"),
    ...guilty
      .slice(0, 4)
      .map(([name, [bad, all]]) =>
        el("div", "", `${name || "no kernel"}: ${count(bad)} of ${count(all)} tasks are wrong`),
      ),
  );
}
if (!firsts.length)
  answer(
    el(
      "b",
      "",
      {
        agree: "All that was compared agrees: " + count(data.judged) + " of " + count(data.judgeable) + " tasks",
        damaged: "Records are damaged; nothing that could be judged is wrong",
        failed: "The run failed: " + data.failure,
        race: "Tasks that touch the same bytes have no order; each does right by what it read",
        differ: "Values differ, and no task is known to have introduced it",
        unjudged: "Nothing is known to be wrong, and not everything could be judged",
      }[data.verdict],
    ),
  );

// A closer look at the first wrong tasks. SVG is made of numbers and fixed words alone.
const rect = (x, y, width, height, fill, title) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" style="fill:${fill}"><title>${title}</title></rect>`;
const text = (x, y, anchor, words) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
const svg = (width, height, label, body) => {
  const box = el("div", "");
  box.innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${body}</svg>`;
  return box;
};
const short = value =>
    value >= 1e-3 && value < 1e5
      ? String(Number(value.toPrecision(2)))
      : value.toExponential(1).replace("e+", "e").replace(".0e", "e"),
  tag = name => el("span", "tag " + name);
if (firsts.length)
  by("firsts").append(el("h2", "", firsts.length > 1 ? "Where errors begin" : "Where the error begins"));
for (const first of firsts.filter((first, n) => n < 1 || first.outputs.length)) {
  const card = el(
    "div",
    "card",
    el("b", "", first.kernel || "task"),
    " ",
    button(first.id, "link", () => choose(first.task, true)),
    el("span", "dim", " " + behind(first.downstream)),
    items(first.compared),
  );
  for (const output of first.outputs) card.append(closer(output));
  by("firsts").append(card);
}
function closer(output) {
  const [rows, columns] = output.map.tensor,
    flat = output.shape.length > 2 ? "; a row is all but the last dimension, counted through" : "";
  const left = el(
    "div",
    "",
    el(
      "div",
      "dim",
      `Largest error by place: ${count(rows)} × ${count(columns)}` +
        (output.map.cell > 1 ? `, a cell is up to ${count(output.map.cell)} elements` : "") +
        flat,
    ),
    ...heat(output.map),
  );
  const right = el("div", "");
  if (output.histogram)
    right.append(
      el("div", "dim", "Number of elements (log scale) by absolute error"),
      bars(output.histogram),
    );
  right.append(
    el("div", "dim", "The worst elements, index and value"),
    ...output.worst.map(worst => el("div", "mono", worst)),
  );
  return el(
    "div",
    "",
    el("p", "mono", `output argument ${output.argument}, ${output.dtype} [${output.shape.join(", ")}]`),
    items(output.looks_like.map(look => "looks like " + look)),
    el("div", "split", left, right),
  );
}
function heat(map) {
  const size = Math.max(7, Math.min(20, Math.floor(512 / map.columns))),
    high = map.rows > 1 ? size : 28,
    left = 52,
    top = 20;
  // Where in the tensor a cell begins.
  const row = cell => Math.ceil((cell * map.tensor[0]) / map.rows);
  const column = cell => Math.ceil((cell * map.tensor[1]) / map.columns);
  const errors = map.largest.filter((error, at) => error !== null && map.beyond[at]),
    least = Math.log10(Math.min(...errors)),
    most = Math.log10(Math.max(...errors));
  let body = rect(left, top, map.columns * size, map.rows * high, "var(--line)", "no error");
  map.largest.forEach((error, at) => {
    if (error === 0) return;
    const r = Math.floor(at / map.columns),
      c = at % map.columns,
      part = most > least ? (Math.log10(error) - least) / (most - least) : 1;
    const fill =
      error === null
        ? "var(--odd)"
        : map.beyond[at]
          ? `color-mix(in oklab, var(--hot) ${Math.round(100 * part)}%, var(--cold))`
          : "var(--clean)";
    const place = `row ${row(r)}, column ${column(c)}`, largest = error === null ? "not finite" : short(error);
    const title = `${place}: ${map.beyond[at]} out of tolerance, largest error ${largest}`;
    body += rect(left + c * size, top + r * high, size, high, fill, title);
  });
  let lines = "";
  for (let c = 1; c < map.columns; c++) lines += `M${left + c * size} ${top}v${map.rows * high}`;
  for (let r = 1; r < map.rows; r++) lines += `M${left} ${top + r * high}h${map.columns * size}`;
  body += `<path class="grid" d="${lines}"/>`;
  const every = (cells, pixels, room) =>
    [1, 2, 4, 8, 16, 32, 64].find(step => step * pixels >= room || step >= cells);
  for (let c = 0; c < map.columns; c += every(map.columns, size, 40))
    body += text(left + (c + 0.5) * size, top - 6, "middle", column(c));
  for (let r = 0; r < map.rows; r += every(map.rows, high, 20))
    body += text(left - 6, top + (r + 0.5) * high + 4, "end", row(r));
  const legend = el(
    "div",
    "dim key",
    el("span", "", tag("equal"), "no error"),
    el("span", "", tag("clean"), "within the tolerance"),
  );
  if (errors.length)
    legend.append(
      el(
        "span",
        "",
        "out of tolerance: ",
        ...(most > least ? [short(10 ** least), el("span", "scale")] : [tag("hot")]),
        short(10 ** most),
      ),
    );
  if (map.largest.includes(null)) legend.append(el("span", "", tag("odd"), "NaN or infinity"));
  return [
    svg(left + map.columns * size + 8, top + map.rows * high + 2, "map of errors by row and column", body),
    legend,
  ];
}

function bars(histogram) {
  const decades = new Map(histogram.decades),
    exponents = [...decades.keys()],
    all = [["0", histogram.zero, "var(--line)"]];
  for (let e = Math.min(...exponents); e <= Math.max(...exponents); e++)
    all.push(["1e" + e, decades.get(e) || 0, "var(--inherited)"]);
  if (histogram.not_finite) all.push(["NaN, inf", histogram.not_finite, "var(--odd)"]);
  const left = 64,
    width = 460,
    top = 16,
    high = 110,
    base = top + high,
    most = Math.max(...all.map(bar => bar[1])),
    wide = Math.min(64, width / all.length),
    height = n => (high * Math.log10(1 + n)) / Math.log10(1 + most);
  let body = `<g transform="translate(12 ${top + high / 2}) rotate(-90)">${text(0, 0, "middle", "elements")}</g>`;
  const rule = y => `<path class="rule" d="M${left} ${y}h${width}"/>`;
  for (let n = 1; n <= most; n *= most > 1e5 ? 100 : 10)
    body += rule(base - height(n)) + text(left - 6, base - height(n) + 4, "end", count(n));
  const step = Math.ceil(44 / wide);
  all.forEach(([name, n, fill], i) => {
    const x = left + i * wide, tall = Math.max(2, height(n));
    if (n) body += rect(x + 1, base - tall, wide - 2, tall, fill, `${name}: ${n} elements`);
    if (n && wide >= 36) body += text(x + wide / 2, base - tall - 4, "middle", count(n));
    if (
      i === 0 ||
      (i % step === 0 && (!histogram.not_finite || i + step < all.length)) ||
      (i === all.length - 1 && histogram.not_finite)
    )
      body += text(x + wide / 2, base + 15, "middle", name);
  });
  body += rule(base) + text(left + width / 2, base + 32, "middle", "absolute error; 1e-3 stands for 1e-3 up to 1e-2");
  return svg(left + width + 28, base + 38, "histogram of absolute errors", body);
}

// The table: what is wrong first; all of it by search.
const order = everybody
  .slice()
  .sort((a, b) => VERDICTS.indexOf(verdict(b)) - VERDICTS.indexOf(verdict(a)) || a - b);
function list() {
  const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean),
    found = order.filter(t => {
      const text = tasks[t].slice(0, 3).join(" ").toLowerCase();
      return words.every(word => text.includes(word));
    });
  by("tasks").replaceChildren(
    ...found.slice(0, MANY).map(t =>
      el(
        "tr",
        "",
        el(
          "td",
          "",
          button(id(t), "link", () => choose(t, true)),
        ),
        el("td", "", kernel(t)),
        el("td", "", tag(verdict(t)), verdict(t)),
        el("td", "dim", what(t)),
      ),
    ),
  );
  by("found").textContent =
    count(found.length) + " tasks" + (found.length > MANY ? ", the first " + MANY + " are shown" : "");
}
by("search").addEventListener("input", list);
list();

const some = names =>
  names.slice(0, 50).join(", ") + (names.length > 50 ? " and " + count(names.length - 50) + " more" : "");
const notes = [...data.notes, ...data.tolerances.map(tolerance => "agreement: " + tolerance)];
for (const race of data.races) {
  const [first, second] = race.tasks.map((at) => data.tasks[at]);
  notes.push(`race between ${first.id} (${first.kernel}) and ${second.id} (${second.kernel}): ${race.how}, ${race.bytes} bytes`);
}
if (data.unaligned.by) notes.push("tasks matched by " + data.unaligned.by);
if (data.unaligned.here.length) notes.push("only here: " + some(data.unaligned.here));
if (data.unaligned.there.length) notes.push("only in the other dump: " + some(data.unaligned.there));
if (notes.length) by("notes").append(el("h2", "", "How it was compared"), items(notes));
