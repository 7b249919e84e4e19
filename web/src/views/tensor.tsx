// A tensor of any size: a pyramid of tiles, values when near, and the same place in what belongs to it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { amend, go } from "../address.ts";
import type { Box, Camera, Size } from "../draw/camera.ts";
import { pan, read, reveal, seen, toScreen, toWorld, write, zoom } from "../draw/camera.ts";
import { Surface } from "../draw/surface.ts";
import type { Channel, Scale } from "../draw/tensor-gl.ts";
import { CHANNELS, TensorGl } from "../draw/tensor-gl.ts";
import type { Plane, Spot } from "../draw/tensor-model.ts";
import { closeUp, elementOf, fitPlane, levelFor, spotOf, TILE, tilesIn, unravel, usualRange } from "../draw/tensor-model.ts";
import type { TileKey } from "../draw/tiles.ts";
import { Tiles } from "../draw/tiles.ts";
import { useShell } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { Choice, Facts, Failure, Link, Waiting } from "../shell/parts.tsx";
import { css, useTheme } from "../shell/theme.ts";
import { bytes, count, shape, value } from "../text.ts";
import type { TensorInfo } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import type { Tile } from "../wire/decode.ts";
import { useLoad } from "../wire/load.ts";

interface Pane {
  name: string;
  about: string;
  dump: number;
  record: number;
  of: "value" | "reference" | "difference";
}

interface Props {
  dump: number;
  record: number;
  query: Record<string, string>;
}

export function TensorView(props: Props) {
  const { dump, record, query } = props;
  const shell = useShell();
  const loaded = useLoad(`${dump}/record/${record}`, shell.generation(dump), () => api.record(dump, record));
  const [otherDump, otherRecord] = (query["with"] ?? "").split(":").map(Number);
  const withOther = Number.isInteger(otherDump) && Number.isInteger(otherRecord) && shell.session.dumps[otherDump] !== undefined;
  const other = useLoad(withOther ? `${otherDump}/record/${otherRecord}` : null, 0, () => api.record(otherDump, otherRecord));
  const info = loaded.value;
  if (loaded.error && !info) return <Failure error={loaded.error} />;
  if (!info || (withOther && !other.value && !other.error)) return <Waiting for="reading the tensor" />;
  if (info.values_missing || !(info.rows > 0 && info.cols > 0)) return <NoValues dump={dump} info={info} />;
  return <Shown {...props} info={info} other={withOther && other.value ? { dump: otherDump, info: other.value } : null} />;
}

function NoValues(props: { dump: number; info: TensorInfo }) {
  const { info, dump } = props;
  useKeys("Tensor", [{ keys: ["Escape"], about: "back to the task", run: () => info.task != null && go({ view: "task", dump, item: info.task, query: { arg: String(info.arg_index) } }) }]);
  return (
    <div class="column" data-ready="tensor">
      <h1 class="mono">{info.kernel ?? "no kernel"} arg {info.arg_index}</h1>
      <p>{info.values_missing ?? "This tensor has no elements."}</p>
      {info.task != null && <Link to={{ view: "task", dump, item: info.task }}>back to the task</Link>}
    </div>
  );
}

/** The panes of a tensor: itself, the other stage, what it should be, and by how much it is not. */
function panesOf(dump: number, info: TensorInfo, other: { dump: number; info: TensorInfo } | null): Pane[] {
  const own: Pane = { name: info.stage.startsWith("before") ? "before" : "after", about: "", dump, record: info.index, of: "value" };
  const panes: Pane[] = [own];
  if (info.sibling != null) {
    const sibling: Pane = { name: own.name === "before" ? "after" : "before", about: "", dump, record: info.sibling, of: "value" };
    if (own.name === "before") panes.push(sibling);
    else panes.unshift(sibling);
  }
  if (info.reference) {
    const about = info.reference.with ?? info.reference.kind;
    panes.push({ name: "reference", about, dump, record: info.index, of: "reference" });
    panes.push({ name: "difference", about: `from the ${info.reference.kind}`, dump, record: info.index, of: "difference" });
  }
  if (other) panes.push({ name: "other dump", about: other.info.stage.startsWith("before") ? "before" : "after", dump: other.dump, record: other.info.index, of: "value" });
  return panes;
}

/** What can be looked for in a tensor. */
const SOUGHT = [
  { key: "e", what: "wrong", about: "next wrong element", words: "wrong element" },
  { key: "n", what: "nan", about: "next NaN", words: "NaN" },
  { key: "i", what: "inf", about: "next infinity", words: "infinity" },
  { key: "u", what: "unwritten", about: "next element that was never written", words: "unwritten element" },
];

const TITLE = 22;
// Pixels of a cell from which on its value has room.
const VALUE_WIDE = 52;
const VALUE_TALL = 15;
const LARGEST = 110;

/** Panes beside each other, or above each other where there is little width. */
function layOut(n: number, size: Size): Box[] {
  const columns = n === 1 ? 1 : size.width < 560 ? 1 : n === 4 ? 2 : size.width < 900 && n > 2 ? 2 : n;
  const rows = Math.ceil(n / columns);
  return Array.from({ length: n }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const [x0, y0] = [(size.width * column) / columns + (column ? 3 : 0), (size.height * row) / rows + TITLE];
    return { x0, x1: Math.max(x0 + 1, (size.width * (column + 1)) / columns), y0, y1: Math.max(y0 + 1, (size.height * (row + 1)) / rows - 3) };
  });
}

function Shown(props: Props & { info: TensorInfo; other: { dump: number; info: TensorInfo } | null }) {
  const { dump, info, query, other } = props;
  const shell = useShell();
  const theme = useTheme();
  const plane: Plane = info;
  const Histogram = shell.parts.histogram;
  const finest = info.finest ?? 0;
  // A report has a picture of the tensor, not its elements: there is nothing to look for things in.
  const whole = info.finest === undefined;
  const all = useMemo(() => panesOf(dump, info, other), [dump, info, other]);
  const named = all.find(pane => pane.of === query["of"]) ?? all.find(pane => pane.name === query["of"]);
  const active = named ?? all.find(pane => pane.record === info.index && pane.dump === dump)!;
  const solo = query["solo"] === "1" || all.length === 1;
  const shown = solo ? [active] : all;
  const channel: Channel = CHANNELS.find(name => name === query["show"]) ?? "mean";
  const log = query["scale"] === "log";

  const spot = spotIn(query, info);
  const element = elementOf(spot, plane);
  const total = (info.shape ?? []).reduce((product, n) => product * n, 1);
  const range = useMemo(() => usualRange(info.histogram, info.statistics?.min, info.statistics?.max), [info]);
  const signed = range[0] < 0 && range[1] > 0;

  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | null>(null);
  const gl = useRef<TensorGl | null>(null);
  const tiles = useRef<Tiles | null>(null);
  const camera = useRef<Camera>({ x: 0, y: 0, sx: 1, sy: 1 });
  const settle = useRef(0);
  const [, arrived] = useState(0);
  const [noGl, setNoGl] = useState(false);

  const paneSize = (): Size => {
    const box = layOut(now.current.shown.length, surface.current!.size)[0];
    return { width: box.x1 - box.x0, height: box.y1 - box.y0 };
  };
  const look = (next: Camera) => {
    const box = 0.5;
    camera.current = { ...next, x: Math.min(Math.max(next.x, -box), plane.cols + box), y: Math.min(Math.max(next.y, -box), plane.rows + box) };
    surface.current?.ask();
    clearTimeout(settle.current);
    settle.current = window.setTimeout(() => amend({ zoom: write(camera.current) }), 250);
  };
  /** The pane under a pixel, and the pixel inside it. */
  const inPane = (px: number, py: number): [number, number, number] | null => {
    const boxes = layOut(now.current.shown.length, surface.current!.size);
    const i = boxes.findIndex(box => px >= box.x0 && px < box.x1 && py >= box.y0 && py < box.y1);
    return i < 0 ? null : [i, px - boxes[i].x0, py - boxes[i].y0];
  };
  const limits = (): [number, number] => [fitPlane(plane, paneSize(), LARGEST).sx / 2, LARGEST];
  const zoomCentre = (factor: number) => {
    const size = paneSize();
    const [px, py] = toScreen(camera.current, size, spot.col + 0.5, spot.row + 0.5);
    const inside = px >= 0 && py >= 0 && px <= size.width && py <= size.height;
    look(zoom(camera.current, size, inside ? px : size.width / 2, inside ? py : size.height / 2, factor, ...limits()));
  };
  const goNear = () => look(closeUp(plane, paneSize(), spot));
  const fitAll = () => {
    clearTimeout(settle.current);
    camera.current = fitPlane(plane, paneSize(), LARGEST);
    surface.current?.ask();
    amend({ zoom: "" });
  };

  const moveTo = (to: Spot) => {
    const place: Spot = {
      plane: Math.min(plane.planes - 1, Math.max(0, to.plane)),
      row: Math.min(plane.rows - 1, Math.max(0, to.row)),
      col: Math.min(plane.cols - 1, Math.max(0, to.col)),
    };
    if (elementOf(place, plane) >= total) return;
    amend({ plane: place.plane ? String(place.plane) : "", row: String(place.row), col: String(place.col), element: "" });
    if (surface.current) {
      const next = reveal(camera.current, paneSize(), place.col + 0.5, place.row + 0.5, 60);
      if (next !== camera.current) look(next);
    }
  };

  const find = async (what: string, words: string) => {
    try {
      let found = await api.find(dump, info.index, element + 1, what);
      let from = "";
      if (found.element === null) {
        found = await api.find(dump, info.index, 0, what);
        from = ", from the beginning";
      }
      if (found.element === null) shell.say(`no ${words} in this tensor`);
      else {
        shell.say(`${words} at [${(found.index ?? unravel(found.element, info.shape ?? [])).join(", ")}]${from}`);
        moveTo(spotOf(found.element, plane));
        if (!valuesShown(camera.current)) {
          look(closeUp(plane, paneSize(), spotOf(found.element, plane)));
        }
      }
    } catch (error) {
      shell.say(error instanceof Error ? error.message : String(error));
    }
  };

  const tileKey = (pane: Pane, level: number, row: number, col: number): TileKey => ({ dump: pane.dump, record: pane.record, of: pane.of, plane: spot.plane, level, row, col });
  /** The finest tile that an element is in. */
  const finestKey = (pane: Pane, row: number, col: number) => tileKey(pane, finest, Math.floor(row / 2 ** finest / TILE), Math.floor(col / 2 ** finest / TILE));
  const cellAt = (pane: Pane, row: number, col: number): { tile: Tile; i: number } | null => {
    const tile = tiles.current?.get(finestKey(pane, row, col))?.tile;
    const [r, c] = [Math.floor(row / 2 ** finest) % TILE, Math.floor(col / 2 ** finest) % TILE];
    return !tile || r >= tile.rows || c >= tile.cols ? null : { tile, i: r * tile.cols + c };
  };
  const valueAt = (pane: Pane, row: number, col: number): { value: number; unwritten: boolean } | null => {
    const cell = cellAt(pane, row, col);
    return cell?.tile.value ? { value: cell.tile.value[cell.i], unwritten: cell.tile.odd[cell.i] >>> 16 > 0 } : null;
  };
  /** What is known of an element: its value, or the range of the cell it is in. */
  const textAt = (pane: Pane, row: number, col: number): string => {
    const cell = cellAt(pane, row, col);
    if (!cell) return tiles.current?.error(finestKey(pane, row, col)) ? "-" : "…";
    const { tile, i } = cell;
    if (tile.odd[i] >>> 16 > 0) return "unwritten";
    if (tile.value) return value(tile.value[i], 9);
    if (tile.odd[i] & 0xffff) return "NaN or inf";
    return tile.min[i] === tile.max[i] ? value(tile.min[i], 6) : `${value(tile.min[i], 4)} … ${value(tile.max[i], 4)}`;
  };

  const scaleOf = (pane: Pane): Scale => {
    if (pane.of === "difference") {
      const top = tiles.current?.get(tileKey(pane, plane.levels - 1, 0, 0));
      let high = 0;
      if (top) for (const list of [top.tile.min, top.tile.max]) for (const v of list) if (Number.isFinite(v)) high = Math.max(high, Math.abs(v));
      return { low: 0, high: high || 1, kind: "errors", log: true };
    }
    const reach = Math.max(Math.abs(range[0]), Math.abs(range[1]));
    return signed ? { low: -reach, high: reach, kind: "signed", log } : { low: range[0], high: range[1], kind: "values", log };
  };

  const draw = (s: Surface) => {
    if (!gl.current || !tiles.current) return;
    const boxes = layOut(shown.length, s.size);
    gl.current.clear(s.ratio, s.size);
    const wanted: TileKey[] = shown.map(pane => tileKey(pane, plane.levels - 1, 0, 0));
    const level = Math.max(finest, levelFor(camera.current, plane.levels));
    shown.forEach((pane, i) => {
      const box = boxes[i];
      const size = { width: box.x1 - box.x0, height: box.y1 - box.y0 };
      const box2 = seen(camera.current, size);
      gl.current!.pane(s.ratio, s.size, box);
      gl.current!.scale(camera.current, size, scaleOf(pane), pane.of === "difference" && query["show"] === undefined ? "largest" : channel, valuesShown(camera.current));
      // Coarser tiles first: they stand in for what is not here yet.
      const levels = [...new Set([plane.levels - 1, Math.min(plane.levels - 1, level + 2), Math.min(plane.levels - 1, level + 1), level])].sort((a, b) => b - a);
      for (const at of levels) {
        const side = TILE * 2 ** at;
        for (const [row, col] of tilesIn(box2, at, plane)) {
          const ready = tiles.current!.get(tileKey(pane, at, row, col));
          if (ready) {
            gl.current!.tile(ready, { x0: col * side, y0: row * side, x1: Math.min(plane.cols, col * side + ready.tile.cols * 2 ** at), y1: Math.min(plane.rows, row * side + ready.tile.rows * 2 ** at) });
          }
          if (at === level) wanted.push(tileKey(pane, at, row, col));
        }
      }
      words(s, pane, box, size, box2);
    });
    wanted.push(...all.map(pane => finestKey(pane, spot.row, spot.col)));
    tiles.current.want(wanted);
    host.current!.dataset["settled"] = tiles.current.busy ? "no" : "yes";
  };

  /** What is written over a pane: its name, values when near, and the cursor. */
  const words = (s: Surface, pane: Pane, box: Box, size: Size, seenBox: Box) => {
    const { pen } = s;
    pen.textBaseline = "middle";
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillStyle = css(pane === active ? "ink" : "dim");
    pen.fillText(pane.name, box.x0 + 8, box.y0 - TITLE / 2);
    if (pane.about && size.width > 240) {
      const at = pen.measureText(pane.name).width;
      pen.font = "11px system-ui, sans-serif";
      pen.fillStyle = css("dim");
      pen.fillText(pane.about, box.x0 + 16 + at, box.y0 - TITLE / 2, Math.max(10, size.width - at - 24));
    }
    pen.save();
    pen.beginPath();
    pen.rect(box.x0, box.y0, size.width, size.height);
    pen.clip();
    pen.translate(box.x0, box.y0);
    const failed = tiles.current!.error(tileKey(pane, plane.levels - 1, 0, 0));
    if (failed) {
      pen.fillStyle = css("dim");
      pen.font = "12px system-ui, sans-serif";
      pen.fillText(failed.message, 10, 16, size.width - 20);
    }
    const { sx, sy } = camera.current;
    if (valuesShown(camera.current)) {
      pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
      pen.textAlign = "center";
      pen.fillStyle = css("ink");
      const digits = sx > 90 ? 7 : sx > 66 ? 6 : 4;
      for (let row = Math.max(0, Math.floor(seenBox.y0)); row <= Math.min(plane.rows - 1, seenBox.y1); row++) {
        for (let col = Math.max(0, Math.floor(seenBox.x0)); col <= Math.min(plane.cols - 1, seenBox.x1); col++) {
          const at = valueAt(pane, row, col);
          if (!at) continue;
          const [x, y] = toScreen(camera.current, size, col + 0.5, row + 0.5);
          const text = at.unwritten ? "unwritten" : value(at.value, digits);
          pen.fillText(text, x, y, sx - 6);
        }
      }
      pen.textAlign = "left";
    }
    const [x, y] = toScreen(camera.current, size, spot.col, spot.row);
    const [w, h] = [Math.max(7, sx), Math.max(7, sy)];
    const [left, top] = [x + sx / 2 - w / 2, y + sy / 2 - h / 2];
    pen.lineWidth = 4;
    pen.strokeStyle = css("paper", 0.8);
    pen.strokeRect(left, top, w, h);
    pen.lineWidth = 2;
    pen.strokeStyle = css("accent");
    pen.strokeRect(left, top, w, h);
    pen.restore();
    if (pane === active && shown.length > 1) {
      pen.fillStyle = css("accent");
      pen.fillRect(box.x0, box.y0 - 2, size.width, 2);
    }
  };
  const paint = useRef(draw);
  paint.current = draw;
  const now = useRef({ shown, moveTo, spot });
  now.current = { shown, moveTo, spot };

  useEffect(() => {
    const made = new Surface(host.current!, s => paint.current(s), {
      drag: (dx, dy) => look(pan(camera.current, dx, dy)),
      scroll: (dx, dy) => look(pan(camera.current, -dx, -dy)),
      zoom: (px, py, factor) => {
        const at = inPane(px, py);
        if (at) look(zoom(camera.current, paneSize(), at[1], at[2], factor, ...limits()));
      },
      click: (px, py) => {
        const at = inPane(px, py);
        if (!at) return;
        const [x, y] = toWorld(camera.current, paneSize(), at[1], at[2]);
        const pane = now.current.shown[at[0]];
        amend({ of: pane.of === "value" ? pane.name : pane.of });
        if (x >= 0 && y >= 0 && x < plane.cols && y < plane.rows) now.current.moveTo({ plane: now.current.spot.plane, row: Math.floor(y), col: Math.floor(x) });
      },
    }, true);
    surface.current = made;
    if (made.gl) {
      gl.current = new TensorGl(made.gl);
      tiles.current = new Tiles(made.gl, () => {
        made.ask();
        arrived(n => n + 1);
      });
    } else setNoGl(true);
    const kept = read(query["zoom"]);
    if (kept) camera.current = kept;
    else if (query["element"] !== undefined || query["row"] !== undefined) {
      const fitted = fitPlane(plane, paneSize(), LARGEST);
      camera.current = valuesShown(fitted) ? fitted : closeUp(plane, paneSize(), spot);
    }
    else camera.current = fitPlane(plane, paneSize(), LARGEST);
    return () => {
      clearTimeout(settle.current);
      tiles.current?.close();
      made.close();
    };
  }, []);
  useEffect(() => surface.current?.ask());
  useEffect(() => surface.current?.ask(), [theme]);

  const cycle = <T extends string>(list: readonly T[], at: T) => list[(list.indexOf(at) + 1) % list.length];
  const half = () => {
    const box = seen(camera.current, paneSize());
    return { rows: Math.max(1, Math.floor((box.y1 - box.y0) / 2)), cols: Math.max(1, Math.floor((box.x1 - box.x0) / 2)) };
  };
  // A tensor of one dimension continues in the next row; others end where their rows end.
  const folded = (info.shape?.length ?? 0) < 2;
  const by = (rows: number, cols: number) => moveTo(folded && rows === 0 ? spotOf(Math.max(0, Math.min(total - 1, element + cols)), plane) : { ...spot, row: spot.row + rows, col: spot.col + cols });
  const back = () => (info.task != null ? go({ view: "task", dump, item: info.task, query: { arg: String(info.arg_index) } }) : go({ view: "overview", dump }));
  useKeys("Tensor", [
    { keys: ["h", "ArrowLeft"], about: "column before", run: () => by(0, -1) },
    { keys: ["l", "ArrowRight"], about: "column after", run: () => by(0, 1) },
    { keys: ["k", "ArrowUp"], about: "row above", run: () => by(-1, 0) },
    { keys: ["j", "ArrowDown"], about: "row below", run: () => by(1, 0) },
    { keys: ["H", "Shift+ArrowLeft"], about: "half a screen left", run: () => by(0, -half().cols) },
    { keys: ["L", "Shift+ArrowRight"], about: "half a screen right", run: () => by(0, half().cols) },
    { keys: ["K", "Shift+ArrowUp"], about: "half a screen up", run: () => by(-half().rows, 0) },
    { keys: ["J", "Shift+ArrowDown"], about: "half a screen down", run: () => by(half().rows, 0) },
    { keys: ["PageDown", "]"], about: "next plane", run: () => moveTo({ ...spot, plane: spot.plane + 1 }) },
    { keys: ["PageUp", "["], about: "previous plane", run: () => moveTo({ ...spot, plane: spot.plane - 1 }) },
    ...(whole ? SOUGHT.map(({ key, what, about, words }) => ({ keys: [key], about, run: () => void find(what, words) })) : []),
    { keys: ["v"], about: "next pane", run: () => amend({ of: nameOf(all[(all.indexOf(active) + 1) % all.length]) }) },
    { keys: ["s"], about: "one pane, or all side by side", run: () => amend({ solo: solo ? "" : "1" }) },
    { keys: ["m"], about: "mean, min, max or largest size of a cell", run: () => amend({ show: cycle(CHANNELS, channel) }) },
    { keys: ["g"], about: "linear or logarithmic colours", run: () => amend({ scale: log ? "" : "log" }) },
    { keys: ["z", "Enter"], about: "go near, to see values", run: goNear },
    { keys: ["f"], about: "show all", run: fitAll },
    { keys: ["+", "="], about: "nearer", run: () => zoomCentre(1.5) },
    { keys: ["-"], about: "farther", run: () => zoomCentre(1 / 1.5) },
    { keys: ["Escape"], about: "back to the task", run: back },
  ]);

  const at = info.shape ? unravel(element, info.shape) : [element];
  const scale = scaleOf(active);
  const own = valueAt(all.find(pane => pane.of === "value" && pane.record === info.index && pane.dump === dump)!, spot.row, spot.col);
  return (
    <div class="stage">
      <div class="bar">
        <span><b class="mono">{info.kernel ?? "no kernel"}</b> <span class="dim">arg {info.arg_index}, {info.role ?? "role unknown"}</span> <span class="mono">{info.dtype} {shape(info.shape)}</span></span>
        {all.length > 1 && <Choice label="pane" of={all.map(nameOf)} value={nameOf(active)} pick={name => amend({ of: name })} words={Object.fromEntries(all.map(pane => [nameOf(pane), pane.name]))} />}
        {plane.planes > 1 && (
          <span class="planes">
            <button type="button" class="quiet" aria-label="previous plane" onClick={() => moveTo({ ...spot, plane: spot.plane - 1 })}>‹</button>
            plane <span class="mono">{spot.plane + 1}</span> of {count(plane.planes)}
            <button type="button" class="quiet" aria-label="next plane" onClick={() => moveTo({ ...spot, plane: spot.plane + 1 })}>›</button>
          </span>
        )}
        <span class="grow" />
        <span class="key dim">{value(scale.kind === "errors" ? 0 : scale.low, 3)}<i class={`scale ${scale.kind}`} />{value(scale.high, 3)}</span>
        <button type="button" class="quiet" onClick={fitAll}>fit <kbd>f</kbd></button>
      </div>
      <div class="split">
        <div class="picture tensor" ref={host} data-ready="tensor" data-element={element} tabIndex={-1}>
          {noGl && <div class="failure" role="alert"><b>This browser has no WebGL2</b><p>Tensors are drawn with it.</p></div>}
        </div>
        <aside class="inspector" aria-label="element">
          <div class="head mono"><b>[{at.join(", ")}]</b> <span class="dim">element {count(element)}</span></div>
          <table class="values">
            <tbody>
              {all.map(pane => {
                return <tr key={pane.name} class={pane === active ? "chosen" : ""}><td>{pane.name}</td><td class="n mono" data-value={nameOf(pane)}>{textAt(pane, spot.row, spot.col)}</td></tr>;
              })}
            </tbody>
          </table>
          {whole && (
            <div class="links">
              {info.reference && <button type="button" class="quiet" onClick={() => void find("wrong", "wrong element")}>next wrong <kbd>e</kbd></button>}
              <button type="button" class="quiet" onClick={() => void find("nan", "NaN")}>next NaN <kbd>n</kbd></button>
            </div>
          )}
          {finest > 0 && <p class="dim small">The report shows cells of {2 ** finest} × {2 ** finest} elements.</p>}
          {Histogram && info.histogram && info.histogram.counts.length > 0 && <><h3>Values</h3><Histogram edges={info.histogram.edges} counts={info.histogram.counts} mark={own && !own.unwritten ? own.value : null} /></>}
          {info.statistics && (
            <Facts rows={[
              ["min", <span class="mono">{value(info.statistics.min)}</span>],
              ["max", <span class="mono">{value(info.statistics.max)}</span>],
              ["mean", <span class="mono">{value(info.statistics.mean)}</span>],
              ["std", <span class="mono">{value(info.statistics.std)}</span>],
              ["NaN", <Odd n={info.statistics.nan} />],
              ["inf", <Odd n={info.statistics.inf} />],
              ["unwritten", <Odd n={info.statistics.unwritten ?? 0} />],
              ["zero", count(info.statistics.zero ?? 0)],
            ]} />
          )}
          <Facts rows={[
            ["stage", info.stage.replaceAll("_", " ")],
            ["address", <span class="mono">{info.address ?? "unknown"}</span>],
            ["strides", <span class="mono">{info.strides?.join(", ") ?? "unknown"}</span>],
            ["bytes", bytes(info.bytes)],
            ["record", String(info.index)],
          ]} />
          {info.task != null && <div class="links"><Link to={{ view: "task", dump, item: info.task, query: { arg: String(info.arg_index) } }}>task <kbd>esc</kbd></Link></div>}
        </aside>
      </div>
    </div>
  );
}

function Odd(props: { n: number }) {
  return <span class={props.n ? "bad" : ""}>{count(props.n)}</span>;
}

function nameOf(pane: Pane): string {
  return pane.of === "value" ? pane.name : pane.of;
}

function spotIn(query: Record<string, string>, p: Plane): Spot {
  const whole = (text: string | undefined) => (text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0);
  const place = query["element"] !== undefined ? spotOf(whole(query["element"]), p) : { plane: whole(query["plane"]), row: whole(query["row"]), col: whole(query["col"]) };
  return { plane: Math.min(p.planes - 1, place.plane), row: Math.min(p.rows - 1, place.row), col: Math.min(p.cols - 1, place.col) };
}

function valuesShown(camera: Camera): boolean {
  return camera.sx >= VALUE_WIDE && camera.sy >= VALUE_TALL;
}
