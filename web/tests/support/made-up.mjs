// A server with a made-up run of any size, for measuring the page alone and for looking at it without a dump.
// It gives the answers of `argus open` in their own form; what they mean is invented.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeGraph, encodeTasks, encodeTimeline } from "./encode.mjs";

const DIST = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist");
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const KERNELS = ["qk_matmul", "softmax_prepare", "pv_matmul", "online_update", "reduce"];
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A run of n tasks in chains of four kernels, with one wrong task and what it stained. */
export function madeUp(n) {
  const chains = Math.max(1, Math.round(Math.sqrt(n / 2)));
  const wrong = Math.floor(n * 0.37);
  const tasks = { kernels: KERNELS, id: [], begin: [], end: [], bytes: [], kernel: [], scope: [], blocks: [], state: [], verdict: [] };
  const graph = { x: [], y: [], from: [], to: [], kind: [], layers: Math.ceil(n / chains), groups: [], bundles: [] };
  const line = { tracks: [], labels: KERNELS, begin: [], end: [], track: [], task: [], label: [], arrowFrom: [], arrowTo: [], critical: [] };
  const cores = 48;
  for (let c = 0; c < 4; c++) line.tracks.push({ name: `control ${c}`, kind: "control" });
  for (let c = 0; c < cores; c++) line.tracks.push({ name: `core ${c}`, kind: "core" });
  const free = new Float64Array(cores);
  for (let t = 0; t < n; t++) {
    const [layer, chain] = [Math.floor(t / chains), t % chains];
    const kernel = layer % 4;
    const core = t % cores;
    const begin = free[core] + ((t * 7919) % 13) / 10;
    const end = begin + 1 + ((t * 104729) % 97) / 12;
    free[core] = end;
    tasks.id.push(BigInt(t));
    tasks.begin.push(begin);
    tasks.end.push(end);
    tasks.bytes.push(4096 * (1 + (t % 64)));
    tasks.kernel.push(kernel);
    tasks.scope.push(0);
    tasks.blocks.push(1 + (t % 8));
    tasks.state.push(3);
    tasks.verdict.push(t === wrong ? 2 : t > wrong && (t - wrong) % chains === 0 ? 3 : 1);
    graph.x.push(layer + 0.5);
    graph.y.push(chain + 0.5);
    if (t >= chains) {
      graph.from.push(t - chains);
      graph.to.push(t);
      graph.kind.push(0);
    }
    line.begin.push(begin);
    line.end.push(end);
    line.track.push(4 + core);
    line.task.push(t);
    line.label.push(kernel);
  }
  for (let layer = 0; layer < graph.layers; layer += 4) {
    for (let k = 0; k < 4 && layer + k < graph.layers; k++) {
      graph.groups.push({ x0: layer + k, y0: 0, x1: layer + k + 1, y1: chains, kernel: k, tasks: chains, first: (layer + k) * chains });
      if (graph.groups.length > 1) graph.bundles.push(graph.groups.length - 2, graph.groups.length - 1, chains);
    }
  }
  const info = { index: 0, name: `made up, ${n} tasks`, directory: "/nowhere", scene: "made_up", case: "default", platform: "a2a3sim", runtime: "trb", format_version: "argus", ending: "completed", live: false, tasks: n, records: 4 * n, edges: graph.from.length, payload_bytes: 4096 * n, verdict: "differ", notes: [] };
  return {
    "api/session": { schema: "argus-open-1", version: "0", dumps: [info] },
    "api/0/tasks": encodeTasks(tasks),
    "api/0/graph": encodeGraph(graph),
    "api/0/timeline": encodeTimeline(line),
    "api/0/overview": { run: {}, verdict: null, judging: "done", statistics: "done", ledger: {}, kernels: [], next: [], notes: [] },
  };
}

/** Serves answers below a token, as the real server does. */
export async function serve(answers) {
  const token = "0".repeat(32);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://x").pathname.slice(token.length + 2);
    const headers = { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };
    const file = path === "" ? "index.html" : path;
    if (/^(index\.html|app\.js|app\.css|icon\.svg)$/.test(file)) {
      response.writeHead(200, { ...headers, "Content-Type": TYPES[file.split(".")[1]] });
      response.end(await readFile(join(DIST, file)));
    } else if (path in answers) {
      const answer = answers[path];
      const binary = answer instanceof ArrayBuffer;
      response.writeHead(200, { ...headers, "Content-Type": binary ? "application/octet-stream" : "application/json" });
      response.end(binary ? Buffer.from(answer) : JSON.stringify(answer));
    } else if (path === "api/0/live") {
      // Nothing new ever comes; the question stays open.
    } else {
      response.writeHead(404, headers);
      response.end();
    }
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/${token}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
