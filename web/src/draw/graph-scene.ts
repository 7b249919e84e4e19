// How the graph is drawn at each distance: squares and bundles from afar, boxes, names and single edges when near.

import { NONE } from "../wire/decode.ts";
import type { Graph, Tasks } from "../wire/decode.ts";
import { colour, css } from "../shell/theme.ts";
import { shortId, short } from "../text.ts";
import type { Camera } from "./camera.ts";
import { seen, toScreen } from "./camera.ts";
import type { ColourBy } from "./colours.ts";
import { isWrong, kernelColour, taskColours } from "./colours.ts";
import { GraphGl } from "./graph-gl.ts";
import type { Model } from "./graph-model.ts";
import { consumers, firstAt, producers, within } from "./graph-model.ts";
import type { Surface } from "./surface.ts";

export interface Showing {
  tasks: Tasks;
  graph: Graph;
  laid: Model;
  by: ColourBy;
  chosen: number | null;
  onlyKernel: number | null;
  /** Tasks an error went through, in order. */
  way: number[];
  /** Tasks that have the error from them. */
  inherited: number[];
}

// Up to so many tasks in sight are boxes, up to so many edges are drawn one by one.
const BOXES = 2500;
const EDGES = 6000;
// Up to so many edges are smooth curves.
const CURVES = 1500;
// Bundles of edges, the strongest.
const BUNDLES = 1500;
// Pixels of a unit from which on a box has room for words.
const WORDS_FROM = 24;
const HALF_WIDTH = 0.4;
const HALF_HEIGHT = 0.34;

export class GraphScene {
  private readonly gl: GraphGl;
  private shown: Showing | null = null;
  private colours: Uint8Array = new Uint8Array(0);
  private wrong: number[] = [];
  private bundles: number[] = [];
  private onWay = new Set<number>();

  constructor(gl: WebGL2RenderingContext) {
    this.gl = new GraphGl(gl);
  }

  show(showing: Showing): void {
    const { tasks, laid, graph } = showing;
    const last = this.shown;
    this.shown = showing;
    this.colours = taskColours(tasks, showing.by);
    this.onWay = new Set(showing.way);
    const faded = showing.onlyKernel !== null || showing.way.length > 1;
    if (faded) {
      const stained = new Set(showing.inherited);
      const paper = colour("paper");
      for (let t = 0; t < tasks.n; t++) {
        const kept = showing.onlyKernel !== null ? tasks.kernel[t] === showing.onlyKernel : this.onWay.has(t) || stained.has(t) || t === showing.chosen;
        if (!kept) for (let c = 0; c < 3; c++) this.colours[4 * t + c] = this.colours[4 * t + c] * 0.35 + paper[c] * 0.65;
      }
    }
    const place = new Float32Array(2 * laid.n);
    const paint = new Uint8Array(4 * laid.n);
    laid.order.forEach((t, i) => {
      place[2 * i] = laid.x[t];
      place[2 * i + 1] = laid.y[t];
      for (let c = 0; c < 4; c++) paint[4 * i + c] = this.colours[4 * t + c];
    });
    this.gl.setTasks(place, paint);
    if (last?.tasks !== tasks) {
      this.wrong = [];
      for (let t = 0; t < laid.n; t++) if (isWrong(tasks.verdict[t])) this.wrong.push(t);
    }
    if (last?.graph !== graph) {
      const many = graph.bundles.length / 3;
      this.bundles = Array.from({ length: many }, (_, i) => i)
        .sort((a, b) => graph.bundles[3 * b + 2] - graph.bundles[3 * a + 2])
        .slice(0, BUNDLES);
    }
  }

  draw(surface: Surface, camera: Camera): void {
    if (!this.shown) return;
    const { gl } = this;
    const { laid } = this.shown;
    const { size } = surface;
    const box = seen(camera, size);
    gl.begin(surface.ratio, size);
    const near = camera.sx >= 7 || laid.stretch > 1 ? within(laid, box, BOXES) : null;
    if (near) {
      this.edges(surface, near, camera);
      gl.drawLines(camera, size);
      for (const t of near) this.box(t, HALF_WIDTH * laid.stretch, HALF_HEIGHT);
    } else {
      this.far(camera, surface);
      gl.drawLines(camera, size);
      gl.drawBoxes(camera, size);
      // Gaps between squares of few pixels would only shimmer.
      const side = Math.max(1.5, camera.sx < 3.5 ? camera.sx + 0.5 : camera.sx * 0.76) * surface.ratio;
      const first = firstAt(laid, box.x0 - 1);
      gl.drawPoints(camera, size, side, first, firstAt(laid, box.x1 + 1) - first);
      // What went wrong can be seen from any distance.
      const least = 3.5 / camera.sx;
      if (this.shown.by === "verdict") for (const t of this.wrong) this.box(t, Math.max(0.4, least), Math.max(0.4, least));
    }
    gl.drawBoxes(camera, size);
    this.marks(surface, camera, near !== null);
    if (near && camera.sx >= WORDS_FROM) this.words(surface, camera, near);
    if (!near) this.names(surface, camera);
  }

  private box(t: number, halfWidth: number, halfHeight: number): void {
    const { laid } = this.shown!;
    const [x, y] = [laid.x[t], laid.y[t]];
    this.gl.addBox(x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight, this.colours.subarray(4 * t, 4 * t + 3));
  }

  /** Edges of the tasks in sight. */
  private edges(surface: Surface, near: number[], camera: Camera): void {
    const { laid } = this.shown!;
    const total = near.reduce((sum, t) => sum + consumers(laid, t).length + producers(laid, t).length, 0);
    if (total > 4 * EDGES) return;
    const paint = colour("edge");
    const here = new Set(near);
    const half = HALF_WIDTH * laid.stretch;
    const { under } = surface;
    const add = total < 2 * CURVES
      ? (from: number, to: number) => curve(under, camera, surface, laid.x[from] + half, laid.y[from], laid.x[to] - half, laid.y[to])
      : (from: number, to: number) => this.gl.addCurve(laid.x[from] + half, laid.y[from], laid.x[to] - half, laid.y[to], 1, paint, 110);
    under.beginPath();
    for (const t of near) {
      for (const to of consumers(laid, t)) add(t, to);
      // The other end draws it when it is in sight.
      for (const from of producers(laid, t)) if (!here.has(from)) add(from, t);
    }
    under.strokeStyle = css("edge", camera.sx > 20 ? 1 : 0.6);
    under.lineWidth = camera.sx > 30 ? 1.4 : 1;
    under.stroke();
  }

  /** Groups of tasks of one kernel, and bundles of edges between them. */
  private far(camera: Camera, surface: Surface): void {
    const { graph, laid } = this.shown!;
    const { groups, bundles } = graph;
    if (groups.length > BUNDLES) return;
    const strongest = this.bundles.length ? bundles[3 * this.bundles[0] + 2] : 1;
    const paint = colour("edge");
    for (const i of this.bundles) {
      const [a, b] = [groups[bundles[3 * i]], groups[bundles[3 * i + 1]]];
      const alpha = 40 + 140 * Math.sqrt(bundles[3 * i + 2] / strongest);
      this.gl.addCurve(a.x1 * laid.stretch, (a.y0 + a.y1) / 2, b.x0 * laid.stretch, (b.y0 + b.y1) / 2, 8, paint, alpha);
    }
    for (const group of groups) {
      const [width, height] = [(group.x1 - group.x0) * camera.sx, (group.y1 - group.y0) * camera.sy];
      if (width < 2 || height < 2 || width > 4 * surface.size.width) continue;
      this.gl.addBox(group.x0 * laid.stretch, group.y0, group.x1 * laid.stretch, group.y1, colour(this.shown!.by === "kernel" ? kernelColour(group.kernel) : "edge"), 36);
    }
  }

  /** Kernels of groups that are large enough for words. */
  private names(surface: Surface, camera: Camera): void {
    const { graph, tasks, laid } = this.shown!;
    const { pen, size } = surface;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "bottom";
    let told = 0;
    const taken: [number, number, number][] = [];
    for (const group of graph.groups) {
      const [x0, y0] = toScreen(camera, size, group.x0 * laid.stretch, group.y0);
      const width = (group.x1 - group.x0) * laid.stretch * camera.sx;
      if (width < 44 || x0 > size.width || x0 + width < 0 || y0 < 12 || y0 > size.height || group.kernel === NONE) continue;
      const text = `${tasks.kernels[group.kernel]} × ${short(group.tasks)}`;
      const long = Math.min(width, pen.measureText(text).width);
      if (taken.some(([x, y, w]) => Math.abs(y - y0) < 13 && x < x0 + long && x0 < x + w)) continue;
      taken.push([x0, y0, long]);
      pen.fillStyle = css("dim");
      pen.fillText(clip(pen, text, width), x0, y0 - 2);
      if (++told > 150) return;
    }
  }

  /** The task that was chosen, what it is tied to, and the way of the error. */
  private marks(surface: Surface, camera: Camera, near: boolean): void {
    const { laid, chosen, way } = this.shown!;
    const { size } = surface;
    // Boxes cover lines that pass behind them; from afar they are too small for that.
    const pen = near ? surface.under : surface.pen;
    const half = HALF_WIDTH * laid.stretch;
    const tie = (from: number, to: number) => curve(pen, camera, surface, laid.x[from] + half, laid.y[from], laid.x[to] - half, laid.y[to]);
    if (chosen !== null) {
      pen.strokeStyle = css("accent", 0.9);
      pen.lineWidth = 1.5;
      pen.beginPath();
      for (const from of producers(laid, chosen).subarray(0, 400)) tie(from, chosen);
      for (const to of consumers(laid, chosen).subarray(0, 400)) tie(chosen, to);
      pen.stroke();
    }
    if (way.length > 1) {
      pen.strokeStyle = css("introduced");
      pen.lineWidth = 2.5;
      pen.beginPath();
      for (let i = 1; i < way.length; i++) tie(way[i - 1], way[i]);
      pen.stroke();
    }
    if (chosen !== null) {
      const [x, y] = toScreen(camera, size, laid.x[chosen], laid.y[chosen]);
      const [w, h] = [Math.max(6, half * camera.sx + 2.5), Math.max(6, HALF_HEIGHT * camera.sy + 2.5)];
      surface.pen.strokeStyle = css("accent");
      surface.pen.lineWidth = 2.5;
      surface.pen.strokeRect(x - w, y - h, 2 * w, 2 * h);
    }
  }

  private words(surface: Surface, camera: Camera, near: number[]): void {
    const { tasks, laid } = this.shown!;
    const { pen, size } = surface;
    const room = 2 * HALF_WIDTH * laid.stretch * camera.sx - 10;
    if (room < 34) return;
    const two = 2 * HALF_HEIGHT * camera.sy > 27;
    pen.textBaseline = "middle";
    for (const t of near) {
      const [x, y] = toScreen(camera, size, laid.x[t] - HALF_WIDTH * laid.stretch, laid.y[t]);
      const at = 4 * t;
      const light = 0.3 * this.colours[at] + 0.59 * this.colours[at + 1] + 0.11 * this.colours[at + 2];
      pen.fillStyle = light > 140 ? "#14181c" : "#fdfcf9";
      const kernel = tasks.kernel[t] === NONE ? "no kernel" : tasks.kernels[tasks.kernel[t]];
      pen.font = "600 11px system-ui, sans-serif";
      pen.fillText(clip(pen, kernel, room), x + 5, y - (two ? 6.5 : 0));
      if (two) {
        pen.globalAlpha = 0.75;
        pen.font = "10px ui-monospace, 'DejaVu Sans Mono', monospace";
        pen.fillText(clip(pen, shortId(tasks.id[t]), room), x + 5, y + 7.5);
        pen.globalAlpha = 1;
      }
    }
  }
}

/** A curve that leaves to the right and comes in from the left. */
function curve(pen: CanvasRenderingContext2D, camera: Camera, surface: Surface, fromX: number, fromY: number, toX: number, toY: number): void {
  const [x0, y0] = toScreen(camera, surface.size, fromX, fromY);
  const [x1, y1] = toScreen(camera, surface.size, toX, toY);
  const bend = Math.max(0.4 * camera.sx, Math.abs(x1 - x0) * 0.45);
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
}

const widths = new Map<string, string>();

/** The part of a text that has room. */
export function clip(pen: CanvasRenderingContext2D, text: string, room: number): string {
  const key = `${pen.font}|${Math.floor(room)}|${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  let shown = text;
  if (pen.measureText(text).width > room) {
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
      else high = middle - 1;
    }
    shown = low ? `${text.slice(0, low)}…` : "";
  }
  if (widths.size > 5000) widths.clear();
  widths.set(key, shown);
  return shown;
}
