// A tensor as planes of rows and columns, and a plane as a pyramid of tiles.

import type { Num } from "../wire/api.ts";
import type { Box, Camera, Size } from "./camera.ts";

/** Cells on each side of a tile. */
export const TILE = 256;

export interface Plane {
  rows: number;
  cols: number;
  planes: number;
  levels: number;
}

export interface Spot {
  plane: number;
  row: number;
  col: number;
}

export function spotOf(element: number, p: Plane): Spot {
  const inPlane = p.rows * p.cols;
  const plane = Math.min(p.planes - 1, Math.floor(element / inPlane));
  const rest = element - plane * inPlane;
  return { plane, row: Math.floor(rest / p.cols), col: rest % p.cols };
}

export function elementOf(spot: Spot, p: Plane): number {
  return (spot.plane * p.rows + spot.row) * p.cols + spot.col;
}

/** An element's index in each dimension. */
export function unravel(element: number, shape: readonly number[]): number[] {
  const at: number[] = [];
  for (let d = shape.length - 1; d >= 0; d--) {
    at.unshift(element % shape[d]);
    element = Math.floor(element / shape[d]);
  }
  return at;
}

/** The level whose cells are about one pixel, never finer than elements. */
export function levelFor(camera: Camera, levels: number): number {
  const pixels = Math.sqrt(camera.sx * camera.sy);
  return Math.min(levels - 1, Math.max(0, Math.ceil(-Math.log2(pixels) - 0.25)));
}

/** Tiles of a level that a box touches, as row and column. */
export function tilesIn(box: Box, level: number, p: Plane): [number, number][] {
  const side = TILE * 2 ** level;
  const found: [number, number][] = [];
  const last = (n: number) => Math.max(0, Math.ceil(n / side) - 1);
  const row1 = Math.min(last(p.rows), Math.floor(box.y1 / side));
  const col1 = Math.min(last(p.cols), Math.floor(box.x1 / side));
  for (let row = Math.max(0, Math.floor(box.y0 / side)); row <= row1; row++) {
    for (let col = Math.max(0, Math.floor(box.x0 / side)); col <= col1; col++) found.push([row, col]);
  }
  return found;
}

/** How a plane is first seen: all of it; cells are square unless that would leave most of the pane empty. */
export function fitPlane(p: Plane, size: Size, largest: number): Camera {
  const margin = 10;
  let sx = Math.min(largest, (size.width - 2 * margin) / p.cols);
  let sy = Math.min(largest, (size.height - 2 * margin) / p.rows);
  const most = 8;
  sx = Math.min(sx, sy * most);
  sy = Math.min(sy, sx * most);
  return { x: p.cols / 2, y: p.rows / 2, sx: Math.max(sx, 1e-6), sy: Math.max(sy, 1e-6) };
}

/** Near enough for values, around a spot; at the edges of the plane the pane stays filled. */
export function closeUp(p: Plane, size: Size, spot: Spot): Camera {
  const [sx, sy] = [64, 22];
  const centre = (at: number, extent: number, half: number) => (extent <= 2 * half ? extent / 2 : Math.min(Math.max(at + 0.5, half), extent - half));
  return { x: centre(spot.col, p.cols, size.width / 2 / sx), y: centre(spot.row, p.rows, size.height / 2 / sy), sx, sy };
}

/** The range most values lie in: a few that are far out must not turn all others into one colour. */
export function usualRange(histogram: { edges: Num[]; counts: number[] } | null, min: Num | null | undefined, max: Num | null | undefined): [number, number] {
  const [least, most] = [finite(min), finite(max)];
  if (histogram && histogram.counts.length > 0 && histogram.edges.length === histogram.counts.length + 1) {
    const total = histogram.counts.reduce((sum, n) => sum + n, 0);
    const edges = histogram.edges.map(finite);
    let [low, high] = [0, histogram.counts.length - 1];
    for (let sum = 0; low < high && sum + histogram.counts[low] <= total * 0.002; low++) sum += histogram.counts[low];
    for (let sum = 0; high > low && sum + histogram.counts[high] <= total * 0.002; high--) sum += histogram.counts[high];
    const [from, to] = [edges[low], edges[high + 1]];
    if (from !== null && to !== null && to > from) return [from, to];
  }
  if (least === null || most === null) return [0, 1];
  return most > least ? [least, most] : [least - Math.max(1e-9, Math.abs(least) * 0.5), least + Math.max(1e-9, Math.abs(least) * 0.5)];
}

function finite(v: Num | null | undefined): number | null {
  return typeof v === "number" && Number.isFinite(v) ? v : null;
}
