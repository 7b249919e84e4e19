// Runs of every size and in every state: small, large, going on, killed, damaged, and with hostile names.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { argus, going, open, referenceDump } from "../support/tool.mjs";
import { arrive, colours, drawn, ready, start, stop, text, visit } from "../support/watch.mjs";

const LONG = process.env.ARGUS_LONG === "1";
let home;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "argus-page-"));
  await start();
});
after(async () => {
  await stop();
  rmSync(home, { recursive: true });
});

async function serving(dumps, body) {
  const server = await open(...dumps);
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

/** The graph of a dump, drawn, with all its tasks. */
async function graphOf(server, tasks) {
  await visit(server, "#/d0/graph?color=kernel", async page => {
    await page.waitForSelector(`[data-ready=graph][data-tasks='${tasks}'][data-frames]`);
    assert.ok((await colours(page)) > 4);
    await page.keyboard.press("j");
    await arrive(page, /task=\d/);
    await page.keyboard.press("Enter");
    await arrive(page, /^#\/d0\/task\/\d/);
    await ready(page, "task");
  });
}

test("13 tasks", async () => {
  const run = join(home, "thirteen");
  referenceDump(run, 13, { chains: 3 });
  await serving([run], server => graphOf(server, 13));
});

test("16,640 tasks of paged attention, with one that wrote NaN", async () => {
  const run = join(home, "large");
  argus("run", "paged_attention", "--case", "large", "--skip-golden", "--dump-tensor", "--inject", "PV:700:nan", "-o", run);
  await serving([run], async server => {
    await graphOf(server, 16640);
    await visit(server, "#/d0/timeline", async page => {
      await drawn(page, "timeline");
      assert.ok(Number(await page.getAttribute("[data-ready=timeline]", "data-slices")) >= 16640);
      await page.keyboard.press("c");
      await arrive(page, /critical=1/);
    });
  });
});

test("100,000 tasks", async () => {
  const run = referenceDump(join(home, "hundred"), 100000, { chains: 250 });
  await serving([run], server => graphOf(server, 100000));
});

test("a run that is still going fills in", async () => {
  const run = join(home, "going");
  const child = await going(run);
  try {
    await serving([run], server => visit(server, "#/d0/graph", async page => {
      await page.waitForSelector("header .live");
      await drawn(page, "graph");
      const first = Number(await page.getAttribute("[data-ready=graph]", "data-tasks"));
      assert.ok(first < 16640, `${first} tasks`);
      child.resume();
      await child.ended;
      await page.waitForSelector("[data-ready=graph][data-tasks='16640']");
      await page.waitForSelector("header .live", { state: "detached" });
    }));
  } finally {
    child.kill();
  }
});

test("a killed run shows what it left", async () => {
  const run = join(home, "killed");
  const child = await going(run);
  child.kill();
  await child.ended;
  await serving([run], server => visit(server, "", async page => {
    await ready(page, "overview");
    assert.equal(await page.locator("header .live").count(), 0);
    assert.doesNotMatch(await text(page, ".facts"), /ending\s+complete/);
    await page.keyboard.press("2");
    await drawn(page, "graph");
    assert.ok(Number(await page.getAttribute("[data-ready=graph]", "data-tasks")) > 0);
  }));
});

test("damaged dumps are named beside sound ones", async () => {
  const [sound, cut, junk] = ["sound", "cut", "junk"].map(name => join(home, name));
  for (const run of [sound, cut, junk]) argus("run", "dump_tensor_example", "--dump-tensor", "-o", run);
  truncateSync(join(cut, "tensor_dump", "tensor_dump.bin"), 1000);
  for (const name of readdirSync(join(junk, "tensor_dump"))) writeFileSync(join(junk, "tensor_dump", name), "<script>alert(1)</script>");
  await serving([sound, cut, junk], async server => {
    await visit(server, "#/d0/overview", page => ready(page, "overview"));
    await visit(server, "#/d1/overview", async page => {
      await page.waitForSelector("[data-ready=overview], .failure");
      await page.evaluate(() => (location.hash = "#/d1/tensor/2"));
      await ready(page, "tensor");
      assert.match(await text(page, "main"), /has only 1000 bytes/);
    }, { refused: true });
    await visit(server, "#/d2/overview", async page => {
      await page.waitForSelector(".failure");
      assert.match(await text(page, ".failure"), /cannot be opened/);
    }, { refused: true });
  });
});

test("names full of markup are names", async () => {
  const names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "\"'`&lt;{{7*7}}\u202eevil"];
  const run = referenceDump(join(home, "<b>markup&quot;"), 12, { names, chains: 3 });
  await serving([run], async server => {
    for (const fragment of ["#/d0/overview", "#/d0/graph?color=kernel&task=1", "#/d0/task/0", "#/d0/tensor/0", "#/d0/timeline"]) {
      await visit(server, fragment, async page => {
        await page.waitForSelector("[data-ready]");
        assert.equal(await page.locator("main img, main script, main b b").count(), 0);
      });
    }
    await visit(server, "#/d0/task/0", async page => {
      await ready(page, "task");
      assert.equal(await text(page, "h1"), names[0]);
      await page.keyboard.press("/");
      await page.keyboard.type("<img");
      await page.waitForFunction(() => /<img src=x/.test(document.querySelector(".palette li")?.textContent ?? ""));
    });
  });
});

test("every view of 100,000 tasks, one after the other", { skip: !LONG }, async () => {
  const run = referenceDump(join(home, "again"), 100000, { chains: 40 });
  await serving([run], server => visit(server, "#/d0/overview", async page => {
    await ready(page, "overview");
    for (let round = 0; round < 5; round++) {
      for (const [key, view] of [["2", "graph"], ["3", "timeline"], ["1", "overview"]]) {
        await page.keyboard.press(key);
        await page.waitForSelector(`[data-ready=${view}]`);
      }
    }
  }));
});
