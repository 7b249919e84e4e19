// The way an error took: from where it began to a task that inherited it, and on to those that inherited it from there.

import type { Graph } from "../wire/decode.ts";

export interface Way {
  /** Tasks from the nearest beginning of the error to the one that was asked for. */
  way: number[];
  /** Wrong tasks behind it. */
  inherited: number[];
}

/** Verdicts as the columns say them. */
const INTRODUCED = 2;
const INHERITED = 3;
const HERE_OR_UPSTREAM = 4;
/** An edge that only keeps an order: values do not come along it. */
const ORDER_ONLY = 2;

export function wayOf(graph: Graph, verdict: Uint8Array, task: number): Way {
  const wrong = (t: number) => verdict[t] === INTRODUCED || verdict[t] === INHERITED || verdict[t] === HERE_OR_UPSTREAM;
  if (!wrong(task)) return { way: [], inherited: [] };
  const before = new Map<number, number[]>();
  const behind = new Map<number, number[]>();
  for (let e = 0; e < graph.m; e++) {
    const [from, to] = [graph.from[e], graph.to[e]];
    if (graph.kind[e] === ORDER_ONLY || !wrong(from) || !wrong(to)) continue;
    put(before, to, from);
    put(behind, from, to);
  }
  const upstream = walk(task, before);
  const start = [...upstream.keys()].find(t => verdict[t] !== INHERITED) ?? task;
  const way = [start];
  for (let at = upstream.get(start); at != null; at = upstream.get(at)) way.push(at);
  const inherited = [...walk(task, behind).keys()].filter(t => t !== task).sort((a, b) => a - b);
  return { way, inherited };
}

function put(lists: Map<number, number[]>, key: number, item: number): void {
  const known = lists.get(key);
  if (known) known.push(item);
  else lists.set(key, [item]);
}

/** Everything that can be reached, the nearest first, and from where each was reached. */
function walk(from: number, neighbours: Map<number, number[]>): Map<number, number | null> {
  const reached = new Map<number, number | null>([[from, null]]);
  // A map is walked in the order it was filled, also while it grows.
  for (const at of reached.keys()) {
    for (const next of neighbours.get(at) ?? []) if (!reached.has(next)) reached.set(next, at);
  }
  return reached;
}
