// What can be asked, and what the answers are.

import { decodeGraph, decodeTasks, decodeTile, decodeTimeline } from "./decode.ts";
import type { Graph, Tasks, Tile, Timeline } from "./decode.ts";
import { ask } from "./source.ts";

/** A number, or the name of one that JSON cannot hold. */
export type Num = number | string;

export interface DumpInfo {
  index: number;
  name: string;
  directory: string;
  scene?: string | null;
  case?: string | null;
  platform?: string | null;
  runtime?: string | null;
  format_version?: string | null;
  ending?: string | null;
  live?: boolean;
  tasks?: number;
  records?: number;
  edges?: number;
  payload_bytes?: number;
  verdict?: string | null;
  notes?: string[];
  error?: string | null;
}

export interface Session {
  schema: string;
  version: string;
  dumps: DumpInfo[];
}

export interface KernelRow {
  name: string;
  func_ids: number[];
  core_type: string | null;
  tasks: number;
  records: number;
  bytes: number;
  busy_ns: number | null;
  nan: number | null;
  inf: number | null;
  unwritten: number | null;
  wrong: number | null;
}

export interface LooksLike {
  pattern?: { kind?: string };
  confidence?: string;
  evidence?: string;
  text?: string;
}

export interface Sighting {
  index: number;
  at: number[];
  actual: Num;
  expected: Num;
}

/** Errors by place, in cells; what is not finite is null. */
export interface ErrorMap {
  tensor: [number, number];
  rows: number;
  columns: number;
  beyond: number[];
  largest: (Num | null)[];
  cell: number;
}

/** Numbers about two tensors, as far as the page shows them. */
export interface Metrics {
  elements: number;
  finite: number;
  nan_both: number;
  inf_both: number;
  histogram: { zero: number; decades: { exponent: number; count: number }[] };
}

export interface Closer {
  arg_index: number;
  record: number;
  dtype: string;
  shape: number[];
  worst: Sighting[];
  map?: ErrorMap | null;
  looks_like?: LooksLike[];
}

export interface FirstWrong {
  index?: number;
  position: number;
  task_id: string;
  kernel: string;
  verdict: string;
  /** Why it is not known to have introduced the error. */
  why?: string;
  downstream: number;
  outputs: Closer[];
}

export interface Race {
  tasks: [number, number];
  /** Kernels and ids of both. */
  names?: [string, string];
  how: string;
  bytes: number;
}

export interface Report {
  verdict: string;
  compared_with?: string;
  other?: string | null;
  counts?: Record<string, number>;
  end_result?: string | null;
  judged?: number;
  judgeable?: number;
  failure?: unknown;
  damaged?: unknown[];
  tolerances?: string[];
  first_wrong?: FirstWrong[];
  notes?: string[];
  races?: Race[];
  unaligned?: { by: string; here: string[]; there: string[]; partly: unknown[] };
}

export interface Overview {
  run: Record<string, unknown>;
  verdict: Report | null;
  judging?: "pending" | "done" | "impossible";
  judging_why?: string | null;
  /** What a command said of this dump earlier. */
  last_verdict?: { command?: string; verdict?: string; kernel?: string | null; task_id?: string | null; at?: string | null; text?: string | null } | null;
  ledger: Record<string, unknown> | null;
  losses?: unknown;
  kernels: KernelRow[];
  statistics?: string;
  next: (string | { command: string; why?: string })[];
  /** What there is to say of tasks, by number. */
  said?: [number, string][];
  notes: string[];
}

export interface Statistics {
  count: number;
  min: Num | null;
  max: Num | null;
  mean: Num | null;
  std: Num | null;
  abs_max?: Num | null;
  nan: number;
  inf: number;
  zero?: number;
  subnormal?: number;
  unwritten?: number;
  distinct?: string | number | null;
}

export interface RecordInfo {
  index: number;
  task_id: string;
  kernel: string | null;
  arg_index: number;
  kind: string;
  role: string | null;
  stage: string;
  dtype: string;
  shape: number[] | null;
  strides?: number[] | null;
  start_offset?: number | null;
  address?: string | null;
  bytes?: number | null;
  is_contiguous?: boolean | null;
  checksum?: string | null;
  name?: string | null;
  statistics?: Statistics | null;
  note?: string | null;
  payload?: string | null;
}

export interface Compared {
  arg_index: number;
  record: number;
  with: string | null;
  agreement: string;
  beyond: number;
  max_abs: Num | null;
  metrics?: Metrics | null;
}

export interface Use {
  record: number;
  arg_index: number;
  offset: number;
  shape: number[];
  strides: number[];
  dtype?: string;
  stage?: string;
  role?: string;
}

export interface TaskInfo {
  task_id: string;
  index: number;
  kernel: string | null;
  kernels: (string | { name: string; func_id?: number; core_type?: string })[];
  blocks: number | null;
  cores: unknown;
  state: string;
  times: Record<string, Num | null> | null;
  verdict: number | string;
  verdict_text: string | null;
  before: RecordInfo[];
  after: RecordInfo[];
  scalars: { arg_index: number; dtype: string | null; raw: string; as: Record<string, Num>; text?: string | null; record?: number }[];
  buffers: { address: string; bytes: number; uses: Use[] }[];
  sources: { name: string; line?: number | null; text?: string | null }[];
  commands: Record<string, string | null>;
  previous: number | null;
  next: number | null;
  compared?: { inputs?: Compared[]; outputs?: Compared[] } | null;
  why?: string[];
  closer?: Closer[];
  notes?: string[];
}

export interface TensorInfo extends RecordInfo {
  histogram: { edges: Num[]; counts: number[] } | null;
  levels: number;
  rows: number;
  cols: number;
  planes: number;
  /** The lowest level that there are tiles of; the lowest of all unless it is said. */
  finest?: number;
  reference: { kind: string; with?: string | null; beyond?: number; max_abs?: Num | null } | null;
  task?: number | null;
  sibling?: number | null;
  worst?: { element: number; index: number[] } | null;
  /** Why there are no values to show. */
  values_missing?: string | null;
}

export interface Comparison extends Report {
  tasks?: { task_id: string; kernel: string; verdict: string; outputs?: Compared[]; inputs?: Compared[] }[];
  pairs: [number, number][];
}

export interface Live {
  live: boolean;
  tasks: number;
  records: number;
  ending: string | null;
  generation: number;
}

async function json<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, signal)).json()) as T;
}

async function binary<T>(path: string, decode: (bytes: ArrayBuffer) => T, signal?: AbortSignal): Promise<T> {
  return decode(await (await ask(path, signal)).arrayBuffer());
}

export const api = {
  session: () => json<Session>("api/session"),
  overview: (d: number) => json<Overview>(`api/${d}/overview`),
  tasks: (d: number): Promise<Tasks> => binary(`api/${d}/tasks`, decodeTasks),
  graph: (d: number): Promise<Graph> => binary(`api/${d}/graph`, decodeGraph),
  task: (d: number, t: number) => json<TaskInfo>(`api/${d}/task/${t}`),
  record: (d: number, r: number) => json<TensorInfo>(`api/${d}/record/${r}`),
  tile: (d: number, r: number, plane: number, level: number, row: number, col: number, of: string, signal?: AbortSignal): Promise<Tile> =>
    binary(
      `api/${d}/record/${r}/tile?plane=${plane}&level=${level}&row=${row}&col=${col}&of=${of}`,
      bytes => decodeTile(bytes, level),
      signal,
    ),
  find: (d: number, r: number, from: number, what: string) =>
    json<{ element: number | null; index: number[] | null }>(`api/${d}/record/${r}/next?from=${from}&what=${what}`),
  timeline: (d: number): Promise<Timeline> => binary(`api/${d}/timeline`, decodeTimeline),
  trace: (d: number, t: number): Promise<Timeline> => binary(`api/${d}/trace/${t}`, decodeTimeline),
  compare: (a: number, b: number) => json<Comparison>(`api/compare?a=${a}&b=${b}`),
  live: (d: number, from: number, signal?: AbortSignal) => json<Live>(`api/${d}/live?from=${from}`, signal),
};
