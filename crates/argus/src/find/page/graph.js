// The graph on a canvas: a block of tasks for each step of dependency, wrong tasks above all others.

// Up to so many tasks have room for names; up to so many lines can be told apart.
const FEW = 200, LINES = 1500;
// Pixels.
const TALLEST = 440;
const canvas = by("graph"), pen = canvas.getContext("2d");
// What is shown: tasks, whether a task is one of them, edges between them, layers and their headings.
let view = [], edges = [], layers = [], heads = [];
const here = new Uint8Array(tasks.length);
// Where it is: places count in boxes of the grid, a node is the part of a box that is painted.
const X = new Float32Array(tasks.length), Y = new Float32Array(tasks.length), depth = new Int32Array(tasks.length);
let box = [1, 1], node = [0.72, 0.72], middle = 0;
// How it is seen, in pixels of the device.
let scale = 1, panX = 0, panY = 0, ratio = 1;
let chosen = -1, waiting = false;

// Lays some of the tasks out.
function show(members) {
  const place = new Float32Array(tasks.length),
    few = members.length <= FEW;
  view = members;
  layers = [];
  heads = [];
  here.fill(0);
  members.forEach(t => (here[t] = 1));
  edges = data.edges.filter(([from, to]) => here[from] && here[to]);
  box = few ? [2.5, 1] : [1, 1];
  node = few ? [1.75, 0.62] : [0.72, 0.72];
  for (const t of view) {
    depth[t] = into[t].reduce(
      (most, from) => (here[from] && from < t ? Math.max(most, depth[from] + 1) : most),
      0,
    );
    (layers[depth[t]] ||= { tasks: [] }).tasks.push(t);
  }
  // Beside what they wait for, so that a chain of tasks keeps its height.
  for (const layer of layers) {
    const key = t => {
      const before = into[t].filter(from => here[from] && from < t);
      return before.length ? before.reduce((sum, from) => sum + place[from], 0) / before.length : 0;
    };
    const keys = new Map(layer.tasks.map(t => [t, key(t)]));
    layer.tasks
      .sort((a, b) => keys.get(a) - keys.get(b) || (id(a) < id(b) ? -1 : 1))
      .forEach((t, i) => (place[t] = (i + 0.5) / layer.tasks.length));
  }
  // Tall layers are folded into columns, long graphs into bands, where that makes tasks larger.
  const gap = few ? 0.3 : 1.5,
    tallest = layers.reduce((most, layer) => Math.max(most, layer.tasks.length), 1),
    shape = canvas.clientWidth / TALLEST;
  let best = { score: 0 };
  for (let rows = tallest; rows >= 1; rows = Math.min(rows - 1, Math.floor(rows * 0.9))) {
    const columns = layers.reduce(
      (sum, layer) => sum + Math.ceil(layer.tasks.length / rows) * box[0] + gap,
      0,
    );
    for (let bands = 1; bands <= Math.min(layers.length, 64); bands++) {
      const score =
        Math.min(shape / (columns / bands), 1 / (bands * (rows + 1.5))) *
        (bands > 1 ? 0.5 : 1) *
        (rows < tallest ? 0.7 : 1);
      if (score > best.score) best = { score, rows, width: columns / bands };
    }
  }
  let x = 0,
    band = 0;
  middle = best.rows / 2;
  for (const layer of layers) {
    const n = layer.tasks.length,
      columns = Math.ceil(n / best.rows),
      lines = Math.ceil(n / columns),
      width = columns * box[0];
    if (x > 0 && x + width > best.width + 0.01) {
      x = 0;
      band += best.rows + 1.5;
    }
    layer.tasks.forEach((t, i) => {
      X[t] = x + ((i % columns) + 0.5) * box[0];
      Y[t] = band + ((Math.floor(i / columns) + 0.5) * best.rows) / lines;
    });
    // One heading for layers of the same kernels in a row.
    const names = [...new Set(layer.tasks.map(t => kernel(t) || "no kernel"))].sort();
    const kernels = names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
    const last = heads[heads.length - 1];
    if (last && last.kernels === kernels && last.y === band) {
      last.tasks += n;
      last.right = x + width;
    } else heads.push({ kernels, tasks: n, x, y: band, right: x + width });
    x += width + gap;
  }
  fit();
}

function fit() {
  let right = 1,
    bottom = 1;
  for (const t of view) {
    right = Math.max(right, X[t] + box[0] / 2);
    bottom = Math.max(bottom, Y[t] + 0.5);
  }
  canvas.style.height =
    Math.min(TALLEST, Math.max(200, bottom * Math.min(canvas.clientWidth / right, 76) + 64)) + "px";
  ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const head = 24 * ratio;
  scale = Math.min((canvas.width - head) / right, (canvas.height - 2 * head) / bottom, 76 * ratio);
  panX = (canvas.width - right * scale) / 2;
  panY = (canvas.height - bottom * scale) / 2;
  draw();
}

function draw() {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }
}

const sx = t => X[t] * scale + panX,
  sy = t => Y[t] * scale + panY;

function paint() {
  const style = getComputedStyle(document.documentElement),
    colour = name => style.getPropertyValue("--" + name).trim(),
    wide = node[0] * scale,
    high = node[1] * scale;
  const inside = t => {
    const x = sx(t),
      y = sy(t);
    return x > -wide && y > -high && x < canvas.width + wide && y < canvas.height + high;
  };
  const line = (from, to) => {
    const x1 = sx(from) + wide / 2,
      x2 = sx(to) - wide / 2,
      y1 = sy(from),
      y2 = sy(to),
      bend = Math.max(10, Math.abs(x2 - x1) / 2),
      over = depth[to] - depth[from] - 1;
    // Lines over more than one step swing around what lies between.
    const swing =
      view.length <= FEW && over > 0 && Math.abs(y1 - y2) < scale
        ? (Y[from] <= middle ? -1 : 1) * Math.min(1.6, 0.55 + 0.25 * over) * scale
        : 0;
    pen.moveTo(x1, y1);
    pen.bezierCurveTo(x1 + bend, y1 + swing, x2 - bend, y2 + swing, x2, y2);
  };
  const lines = (list, name, width) => {
    pen.beginPath();
    pen.strokeStyle = colour(name);
    pen.lineWidth = width * ratio;
    list.forEach(([from, to]) => line(from, to));
    pen.stroke();
  };
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  // Thousands of lines on top of each other say nothing: they come with zoom.
  const visible = edges.filter(([from, to]) => inside(from) || inside(to)),
    bad = visible.filter(([from, to]) => wrong(from) && wrong(to));
  if (visible.length <= LINES) lines(visible, "edge", 1);
  if (chosen >= 0)
    lines(
      [...into[chosen].map(from => [from, chosen]), ...out[chosen].map(to => [chosen, to])].filter(
        ([from, to]) => here[from] && here[to],
      ),
      "ink",
      1.5,
    );
  const labelled = wide > 30 * ratio,
    font = size => `${size * ratio}px system-ui, sans-serif`;
  const square = (t, w, h) => [sx(t) - w / 2, sy(t) - h / 2, w, h],
    size = (t, least) => square(t, Math.max(wide, least * ratio), Math.max(high, least * ratio));
  // Few wrong tasks are drawn larger than life; many are seen anyway.
  const least = {
    clean: 1,
    unknown: 2,
    damaged: 7,
    here_or_upstream: 11,
    inherited: data.counts.inherited > MANY ? 2 : 7,
    introduced: data.counts.introduced > MANY ? 3 : 11,
  };
  for (const name of VERDICTS) {
    if (name === "inherited" && bad.length <= LINES) lines(bad, name, 2);
    pen.fillStyle = colour(name);
    for (const t of view) if (verdict(t) === name && inside(t)) pen.fillRect(...size(t, least[name]));
  }
  const clip = text => {
    const room = wide - 6 * ratio,
      long = pen.measureText(text).width;
    return long <= room
      ? text
      : [...text].slice(0, Math.max(1, Math.floor((text.length * room) / long) - 1)).join("") + "…";
  };
  if (labelled)
    for (const t of view)
      if (inside(t)) {
        pen.fillStyle = verdict(t) === "introduced" ? "#fff" : colour("ink");
        const two = high > 34 * ratio;
        pen.font = (verdict(t) === "introduced" ? "bold " : "") + font(Math.min(14, (high / ratio) * 0.42));
        pen.fillText(clip(kernel(t) || brief(t)), sx(t), sy(t) - (two && kernel(t) ? 7 * ratio : 0));
        if (two && kernel(t)) {
          pen.font = font(11);
          pen.fillText(clip(brief(t)), sx(t), sy(t) + 10 * ratio);
        }
      }
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 2 * ratio;
  for (const first of firsts.slice(0, 8))
    if (inside(first.task)) {
      const [x, y, w, h] = size(first.task, least.introduced);
      pen.strokeRect(x - 2 * ratio, y - 2 * ratio, w + 4 * ratio, h + 4 * ratio);
    }
  pen.textAlign = "left";
  const halo = (text, x, y) => {
    pen.lineWidth = 5 * ratio;
    pen.lineJoin = "round";
    pen.strokeStyle = colour("card");
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  };
  pen.font = font(11);
  pen.fillStyle = colour("dim");
  if (view.length > FEW)
    for (const head of heads) {
      const room = (head.right - head.x + 1) * scale;
      if (room < 20 * ratio) continue;
      const heading = head.kernels + " × " + count(head.tasks);
      if (pen.measureText(heading).width <= room)
        halo(heading, head.x * scale + panX, head.y * scale + panY - 9 * ratio);
    }
  if (!labelled && data.counts.introduced <= MANY) {
    pen.font = "bold " + font(13);
    pen.fillStyle = colour("introduced");
    firsts.slice(0, 8).forEach(first => {
      if (inside(first.task))
        halo(named(first.task), sx(first.task) + 12 * ratio, sy(first.task) + 16 * ratio);
    });
  }
  if (chosen >= 0) {
    pen.strokeStyle = "#3b82d8";
    pen.lineWidth = 3 * ratio;
    const [x, y, w, h] = size(chosen, 9);
    pen.strokeRect(x - 3 * ratio, y - 3 * ratio, w + 6 * ratio, h + 6 * ratio);
  }
}

function tell(t) {
  const list = some =>
    some.length
      ? some.slice(0, 8).map(named).join(", ") +
        (some.length > 8 ? " and " + count(some.length - 8) + " more" : "")
      : "nobody";
  by("status").replaceChildren(
    ...(t < 0
      ? []
      : [
          el(
            "div",
            "",
            tag(verdict(t)),
            `${kernel(t)} ${id(t)}: ${verdict(t)}` + (what(t) ? "; " + what(t) : ""),
          ),
          el("div", "dim", `waits for ${list(into[t])}; awaited by ${list(out[t])}`),
        ]),
  );
}

function zoom(factor, x = canvas.width / 2, y = canvas.height / 2) {
  factor = Math.min(Math.max(scale * factor, 0.02), 400 * ratio) / scale;
  panX = x - (x - panX) * factor;
  panY = y - (y - panY) * factor;
  scale *= factor;
  draw();
}

function choose(t, bring) {
  chosen = t;
  tell(t);
  if (t >= 0 && bring) {
    if (!here[t]) views[0].click();
    if (node[0] * scale < 30 * ratio) scale = 60 * ratio;
    const margin = 40 * ratio;
    if (!(
      sx(t) > margin &&
      sy(t) > margin &&
      sx(t) < canvas.width - margin &&
      sy(t) < canvas.height - margin
    )) {
      panX = canvas.width / 2 - X[t] * scale;
      panY = canvas.height / 2 - Y[t] * scale;
    }
    canvas.scrollIntoView({ block: "nearest" });
  }
  draw();
}

const at = event => {
  const frame = canvas.getBoundingClientRect();
  return [(event.clientX - frame.left) * ratio, (event.clientY - frame.top) * ratio];
};

function under(event) {
  const [x, y] = at(event),
    reach = (t, side) => Math.max((node[side] * scale) / 2, (wrong(t) ? 6 : 2) * ratio);
  let found = -1;
  for (const t of view)
    if (Math.abs(sx(t) - x) <= reach(t, 0) && Math.abs(sy(t) - y) <= reach(t, 1) && (found < 0 || wrong(t)))
      found = t;
  return found;
}

// Mouse, touch and keys.
let held = null;
canvas.addEventListener("pointerdown", event => {
  held = { x: event.clientX, y: event.clientY, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", event => {
  if (!held) {
    const t = under(event);
    canvas.style.cursor = t < 0 ? "grab" : "pointer";
    tell(t < 0 ? chosen : t);
    return;
  }
  if (!held.moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 4) return;
  panX += (event.clientX - held.x) * ratio;
  panY += (event.clientY - held.y) * ratio;
  held = { x: event.clientX, y: event.clientY, moved: true };
  draw();
});
canvas.addEventListener("pointerup", event => {
  if (held && !held.moved) choose(under(event), false);
  held = null;
});
canvas.addEventListener("pointercancel", () => (held = null));
canvas.addEventListener("pointerleave", () => tell(chosen));
canvas.addEventListener(
  "wheel",
  event => {
    if (event.ctrlKey || document.activeElement === canvas) {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * 0.0015), ...at(event));
    }
  },
  { passive: false },
);
canvas.addEventListener("keydown", event => {
  const beside = step => {
      const row = layers[depth[chosen]].tasks,
        next = row[row.indexOf(chosen) + step];
      return next === undefined ? chosen : next;
    },
    along = list => list.find(t => wrong(t)) ?? list[0] ?? chosen;
  const moves = {
    ArrowLeft: () => along(into[chosen]),
    ArrowRight: () => along(out[chosen]),
    ArrowUp: () => beside(-1),
    ArrowDown: () => beside(1),
  };
  const acts = {
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: fit,
    Escape: () => choose(-1, false),
  };
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    !tasks.length ||
    !(event.key in moves || event.key in acts)
  )
    return;
  event.preventDefault();
  if (event.key in acts) acts[event.key]();
  else choose(chosen < 0 || !here[chosen] ? (firsts[0]?.task ?? view[0]) : moves[event.key](), true);
});

// The line above the graph: what the colours mean, how many there are, and buttons.
const legend = by("legend"),
  views = [];
for (const name of [...VERDICTS].reverse())
  legend.append(el("span", "", tag(name), el("strong", "", count(data.counts[name])), " " + name.replaceAll("_", " ")));
legend.append(el("span", "grow"));
const offer = (text, members) => {
  const it = button(text, "", () => {
    views.forEach(other => other.setAttribute("aria-pressed", other === it));
    if (chosen >= 0 && !members.includes(chosen)) choose(-1, false);
    show(members);
  });
  views.push(it);
  return it;
};
const close = everybody.filter(t => wrong(t) || into[t].some(wrong) || out[t].some(wrong));
offer("All tasks", everybody);
offer("Wrong tasks and neighbours", close);
if (close.length && close.length < tasks.length && tasks.length > 40) legend.append(...views);
const controls = el("span", "");
[
  ["+", "zoom in", () => zoom(1.5)],
  ["−", "zoom out", () => zoom(1 / 1.5)],
  ["Fit", "show the whole graph", fit],
].forEach(([text, label, act]) => {
  const it = button(text, "", act);
  it.setAttribute("aria-label", label);
  controls.append(it, " ");
});
legend.append(controls);
window.addEventListener("resize", fit);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
views[0].click();
tell(-1);
