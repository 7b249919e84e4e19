// The server's binary answers: columns of little-endian numbers behind a short header. No count in a header is
// believed before the bytes for it are there.

export class Damaged extends Error {}

type Columns = { BYTES_PER_ELEMENT: number };

class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: ArrayBuffer, magic: string) {
    this.view = new DataView(bytes);
    const found = this.u32();
    const wanted = [...magic].reduce((sum, letter, i) => sum + letter.charCodeAt(0) * 2 ** (8 * i), 0);
    if (found !== wanted) throw new Damaged(`the answer does not begin with ${magic}`);
    const version = this.u32();
    if (version !== 1) throw new Damaged(`${magic} has version ${version}; this page reads version 1`);
  }

  u32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  f32(): number {
    this.need(4);
    const value = this.view.getFloat32(this.at, true);
    this.at += 4;
    return value;
  }

  align(to: number): void {
    this.at = Math.ceil(this.at / to) * to;
  }

  json(bytes: number): unknown {
    this.need(bytes);
    const text = new TextDecoder().decode(new Uint8Array(this.bytes, this.at, bytes));
    this.at += bytes;
    this.align(8);
    return JSON.parse(text);
  }

  column<T>(kind: Columns & { new (buffer: ArrayBuffer, offset: number, length: number): T }, n: number): T {
    this.align(kind.BYTES_PER_ELEMENT);
    this.need(n * kind.BYTES_PER_ELEMENT);
    const column = new kind(this.bytes, this.at, n);
    this.at += n * kind.BYTES_PER_ELEMENT;
    return column;
  }

  private need(bytes: number): void {
    if (this.at + bytes > this.bytes.byteLength) {
      throw new Damaged(`the answer ends after ${this.bytes.byteLength} bytes; ${this.at + bytes} were promised`);
    }
  }
}

export const NONE = 0xffffffff;

export const STATES = ["unknown", "submitted", "running", "completed", "failed", "skipped"] as const;
export const VERDICTS = ["unknown", "clean", "introduced", "inherited", "here_or_upstream", "damaged"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Every task of a dump, as columns. */
export interface Tasks {
  n: number;
  kernels: string[];
  id: BigUint64Array;
  begin: Float64Array;
  end: Float64Array;
  bytes: Float64Array;
  kernel: Uint32Array;
  scope: Uint32Array;
  blocks: Uint32Array;
  state: Uint8Array;
  verdict: Uint8Array;
}

export function decodeTasks(bytes: ArrayBuffer): Tasks {
  const reader = new Reader(bytes, "ATSK");
  const n = reader.u32();
  const kernels = strings(reader.json(reader.u32()), "kernel names");
  const id = reader.column(BigUint64Array, n);
  const begin = reader.column(Float64Array, n);
  const end = reader.column(Float64Array, n);
  const payload = reader.column(BigUint64Array, n);
  const kernel = reader.column(Uint32Array, n);
  const scope = reader.column(Uint32Array, n);
  const blocks = reader.column(Uint32Array, n);
  const state = reader.column(Uint8Array, n);
  const verdict = reader.column(Uint8Array, n);
  below(verdict, VERDICTS.length, "verdict");
  below(state, STATES.length, "state");
  for (const k of kernel) if (k !== NONE && k >= kernels.length) throw new Damaged(`kernel ${k} has no name`);
  return { n, kernels, id, begin, end, bytes: Float64Array.from(payload, Number), kernel, scope, blocks, state, verdict };
}

export interface Group {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  kernel: number;
  tasks: number;
  first: number;
}

/** Where the tasks stand, what they wait for, and the same from far away. */
export interface Graph {
  n: number;
  m: number;
  layers: number;
  x: Float32Array;
  y: Float32Array;
  from: Uint32Array;
  to: Uint32Array;
  kind: Uint8Array;
  groups: Group[];
  /** Triples: group, group, number of edges. */
  bundles: Uint32Array;
}

export function decodeGraph(bytes: ArrayBuffer): Graph {
  const reader = new Reader(bytes, "AGRF");
  const [n, m, layers, many] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  const x = reader.column(Float32Array, n);
  const y = reader.column(Float32Array, n);
  const from = reader.column(Uint32Array, m);
  const to = reader.column(Uint32Array, m);
  const kind = reader.column(Uint8Array, m);
  below(from, n, "edge from task");
  below(to, n, "edge to task");
  reader.align(4);
  const groups: Group[] = [];
  for (let g = 0; g < many; g++) {
    const [x0, y0, x1, y1] = [reader.f32(), reader.f32(), reader.f32(), reader.f32()];
    groups.push({ x0, y0, x1, y1, kernel: reader.u32(), tasks: reader.u32(), first: reader.u32() });
  }
  const k = reader.u32();
  const bundles = reader.column(Uint32Array, 3 * k);
  for (let i = 0; i < k; i++) {
    if (bundles[3 * i] >= many || bundles[3 * i + 1] >= many) throw new Damaged("a bundle of edges names no group");
  }
  return { n, m, layers, x, y, from, to, kind, groups, bundles };
}

/** A part of a tensor: one cell is one element at level 0, and 2^level by 2^level elements above it. */
export interface Tile {
  rows: number;
  cols: number;
  min: Float32Array;
  max: Float32Array;
  mean: Float32Array;
  /** NaN and infinities in the low 16 bits, elements that were never written in the high 16. */
  odd: Uint32Array;
  value: Float64Array | null;
}

export function decodeTile(bytes: ArrayBuffer, level: number): Tile {
  const reader = new Reader(bytes, "ATIL");
  const [rows, cols] = [reader.u32(), reader.u32()];
  if (rows > 256 || cols > 256) throw new Damaged(`a tile of ${rows} x ${cols} cells is too large`);
  const n = rows * cols;
  return {
    rows,
    cols,
    min: reader.column(Float32Array, n),
    max: reader.column(Float32Array, n),
    mean: reader.column(Float32Array, n),
    odd: reader.column(Uint32Array, n),
    value: level === 0 ? reader.column(Float64Array, n) : null,
  };
}

export interface Track {
  name: string;
  kind: string;
}

export interface Timeline {
  tracks: Track[];
  labels: string[];
  n: number;
  begin: Float64Array;
  end: Float64Array;
  track: Uint32Array;
  task: Uint32Array;
  label: Uint32Array;
  arrowFrom: Uint32Array;
  arrowTo: Uint32Array;
  critical: Uint32Array;
}

export function decodeTimeline(bytes: ArrayBuffer): Timeline {
  const reader = new Reader(bytes, "ATIM");
  const [tracks, n, arrows] = [reader.u32(), reader.u32(), reader.u32()];
  const names = reader.json(reader.u32()) as { tracks?: Track[]; labels?: unknown };
  if (!Array.isArray(names.tracks) || names.tracks.length !== tracks) throw new Damaged("tracks without names");
  const begin = reader.column(Float64Array, n);
  const end = reader.column(Float64Array, n);
  const track = reader.column(Uint32Array, n);
  const task = reader.column(Uint32Array, n);
  const label = reader.column(Uint32Array, n);
  const arrowFrom = reader.column(Uint32Array, arrows);
  const arrowTo = reader.column(Uint32Array, arrows);
  const critical = reader.column(Uint32Array, reader.u32());
  const labels = strings(names.labels, "labels");
  below(track, tracks, "track");
  below(label, labels.length, "label");
  below(arrowFrom, n, "arrow from slice");
  below(arrowTo, n, "arrow to slice");
  below(critical, n, "slice of the critical path");
  return { tracks: names.tracks, labels, n, begin, end, track, task, label, arrowFrom, arrowTo, critical };
}

function strings(value: unknown, what: string): string[] {
  if (!Array.isArray(value) || value.some(item => typeof item !== "string")) throw new Damaged(`${what} are no strings`);
  return value as string[];
}

function below(column: Uint32Array | Uint8Array, limit: number, what: string): void {
  for (let i = 0; i < column.length; i++) {
    if (column[i] >= limit) throw new Damaged(`${what} ${column[i]} does not exist; there are ${limit}`);
  }
}
