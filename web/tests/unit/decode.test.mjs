import assert from "node:assert/strict";
import test from "node:test";
import { Damaged, decodeGraph, decodeTasks, decodeTile, decodeTimeline, NONE } from "../../src/wire/decode.ts";
import { encodeGraph, encodeTasks, encodeTile, encodeTimeline } from "../support/encode.mjs";

const tasks = {
  kernels: ["add", "<img src=x>"], id: [1n, 2n ** 63n + 5n, 7n], begin: [0.5, NaN, 2], end: [1.5, NaN, 4], bytes: [10, 2 ** 40, 0],
  kernel: [0, NONE, 1], scope: [0, 1, 2], blocks: [1, 24, 3], state: [3, 0, 4], verdict: [1, 2, 5],
};
const graph = {
  x: [0.5, 1.5, 1.5], y: [0.5, 0.5, 1.5], from: [0, 0], to: [1, 2], kind: [0, 1], layers: 2,
  groups: [{ x0: 0, y0: 0, x1: 1, y1: 1, kernel: 0, tasks: 1, first: 0 }, { x0: 1, y0: 0, x1: 2, y1: 2, kernel: NONE, tasks: 2, first: 1 }],
  bundles: [0, 1, 2],
};
const tile = { rows: 2, cols: 1, min: [1, NaN], max: [2, NaN], mean: [1.5, NaN], odd: [0, 0x00010002], value: [1.5, Infinity] };
const timeline = {
  tracks: [{ name: "core 0", kind: "core" }], labels: ["add"], begin: [0, 2], end: [1, 3], track: [0, 0], task: [0, NONE], label: [0, 0],
  arrowFrom: [0], arrowTo: [1], critical: [0, 1],
};

test("task columns come back as they were written", () => {
  const got = decodeTasks(encodeTasks(tasks));
  assert.equal(got.n, 3);
  for (const key of ["kernels", "id", "begin", "end", "bytes", "kernel", "scope", "blocks", "state", "verdict"]) {
    assert.deepEqual([...got[key]], tasks[key], key);
  }
});

test("a graph comes back with its groups and bundles", () => {
  const got = decodeGraph(encodeGraph(graph));
  for (const key of ["x", "y", "from", "to", "kind", "bundles"]) assert.deepEqual([...got[key]], graph[key], key);
  assert.deepEqual(got.groups, graph.groups);
  assert.equal(got.layers, 2);
});

test("a tile of elements has values, a tile of a higher level has none", () => {
  const got = decodeTile(encodeTile(tile), 0);
  for (const key of ["min", "max", "mean", "odd", "value"]) assert.deepEqual([...got[key]], tile[key], key);
  assert.equal(decodeTile(encodeTile({ ...tile, value: null }), 3).value, null);
});

test("a timeline comes back with arrows and critical path", () => {
  const got = decodeTimeline(encodeTimeline(timeline));
  for (const key of ["tracks", "labels", "begin", "end", "track", "task", "label", "arrowFrom", "arrowTo", "critical"]) {
    assert.deepEqual([...got[key]], timeline[key], key);
  }
});

test("an empty run is an answer too", () => {
  const none = Object.fromEntries(Object.keys(tasks).map(key => [key, []]));
  assert.equal(decodeTasks(encodeTasks(none)).n, 0);
  assert.equal(decodeGraph(encodeGraph({ x: [], y: [], from: [], to: [], kind: [], layers: 0, groups: [], bundles: [] })).n, 0);
});

test("an answer cut at any byte is refused, never half shown", () => {
  const whole = [[decodeTasks, encodeTasks(tasks)], [decodeGraph, encodeGraph(graph)], [b => decodeTile(b, 0), encodeTile(tile)], [decodeTimeline, encodeTimeline(timeline)]];
  for (const [decode, bytes] of whole) {
    for (let n = 0; n < bytes.byteLength; n++) assert.throws(() => decode(bytes.slice(0, n)), Damaged, `${n} bytes`);
  }
});

test("numbers that point nowhere are refused", () => {
  assert.throws(() => decodeTasks(encodeTasks({ ...tasks, kernel: [0, 1, 2] })), Damaged);
  assert.throws(() => decodeTasks(encodeTasks({ ...tasks, verdict: [1, 2, 6] })), Damaged);
  assert.throws(() => decodeGraph(encodeGraph({ ...graph, to: [1, 3] })), Damaged);
  assert.throws(() => decodeGraph(encodeGraph({ ...graph, bundles: [0, 2, 1] })), Damaged);
  assert.throws(() => decodeTimeline(encodeTimeline({ ...timeline, track: [0, 1] })), Damaged);
  assert.throws(() => decodeTimeline(encodeTimeline({ ...timeline, critical: [2] })), Damaged);
});

test("another kind of answer and another version are refused", () => {
  assert.throws(() => decodeGraph(encodeTasks(tasks)), Damaged);
  const bytes = encodeTasks(tasks);
  new DataView(bytes).setUint32(4, 2, true);
  assert.throws(() => decodeTasks(bytes), /version 2/);
  const huge = encodeTile(tile);
  new DataView(huge).setUint32(8, 100000, true);
  assert.throws(() => decodeTile(huge, 0), Damaged);
});
