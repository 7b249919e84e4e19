import assert from "node:assert/strict";
import test from "node:test";
import { format, parse } from "../../src/address.ts";
import { fit, pan, read, reveal, step, toScreen, toWorld, write, zoom } from "../../src/draw/camera.ts";
import { beside, closest, consumers, model, nearest, producers, within } from "../../src/draw/graph-model.ts";
import { elementBytes, ranges } from "../../src/draw/strides.ts";
import { closeUp, elementOf, fitPlane, levelFor, spotOf, tilesIn, unravel, usualRange } from "../../src/draw/tensor-model.ts";
import { across, lowerBound, neighbour, rows, stillGoing } from "../../src/draw/timeline-model.ts";
import { wayOf } from "../../src/draw/way.ts";
import { rank, taskTyped } from "../../src/shell/match.ts";
import { bytes, short, time, value } from "../../src/text.ts";

const size = { width: 800, height: 600 };

test("a fitted box is whole inside the picture", () => {
  const camera = fit({ x0: -3, y0: 2, x1: 97, y1: 12 }, size, 20, 60);
  const [x0, y0] = toScreen(camera, size, -3, 2);
  const [x1, y1] = toScreen(camera, size, 97, 12);
  assert.ok(x0 >= 19.9 && y0 >= 19.9 && x1 <= 780.1 && y1 <= 580.1);
  assert.equal(camera.sx, camera.sy);
});

test("zooming keeps the point under the pointer, panning moves by pixels", () => {
  const camera = { x: 5, y: 6, sx: 10, sy: 4 };
  const before = toWorld(camera, size, 123, 456);
  const after = toWorld(zoom(camera, size, 123, 456, 1.7, 0.01, 1000), size, 123, 456);
  assert.ok(Math.abs(before[0] - after[0]) < 1e-9 && Math.abs(before[1] - after[1]) < 1e-9);
  assert.equal(zoom(camera, size, 0, 0, 1e9, 1, 50).sx, 50);
  const [x, y] = toScreen(pan(camera, 30, -20), size, 5, 6);
  assert.deepEqual([x, y], [430, 280]);
});

test("what is revealed is in sight, and what is in sight stays", () => {
  const camera = { x: 0, y: 0, sx: 1, sy: 1 };
  const [x, y] = toScreen(reveal(camera, size, 5000, -5000, 80), size, 5000, -5000);
  assert.deepEqual([x, y], [720, 80]);
  assert.equal(reveal(camera, size, 10, 10, 80), camera);
});

test("a camera goes through the address and back; nonsense is no camera", () => {
  for (const camera of [{ x: 1.5, y: -2, sx: 3, sy: 3 }, { x: 0, y: 9, sx: 64, sy: 22 }]) assert.deepEqual(read(write(camera)), camera);
  for (const text of ["", "1,2", "a,b,c", "1,2,0", "1,2,-3", "1,2,3,4,5", "NaN,0,1"]) assert.equal(read(text), null, text);
});

test("ticks are 1, 2 or 5 times a power of ten", () => {
  assert.deepEqual([0.9, 1.1, 3, 7, 0.03].map(step).map(n => Number(n.toPrecision(3))), [1, 2, 5, 10, 0.05]);
});

test("addresses go through the fragment and back", () => {
  for (const text of ["#/d0/overview", "#/d1/graph?task=12&color=verdict", "#/d0/task/12", "#/d0/tensor/345?plane=0&row=3&col=7&of=difference", "#/compare/0/1"]) {
    assert.equal(format(parse(text)), text);
  }
});

test("an address that means nothing leads to the overview", () => {
  for (const text of ["", "#", "#/", "#/nowhere", "#/d0/task", "#/d0/tensor/x", "#/d0/task/-1", "#/<script>"]) {
    assert.equal(parse(text).view, "overview", text);
  }
  assert.equal(parse("#/d99999/graph").dump, 99999);
});

const diamond = model({
  n: 4, m: 4, layers: 3, x: Float32Array.of(0.5, 1.5, 1.5, 2.5), y: Float32Array.of(0.5, 0.5, 1.5, 0.5),
  from: Uint32Array.of(0, 0, 1, 2), to: Uint32Array.of(1, 2, 3, 3), kind: new Uint8Array(4), groups: [], bundles: new Uint32Array(),
});

test("a task's neighbours are those of its edges", () => {
  assert.deepEqual([...consumers(diamond, 0)], [1, 2]);
  assert.deepEqual([...producers(diamond, 3)], [1, 2]);
  assert.deepEqual([...producers(diamond, 0)], []);
  assert.equal(beside(diamond, 1, 1), 2);
  assert.equal(beside(diamond, 2, 1), null);
  assert.equal(closest(diamond, 2, [1, 3]), 1);
  assert.equal(closest(diamond, 2, []), null);
});

test("tasks are found in a box and at a point", () => {
  const { stretch } = diamond;
  assert.deepEqual(within(diamond, { x0: 1.2 * stretch, y0: 0, x1: 1.8 * stretch, y1: 2 }, 10), [1, 2]);
  assert.equal(within(diamond, diamond.box, 3), null);
  assert.equal(nearest(diamond, 1.5 * stretch, 1.4, 0), 2);
  assert.equal(nearest(diamond, 1.5 * stretch, 40, 0.1), null);
});

test("a hundred thousand tasks in one column are laid out and found", () => {
  const n = 100000;
  const many = model({ n, m: 0, layers: 1, x: new Float32Array(n).fill(0.5), y: Float32Array.from({ length: n }, (_, t) => n - t), from: new Uint32Array(), to: new Uint32Array(), kind: new Uint8Array(), groups: [], bundles: new Uint32Array() });
  assert.equal(nearest(many, 0.5, 500, 0), n - 500);
  assert.deepEqual(within(many, { x0: 0, y0: 10, x1: 1, y1: 10.4 }, 10), [n - 10]);
});

test("elements and places are the same thing said twice", () => {
  const plane = { rows: 7, cols: 13, planes: 5, levels: 1 };
  for (let element = 0; element < 7 * 13 * 5; element++) assert.equal(elementOf(spotOf(element, plane), plane), element);
  assert.deepEqual(unravel(23, [2, 3, 4]), [1, 2, 3]);
});

test("the level follows the size of a cell, and tiles cover what is seen once", () => {
  const plane = { rows: 1000, cols: 3000, planes: 1, levels: 5 };
  assert.equal(levelFor({ x: 0, y: 0, sx: 4, sy: 4 }, 5), 0);
  assert.equal(levelFor({ x: 0, y: 0, sx: 0.25, sy: 0.25 }, 5), 2);
  assert.equal(levelFor({ x: 0, y: 0, sx: 1e-6, sy: 1e-6 }, 5), 4);
  assert.equal(tilesIn({ x0: -1e9, y0: -1e9, x1: 1e9, y1: 1e9 }, 0, plane).length, 4 * 12);
  assert.deepEqual(tilesIn({ x0: 255, y0: 0, x1: 256, y1: 1 }, 0, plane), [[0, 0], [0, 1]]);
  assert.deepEqual(tilesIn({ x0: 5000, y0: 0, x1: 6000, y1: 1 }, 0, plane), []);
});

test("a long thin tensor is stretched, but not beyond recognition", () => {
  const camera = fitPlane({ rows: 4, cols: 4096, planes: 1, levels: 5 }, size, 110);
  assert.ok(camera.sy / camera.sx <= 8.01);
});

test("one huge value does not decide the colours of all others", () => {
  const counts = Array(64).fill(0);
  counts[0] = 99999;
  counts[63] = 1;
  const edges = Array.from({ length: 65 }, (_, i) => i * 1e36);
  assert.deepEqual(usualRange({ edges, counts }, 0, 64e36), [0, 1e36]);
  assert.deepEqual(usualRange(null, "NaN", 3), [0, 1]);
  const [low, high] = usualRange(null, 5, 5);
  assert.ok(low < 5 && high > 5);
});

test("a view touches the bytes its strides say", () => {
  assert.deepEqual(ranges({ offset: 8, shape: [2, 3], strides: [10, 1], size: 4 }, 100), [[8, 20], [48, 60]]);
  assert.deepEqual(ranges({ offset: 0, shape: [4, 4], strides: [4, 1], size: 2 }, 100), [[0, 32]]);
  assert.deepEqual(ranges({ offset: 0, shape: [3, 2], strides: [1, 6], size: 4 }, 100), [[0, 12], [24, 36]]);
  assert.deepEqual(ranges({ offset: 0, shape: [0, 4], strides: [4, 1], size: 4 }, 100), []);
  assert.deepEqual(ranges({ offset: 0, shape: [], strides: [], size: 4 }, 100), [[0, 4]]);
  const joined = ranges({ offset: 0, shape: [1000, 1], strides: [10, 1], size: 1 }, 100);
  assert.deepEqual(joined, [[0, 9991]]);
  assert.deepEqual(["FLOAT32", "BFLOAT16", "INT8", "BOOL", "strange"].map(elementBytes), [4, 2, 1, 1, null]);
});

test("slices that lie in each other get rows, and long ones are found from their middle", () => {
  const timeline = { tracks: [{ name: "a", kind: "core" }, { name: "b", kind: "core" }], labels: [], n: 4, begin: Float64Array.of(0, 1, 5, 2), end: Float64Array.of(100, 2, 6, 3), track: Uint32Array.of(0, 0, 0, 1), task: new Uint32Array(4), label: new Uint32Array(4), arrowFrom: new Uint32Array(), arrowTo: new Uint32Array(), critical: new Uint32Array() };
  const all = rows(timeline);
  assert.deepEqual([...all.depth], [0, 1, 1, 0]);
  assert.deepEqual(all.deep, [2, 1]);
  assert.equal(stillGoing(all.reach[0], 50), 0);
  assert.equal(stillGoing(all.reach[0], 101), 3);
  assert.equal(lowerBound(all.of[0], timeline.begin, 1.5), 2);
  assert.equal(neighbour(all, timeline, 0, 1), 1);
  assert.equal(neighbour(all, timeline, 2, 1), null);
  assert.equal(across(all, timeline, 1, 1), 3);
  assert.equal(across(all, timeline, 3, 1), null);
});

test("the palette ranks beginnings before middles and refuses what is not there", () => {
  assert.ok(rank("soft", "softmax") < rank("max", "softmax"));
  assert.equal(rank("zzz", "softmax"), null);
  assert.notEqual(rank("pv mat", "pv_matmul"), null);
  assert.deepEqual(["12", "0x1F", "task 7", "#3", "x", "0x", "1e3"].map(taskTyped), [12n, 31n, 7n, 3n, null, null, null]);
});

test("numbers are written for people", () => {
  assert.deepEqual([0, 1023, 1024, 5 * 2 ** 30].map(bytes), ["0 B", "1023 B", "1.00 KiB", "5.00 GiB"]);
  assert.deepEqual([0.5, 12.34, 1234, 2.5e6, NaN].map(time), ["500 ns", "12.3 µs", "1.23 ms", "2.5 s", "unknown"]);
  assert.deepEqual([1, -0, NaN, -Infinity, 1e-20, 123456789, "unwritten", null].map(v => value(v)), ["1", "-0", "NaN", "-inf", "1e-20", "1.235e8", "unwritten", "-"]);
  assert.deepEqual([9999, 16640, 2500000].map(short), ["9999", "16.6k", "2.5M"]);
});

test("the way of an error leads from its nearest beginning, along edges that carry values", () => {
  // 0 -> 1 -> 2 -> 4, 3 -> 2, 5 -> 4 in order only; 0 and 3 introduced an error.
  const edges = [[0, 1, 0], [1, 2, 0], [2, 4, 1], [3, 2, 0], [5, 4, 2], [4, 6, 0]];
  const graph = { m: edges.length, from: edges.map(e => e[0]), to: edges.map(e => e[1]), kind: edges.map(e => e[2]) };
  const verdict = Uint8Array.from([2, 3, 3, 2, 3, 4, 1]);
  assert.deepEqual(wayOf(graph, verdict, 4), { way: [3, 2, 4], inherited: [] });
  assert.deepEqual(wayOf(graph, verdict, 1), { way: [0, 1], inherited: [2, 4] });
  assert.deepEqual(wayOf(graph, verdict, 5), { way: [5], inherited: [] });
  assert.deepEqual(wayOf(graph, verdict, 6), { way: [], inherited: [] });
});

test("a close look stays inside its plane", () => {
  const look = (rows, cols, row, col) => closeUp({ rows, cols, planes: 1, levels: 1 }, { width: 640, height: 220 }, { plane: 0, row, col });
  assert.deepEqual(look(100, 100, 50, 50), { x: 50.5, y: 50.5, sx: 64, sy: 22 });
  // Ten columns and ten rows are in sight.
  assert.deepEqual(look(100, 100, 0, 99), { x: 95, y: 5, sx: 64, sy: 22 });
  assert.deepEqual(look(4, 6, 0, 0), { x: 3, y: 2, sx: 64, sy: 22 });
});
