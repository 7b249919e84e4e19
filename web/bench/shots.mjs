// Takes the pictures of docs/open.md: every view, dark and light. Takes the tool from ARGUS_BIN and the browser from
// ARGUS_CHROMIUM; makes the pictures small with pngquant where it is installed.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { argus, open } from "../tests/support/tool.mjs";
import { settled, start, stop, visit } from "../tests/support/watch.mjs";

const docs = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs", "open");
const home = join(tmpdir(), "attention");
rmSync(home, { recursive: true, force: true });
mkdirSync(docs, { recursive: true });

argus("run", "paged_attention", "--case", "CaseSmall2", "--dump-tensor", "--dump-args", "--inject", "PV:1:zero-row", "-o", join(home, "bad"));
argus("run", "paged_attention", "--case", "CaseSmall2", "--dump-tensor", "--dump-args", "-o", join(home, "good"));
argus("run", "paged_attention", "--case", "large", "--skip-golden", "--dump-tensor", "--inject", "PV:700:bitflip", "-o", join(home, "large"));
const server = await open(join(home, "bad"), join(home, "good"), join(home, "large"));
await start();

// The run must be judged before its pictures are taken.
for (const dump of [0, 2]) await visit(server, `#/d${dump}/overview`, page => page.waitForSelector(".list .row"));
const report = await (await fetch(`${server.url}api/0/overview`)).json();
const [first] = report.verdict.first_wrong;
// The last task has inherited the error: the graph shows the way to it.
const views = {
  overview: "#/d0/overview",
  graph: `#/d0/graph?task=${report.run.tasks - 1}`,
  large: "#/d2/graph",
  task: `#/d0/task/${first.index}`,
  tensor: `#/d0/tensor/${first.outputs[0].record}?element=${first.outputs[0].worst[0].index}`,
  timeline: "#/d2/timeline",
  compare: "#/compare/0/1",
};
for (const colorScheme of ["dark", "light"]) {
  for (const [name, fragment] of Object.entries(views)) {
    await visit(server, fragment, async page => {
      await page.waitForSelector("[data-ready]");
      if (name === "tensor") await settled(page);
      if (["graph", "large", "timeline"].includes(name)) await page.waitForSelector(".picture[data-frames]");
      if (name === "task") {
        await page.keyboard.press("i");
        await page.waitForSelector("[data-ready=trace][data-frames]");
      }
      // Marks over a picture come with the answers after it.
      await page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => {});
      const path = join(docs, `${name}-${colorScheme}.png`);
      await page.screenshot({ path });
      spawnSync("pngquant", ["--force", "--skip-if-larger", "--strip", "--speed", "1", "--output", path, "96", path]);
    }, { colorScheme, viewport: { width: 1200, height: 740 } });
  }
}
await stop();
await server.close();
rmSync(home, { recursive: true });
