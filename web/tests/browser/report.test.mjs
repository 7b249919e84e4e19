// Reports of `find --html`: files that need no server and send no request.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { argus } from "../support/tool.mjs";
import { arrive, colours, drawn, ready, settled, start, stop, text, visitFile } from "../support/watch.mjs";

let home;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "argus-report-"));
  await start();
});
after(async () => {
  await stop();
  rmSync(home, { recursive: true });
});

/** Runs a scene and writes the report of it. */
function report(name, scene, ...find) {
  const [run, file] = [join(home, name), join(home, `${encodeURIComponent(name)}.html`)];
  argus("run", ...scene, "--dump-tensor", "-o", run);
  argus("find", run, ...find, "--html", file);
  return file;
}

let small;
const smallReport = () => (small ??= report("small", ["paged_attention", "--case", "CaseSmall1", "--inject", "PV:0:nan"]));

test("13 tasks: the verdict, the graph, the task and its tensor, by keys", () => visitFile(smallReport(), "", async page => {
  await ready(page, "overview");
  assert.equal(await page.title(), "small · differ");
  assert.equal(await text(page, ".title .pill"), "differ");
  assert.match(await text(page, ".list .row"), /PV[\s\S]*is NaN, expected/);
  assert.equal(await page.locator(".tasks tbody tr").count(), 13);
  assert.match(await text(page, ".tasks tbody tr"), /PV\s+introduced the error\s+output 2: 1 out of tolerance/);
  await page.keyboard.press("Enter");
  await arrive(page, /^#\/d0\/task\/\d/);
  await ready(page, "task");
  assert.equal(await page.locator(".map").count(), 2);
  await page.keyboard.press("Enter");
  await arrive(page, /^#\/d0\/tensor\/\d+\?element=128/);
  await settled(page);
  assert.ok((await colours(page)) > 4);
  assert.equal(await text(page, "[data-value=after]"), "NaN");
  assert.match(await text(page, "[data-value=reference]"), /^-?0\.\d{4}/);
  await page.keyboard.press("Escape");
  await ready(page, "task");
  await page.keyboard.press("Escape");
  await arrive(page, /^#\/d0\/graph\?task=\d/);
  await drawn(page, "graph");
  assert.equal(await page.getAttribute("[data-ready=graph]", "data-tasks"), "13");
  assert.ok((await colours(page)) > 4);
  await page.keyboard.press("l");
  await page.waitForFunction(() => /inherited the error/.test(document.querySelector(".inspector").textContent));
  assert.match(await text(page, ".inspector"), /way of the error/);
  await page.keyboard.press("?");
  assert.match(await text(page, ".help"), /to a task it waits for/);
  assert.doesNotMatch(await text(page, ".help"), /timeline|compare/);
}));

test("dark and light, as the system has it and as one likes", async () => {
  for (const colorScheme of ["dark", "light"]) {
    await visitFile(smallReport(), "", async page => {
      await ready(page, "overview");
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
      assert.equal(await theme(), colorScheme);
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const before = await paper();
      await page.keyboard.press("D");
      assert.notEqual(await theme(), colorScheme);
      assert.notEqual(await paper(), before);
    }, { colorScheme });
  }
});

test("a link into a report shows the same place", () => visitFile(smallReport(), "#/d0/graph?task=2&color=kernel", async page => {
  await drawn(page, "graph");
  assert.equal(await page.locator(".inspector").count(), 1);
  assert.equal(await page.locator(".choice button[aria-pressed=true]").innerText(), "kernel");
}));

test("16,640 tasks: found by search, seen in the graph, and what is left out is said", async () => {
  const file = report("large", ["paged_attention", "--case", "large", "--skip-golden", "--inject", "PV:700:nan"]);
  await visitFile(file, "", async page => {
    await ready(page, "overview");
    await page.locator(".tasks input").fill("inherited up");
    await page.waitForFunction(() => /UP/.test(document.querySelector(".tasks tbody tr")?.textContent ?? ""));
    await page.locator(".tasks input").fill("clean");
    await page.waitForFunction(() => /the first 25 are shown/.test(document.querySelector(".tasks [role=status]").textContent));
    await page.evaluate(() => (location.hash = "#/d0/task/9000"));
    await page.waitForSelector(".failure");
    assert.match(await text(page, ".failure"), /not in the report[\s\S]*argus open .* shows everything/);
    await page.keyboard.press("2");
    await page.waitForSelector("[data-ready=graph][data-tasks='16640'][data-frames]");
    assert.ok((await colours(page)) > 4);
    await page.keyboard.press("w");
    await arrive(page, /task=\d/);
    await page.keyboard.press("Enter");
    await ready(page, "task");
  });
});

test("names full of markup are names", () => {
  const name = "a<\u002fscript><!--<script>alert(1)<\u002fscript>&quot;@ANSWERS@<img src=x onerror=alert(2)>".replaceAll("/", "\u2215");
  return visitFile(report(name, ["vector_example", "--inject", "mul:nan"]), "", async page => {
    await ready(page, "overview");
    assert.equal(await page.title(), `${name} · differ`);
    assert.ok((await text(page, ".path")).includes(name));
    assert.equal(await page.locator("#page img, #page script").count(), 0);
  });
});

test("another dump and its values, and runs side by side", async () => {
  argus("run", "vector_example", "--dump-tensor", "-o", join(home, "good"));
  const file = report("bad", ["vector_example", "--inject", "mul:nan"], "--against", join(home, "good"));
  await visitFile(file, "", async page => {
    await ready(page, "overview");
    assert.match(await text(page, "main"), /against another dump/);
    await page.keyboard.press("Enter");
    await ready(page, "task");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(await text(page, ".inspector"), /cells of 4 × 4 elements/);
    assert.match(await text(page, "[data-value=after]"), /NaN/);
    assert.match(await text(page, "[data-value=reference]"), /\d/);
  });
  const runs = join(home, "runs.html");
  argus("find", "--runs", join(home, "good"), join(home, "bad"), "--html", runs);
  await visitFile(runs, "", async page => assert.match(await text(page, "pre"), /mul/));
});
