// How long a tile of a 4 GiB tensor takes at each level, when it is asked for first and again, and what memory the server takes.
//
//   ARGUS_BIN=... node bench/tiles.mjs
//
// The tensor is a file with a hole: its zeros are computed like any other number. Prints figures; judges nothing.

import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, referenceDump } from "../tests/support/tool.mjs";

const SIDE = 32768;
const home = mkdtempSync(join(tmpdir(), "argus-tiles-"));
const run = referenceDump(home, 1, { shape: [SIDE, SIDE], chains: 1 });
truncateSync(join(run, "args_dump", "args.bin"), 4 * SIDE * SIDE);

const server = await open(run);
/** Milliseconds of processor time that the server has used. */
const used = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
};
try {
  await (await fetch(`${server.url}api/0/record/0`)).json();
  for (const round of ["first", "again"]) {
    for (let level = 7; level >= 0; level--) {
      const [begin, before] = [performance.now(), used()];
      let answered = 0;
      for (;;) {
        const answer = await fetch(`${server.url}api/0/record/0/tile?level=${level}&row=0&col=0`);
        await answer.arrayBuffer();
        answered ||= performance.now() - begin;
        if (answer.status !== 202) break;
        await new Promise(done => setTimeout(done, 20));
      }
      const exact = performance.now() - begin;
      console.log(`${round}, level ${level}: answered in ${answered.toFixed(0).padStart(4)} ms, exact after ${exact.toFixed(0).padStart(6)} ms, ${used() - before} ms of processor time`);
    }
  }
  const memory = readFileSync(`/proc/${server.pid}/status`, "utf8").match(/RssAnon:.*|RssFile:.*/g);
  console.log(`memory of the server: ${memory.join(", ").replace(/\s+/g, " ")}`);
} finally {
  await server.close();
  rmSync(home, { recursive: true });
}
