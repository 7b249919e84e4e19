// What can be asked of a timeline without drawing it.

import type { Timeline } from "../wire/decode.ts";

export interface Rows {
  /** For each track its slices by begin. */
  of: Uint32Array[];
  /** Beside each slice of a track the latest end of all up to it: where to start looking for what is still going on. */
  reach: Float64Array[];
  /** The row of a slice inside its track, for slices that lie in each other. */
  depth: Uint8Array;
  /** How many rows a track has. */
  deep: number[];
  begin: number;
  end: number;
}

/** Rows deeper than this share the last one. */
const DEEPEST = 6;

export function rows(timeline: Timeline): Rows {
  const lists: number[][] = timeline.tracks.map(() => []);
  let [begin, end] = [Infinity, -Infinity];
  for (let s = 0; s < timeline.n; s++) {
    lists[timeline.track[s]].push(s);
    if (timeline.begin[s] < begin) begin = timeline.begin[s];
    if (timeline.end[s] > end) end = timeline.end[s];
  }
  const depth = new Uint8Array(timeline.n);
  const deep: number[] = [];
  const of = lists.map(list => {
    list.sort((a, b) => timeline.begin[a] - timeline.begin[b] || timeline.end[b] - timeline.end[a] || a - b);
    // Each slice goes into the first row that is free when it begins.
    const free: number[] = [];
    for (const s of list) {
      let row = free.findIndex(until => until <= timeline.begin[s]);
      if (row < 0) row = free.length < DEEPEST ? free.length : DEEPEST - 1;
      free[row] = Math.max(free[row] ?? -Infinity, timeline.end[s]);
      depth[s] = row;
    }
    deep.push(Math.max(1, free.length));
    return Uint32Array.from(list);
  });
  const reach = of.map(list => {
    let latest = -Infinity;
    return Float64Array.from(list, s => (latest = Math.max(latest, timeline.end[s])));
  });
  const [first, last] = timeline.n ? [begin, Math.max(end, begin + 1e-6)] : [0, 1];
  return { of, reach, depth, deep, begin: first, end: last };
}

/** The first place of a track's list from which on a slice may end after `at`. */
export function stillGoing(reach: Float64Array, at: number): number {
  let [low, high] = [0, reach.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (reach[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first slice of a track that begins at `at` or later, as a place in its list. */
export function lowerBound(list: Uint32Array, begin: Float64Array, at: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (begin[list[middle]] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The slice before or after another in the same track. */
export function neighbour(all: Rows, timeline: Timeline, slice: number, by: 1 | -1): number | null {
  const list = all.of[timeline.track[slice]];
  return list[list.indexOf(slice) + by] ?? null;
}

/** In another track, the slice that is closest in time. */
export function across(all: Rows, timeline: Timeline, slice: number, by: 1 | -1): number | null {
  for (let track = timeline.track[slice] + by; track >= 0 && track < all.of.length; track += by) {
    const list = all.of[track];
    if (!list.length) continue;
    const at = lowerBound(list, timeline.begin, timeline.begin[slice]);
    const [before, after] = [list[Math.max(0, at - 1)], list[Math.min(list.length - 1, at)]];
    const far = (s: number) => Math.abs(timeline.begin[s] - timeline.begin[slice]);
    return far(before) < far(after) ? before : after;
  }
  return null;
}
