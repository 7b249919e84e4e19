// What can be asked of a graph without drawing it: neighbours, what stands in a box, what stands at a point.

import type { Graph } from "../wire/decode.ts";
import type { Box } from "./camera.ts";

export interface Model {
  n: number;
  /** Places, stretched for the few tasks that have room for names. */
  x: Float32Array;
  y: Float32Array;
  stretch: number;
  /** Tasks from left to right, then from top to bottom. */
  order: Uint32Array;
  box: Box;
  /** For task t: the neighbours at [start[t], start[t + 1]). */
  inStart: Uint32Array;
  ins: Uint32Array;
  outStart: Uint32Array;
  outs: Uint32Array;
}

/** Up to so many tasks there is room for names beside each other. */
export const NAMED = 2000;

export function model(graph: Graph): Model {
  const { n } = graph;
  const stretch = n <= NAMED ? 3 : 1;
  const x = stretch === 1 ? graph.x : graph.x.map(at => at * stretch);
  const { y } = graph;
  const order = Uint32Array.from({ length: n }, (_, t) => t).sort((a, b) => x[a] - x[b] || y[a] - y[b] || a - b);
  const box: Box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (let t = 0; t < n; t++) {
    box.x0 = Math.min(box.x0, x[t] - stretch / 2);
    box.x1 = Math.max(box.x1, x[t] + stretch / 2);
    box.y0 = Math.min(box.y0, y[t] - 0.5);
    box.y1 = Math.max(box.y1, y[t] + 0.5);
  }
  const [inStart, ins] = lists(n, graph.to, graph.from);
  const [outStart, outs] = lists(n, graph.from, graph.to);
  return { n, x, y, stretch, order, box: n ? box : { x0: 0, y0: 0, x1: 1, y1: 1 }, inStart, ins, outStart, outs };
}

/** The edges as lists, one for each task. */
function lists(n: number, of: Uint32Array, what: Uint32Array): [Uint32Array, Uint32Array] {
  const start = new Uint32Array(n + 1);
  for (const t of of) start[t + 1]++;
  for (let t = 0; t < n; t++) start[t + 1] += start[t];
  const fill = start.slice();
  const items = new Uint32Array(of.length);
  for (let e = 0; e < of.length; e++) items[fill[of[e]]++] = what[e];
  return [start, items];
}

export function producers(m: Model, t: number): Uint32Array {
  return m.ins.subarray(m.inStart[t], m.inStart[t + 1]);
}

export function consumers(m: Model, t: number): Uint32Array {
  return m.outs.subarray(m.outStart[t], m.outStart[t + 1]);
}

/** The first place in the order whose x is at least `least`. */
export function firstAt(m: Model, least: number): number {
  let low = 0;
  let high = m.n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (m.x[m.order[middle]] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Tasks in a box; null when there are more than `limit`. */
export function within(m: Model, box: Box, limit: number): number[] | null {
  const found: number[] = [];
  const end = firstAt(m, box.x1 + m.stretch / 2);
  for (let i = firstAt(m, box.x0 - m.stretch / 2); i < end; i++) {
    const t = m.order[i];
    if (m.y[t] < box.y0 - 0.5 || m.y[t] > box.y1 + 0.5) continue;
    if (found.length === limit) return null;
    found.push(t);
  }
  return found;
}

/** The task nearest to a point, no farther than `reach` units beyond its box. */
export function nearest(m: Model, x: number, y: number, reach: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  const end = firstAt(m, x + m.stretch / 2 + reach + 1e-6);
  for (let i = firstAt(m, x - m.stretch / 2 - reach); i < end; i++) {
    const t = m.order[i];
    const dx = Math.max(0, Math.abs(m.x[t] - x) - m.stretch * 0.4);
    const dy = Math.max(0, Math.abs(m.y[t] - y) - 0.36);
    if (dx > reach || dy > reach) continue;
    const far = Math.hypot(m.x[t] - x, m.y[t] - y);
    if (far < least) {
      least = far;
      best = t;
    }
  }
  return best;
}

/** The task one place above or below in the same column. */
export function beside(m: Model, t: number, by: 1 | -1): number | null {
  const at = m.order.indexOf(t);
  const other = m.order[at + by];
  return other !== undefined && Math.abs(m.x[other] - m.x[t]) < 0.01 ? other : null;
}

/** Of some tasks, the one whose height is closest to that of task t. */
export function closest(m: Model, t: number, among: ArrayLike<number>): number | null {
  let best: number | null = null;
  for (let i = 0; i < among.length; i++) {
    if (best === null || Math.abs(m.y[among[i]] - m.y[t]) < Math.abs(m.y[best] - m.y[t])) best = among[i];
  }
  return best;
}
