// The tool under test: runs that it makes, and the server that it starts.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const ARGUS = process.env.ARGUS_BIN ?? "";
if (!existsSync(ARGUS)) throw new Error("ARGUS_BIN must name the argus tool");

/** Runs a command of the tool; a run that judges its result as wrong ends with 1. */
export function argus(...args) {
  const done = spawnSync(ARGUS, args, { encoding: "utf8" });
  if (done.status !== 0 && done.status !== 1) throw new Error(`argus ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** Starts the server; its first line on stdout is the address. */
export async function open(...dumps) {
  const child = spawn(ARGUS, ["open", ...dumps, "--no-browser", "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  child.stderr.on("data", text => (told += text));
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((done, fail) => {
    lines.once("line", done);
    child.once("exit", code => fail(new Error(`argus open ended with ${code}: ${told}`)));
  });
  return {
    url: url.endsWith("/") ? url : `${url}/`,
    pid: child.pid,
    close: () => new Promise(done => {
      child.removeAllListeners("exit");
      child.once("exit", done);
      child.kill("SIGINT");
    }),
  };
}

// Bytes of a journal: enough for tasks to be there, too few for all 16,640.
const SOME = 20000;
const MOST = 2000000;

/** A run that is still going: it was stopped, by the system, when its journal had some entries. */
export async function going(directory) {
  const journal = join(directory, "tensor_dump", "tensor_dump.journal");
  const written = () => statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
  // On a busy machine the moment may be missed; the run is then made again.
  for (let attempt = 0; attempt < 30; attempt++) {
    rmSync(directory, { recursive: true, force: true });
    const child = spawn(ARGUS, ["run", "paged_attention", "--case", "large", "--skip-golden", "--dump-tensor", "-o", directory], { stdio: "ignore" });
    let over = false;
    const ended = new Promise(done => child.once("exit", done)).then(() => (over = true));
    while (!over && written() < SOME) await new Promise(setImmediate);
    child.kill("SIGSTOP");
    if (!over && written() < MOST) return { ended, resume: () => child.kill("SIGCONT"), kill: () => child.kill("SIGKILL") };
    child.kill("SIGKILL");
    await ended;
  }
  throw new Error("the run could not be stopped in its midst");
}

/** A dump as the reference writes it in its third format, with as many tasks as wanted in chains, names, and one tensor for all. */
export function referenceDump(directory, tasks, { names = ["load", "multiply", "store"], chains = 64, shape = [4] } = {}) {
  const dump = join(directory, "args_dump");
  mkdirSync(dump, { recursive: true });
  const id = t => `0x${t.toString(16).padStart(16, "0")}`;
  const numel = shape.reduce((product, extent) => product * extent, 1);
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, extent) => product * extent, 1));
  const record = (t, index, role, stage) => JSON.stringify({
    task_id: id(t), func_id: [t % names.length], arg_index: index, role, stage, kind: "tensor", dtype: "FLOAT32", is_contiguous: true,
    shape, strides, start_offset: 0, numel, bin_offset: 0, bin_size: 4 * numel, truncated: false, overwritten: false,
  });
  const lines = [];
  for (let t = 0; t < tasks; t++) lines.push(record(t, 0, "output", "after_completion"));
  const head = {
    run_dir: "args_dump", bin_format: { type: "logical_contiguous", byte_order: "little_endian" }, dump_args_level: 2, total_args: tasks,
    before_dispatch: 0, after_completion: tasks, input_args: 0, output_args: tasks, inout_args: 0, truncated_args: 0, dropped_records: 0,
    dropped_overwrite: 0, bin_file: "args.bin",
  };
  writeFileSync(join(dump, "args_dump.json"), `${JSON.stringify(head).slice(0, -1)},"args":[${lines.join(",\n")}]}`);
  writeFileSync(join(dump, "args.bin"), Buffer.from(new Float32Array([1, 2, NaN, 4]).buffer));
  const described = Array.from({ length: tasks }, (_, t) => ({ task_id: String(t), scope: "auto", early_dispatch: false, kernel_ids: [-1, t % names.length, -1], block_num: 1, args: [] }));
  const edges = [];
  for (let t = chains; t < tasks; t++) edges.push({ pred: String(t - chains), succ: String(t) });
  writeFileSync(join(directory, "deps.json"), JSON.stringify({ runtime: "tensormap_and_ringbuffer", tasks: described, tensors: [], edges }));
  writeFileSync(join(directory, "name_map_made.json"), JSON.stringify({ level: 2, orchestrator_name: "made", callable_id_to_name: Object.fromEntries(names.map((name, k) => [k, name])) }));
  return directory;
}
