// Every view of a run with one wrong element, by keyboard and by link.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { argus, open } from "../support/tool.mjs";
import { arrive, at, colours, drawn, ready, settled, start, stop, text, visit } from "../support/watch.mjs";

let home, server;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "argus-page-"));
  argus("run", "dump_tensor_example", "--dump-tensor", "--dump-args", "--inject", "add:0:bitflip", "-o", join(home, "bad"));
  argus("run", "dump_tensor_example", "--dump-tensor", "--dump-args", "-o", join(home, "good"));
  [server] = await Promise.all([open(join(home, "bad"), join(home, "good")), start()]);
});
after(async () => {
  await Promise.all([stop(), server?.close()]);
  rmSync(home, { recursive: true });
});

/** Waits until the dump was judged. */
const judged = page => page.waitForSelector(".overview .list .row");

test("the overview says what ran, what is wrong and what to do", () => visit(server, "", async page => {
  await judged(page);
  assert.match(await text(page, "h1"), /dump_tensor_example/);
  assert.equal(await text(page, ".pill"), "differ");
  assert.match(await text(page, ".list .row"), /add[\s\S]*0x0000000000000000[\s\S]*8192/);
  assert.match(await text(page, ".command code"), /^argus /);
  const kernels = await page.locator("section:has(h2:text('Kernels')) tbody tr").allInnerTexts();
  assert.equal(kernels.length, 2);
  assert.match(kernels.join("\n"), /add_scalar_inplace/);
  const tasks = await page.locator(".tasks tbody tr").allInnerTexts();
  assert.equal(tasks.length, 2);
  assert.match(tasks[0], /0x0000000000000000\s+add\s+introduced the error\s+output 2: 1 out of tolerance/);
  await page.locator(".tasks input").fill("inherited");
  await page.waitForFunction(() => document.querySelectorAll(".tasks tbody tr").length === 1);
}));

test("the keyboard leads from the overview to the wrong element and back", () => visit(server, "#/d0/overview", async page => {
  await judged(page);
  await page.keyboard.press("Enter");
  await arrive(page, /^#\/d0\/task\/0/);
  await ready(page, "task");
  assert.equal(await page.locator("tr[aria-selected=true] td").first().innerText(), "2");
  await page.keyboard.press("Enter");
  await arrive(page, /^#\/d0\/tensor\/2\?element=8192/);
  await settled(page);
  assert.match(await text(page, ".inspector .head"), /\[8192\]/);
  await page.waitForFunction(() => document.querySelector("[data-value=after]")?.textContent.startsWith("1.469"));
  assert.equal(await text(page, "[data-value=reference]"), "5");
  // Away, and to the next wrong element: there is only this one.
  await page.keyboard.press("h");
  await page.waitForSelector("[data-element='8191']");
  await page.keyboard.press("e");
  await page.waitForSelector("[data-element='8192']");
  await page.keyboard.press("Escape");
  await arrive(page, /^#\/d0\/task\/0\?arg=2/);
  await ready(page, "task");
  await page.keyboard.press("Escape");
  await arrive(page, /^#\/d0\/graph\?task=0/);
  await drawn(page, "graph");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !/task=/.test(location.hash));
  await page.keyboard.press("Escape");
  await arrive(page, /^#\/d0\/overview/);
}));

test("the graph is walked, coloured and entered by keys", () => visit(server, "#/d0/graph", async page => {
  await page.waitForSelector("[data-ready=graph][data-tasks='2'][data-frames]");
  assert.ok((await colours(page)) > 4);
  await page.keyboard.press("l");
  await arrive(page, /task=0/);
  await page.keyboard.press("l");
  await arrive(page, /task=1/);
  await page.keyboard.press("h");
  await arrive(page, /task=0/);
  for (const by of ["kernel", "time", "memory", "verdict"]) {
    await page.keyboard.press("c");
    await arrive(page, new RegExp(`color=${by}`));
  }
  await page.keyboard.press("+");
  await arrive(page, /at=/);
  await page.keyboard.press("f");
  await page.waitForFunction(() => !/at=/.test(location.hash));
  await page.keyboard.press("Enter");
  await arrive(page, /^#\/d0\/task\/0/);
}));

test("a click on a task chooses it", () => visit(server, "#/d0/graph", async page => {
  await drawn(page, "graph");
  const box = await page.locator(".picture").boundingBox();
  // Two tasks side by side, the picture around their middle.
  const spot = { x: box.width / 2 - 90, y: box.height / 2 };
  await page.locator(".picture").click({ position: spot });
  await arrive(page, /task=0/);
}));

test("a task shows its arguments, scalars, memory and commands", () => visit(server, "#/d0/task/1", async page => {
  await ready(page, "task");
  assert.match(await text(page, "h1"), /add_scalar_inplace/);
  const row = await page.locator(".arguments tbody tr").first().innerText();
  assert.match(row, /inout[\s\S]*FLOAT32 16384[\s\S]*5[\s\S]*6/);
  assert.match(await text(page, ".task"), /Scalars/);
  assert.ok((await page.locator(".buffer svg rect").count()) >= 2);
  assert.match((await page.locator(".command code").allInnerTexts()).join("\n"), /argus replay .*--task/);
  await page.keyboard.press("h");
  await arrive(page, /^#\/d0\/task\/0/);
}));

test("a task's instructions are modelled on demand", () => visit(server, "#/d0/task/1", async page => {
  await ready(page, "task");
  await page.keyboard.press("i");
  await page.waitForSelector("[data-ready=trace][data-slices][data-frames]");
  assert.ok(Number(await page.getAttribute("[data-ready=trace]", "data-slices")) > 4);
}));

test("a tensor is seen whole and near, with values, by keys", () => visit(server, "#/d0/tensor/2", async page => {
  await settled(page);
  assert.ok((await colours(page)) > 4);
  await page.keyboard.press("j");
  await arrive(page, /row=1/);
  await page.keyboard.press("L");
  await page.waitForFunction(() => Number(/col=(\d+)/.exec(location.hash)?.[1]) > 1);
  await page.keyboard.press("z");
  await arrive(page, /zoom=/);
  await settled(page);
  for (const pane of ["reference", "difference", "after"]) {
    await page.keyboard.press("v");
    await arrive(page, new RegExp(`of=${pane}`));
  }
  await page.keyboard.press("s");
  await arrive(page, /solo=1/);
  await page.keyboard.press("n");
  await page.waitForFunction(() => /no NaN/.test(document.querySelector(".said").textContent));
  assert.equal(await page.locator(".histogram canvas").count(), 1);
}));

test("a link shows a second person the same place", () => visit(server, "#/d0/tensor/2?row=8&col=0&of=difference&solo=1&zoom=3,8,64,22", async page => {
  await settled(page);
  assert.equal(await page.getAttribute("[data-ready=tensor]", "data-element"), "8192");
  assert.equal(await page.locator(".choice button[aria-pressed=true]").innerText(), "difference");
  assert.match(await at(page), /zoom=3,8,64,22/);
}));

test("the timeline shows cores and control threads", () => visit(server, "#/d0/timeline", async page => {
  await drawn(page, "timeline");
  assert.ok(Number(await page.getAttribute("[data-ready=timeline]", "data-slices")) >= 2);
  assert.ok((await colours(page)) > 4);
  await page.keyboard.press("c");
  await arrive(page, /critical=1/);
  await page.keyboard.press("l");
  await arrive(page, /slice=\d/);
  await page.keyboard.press("+");
  await arrive(page, /range=/);
}));

test("two dumps are compared, and their tensors stand side by side", () => visit(server, "#/compare/0/1", async page => {
  await ready(page, "compare");
  assert.equal(await text(page, ".title .pill"), "differ");
  assert.match(await text(page, "tbody tr"), /introduced[\s\S]*add/);
  await page.keyboard.press("t");
  await arrive(page, /^#\/d0\/tensor\/2\?with=1:2/);
  await settled(page);
  await page.keyboard.press("L");
  assert.match((await page.locator(".choice button").allInnerTexts()).join(), /other dump/);
  await page.goBack();
  await ready(page, "compare");
  await page.keyboard.press("x");
  await arrive(page, /^#\/compare\/1\/0/);
  await ready(page, "compare");
}));

test("the palette finds views, kernels, tasks and commands", () => visit(server, "", async page => {
  await judged(page);
  const find = async (typed, pattern) => {
    await page.keyboard.press("/");
    await page.keyboard.type(typed);
    await page.keyboard.press("Enter");
    await arrive(page, pattern);
  };
  await find("timel", /^#\/d0\/timeline/);
  await find("0x1", /^#\/d0\/task\/1/);
  await find("add_sc", /^#\/d0\/graph\?.*kernel=1/);
  await find("compare", /^#\/compare\/0\/1/);
  await find("good", /^#\/d1\/overview/);
  await page.keyboard.press("/");
  await page.keyboard.type("nothing like this");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".palette").count(), 0);
}));

test("help names the keys of the view, dark and light change and stay", () => visit(server, "#/d0/graph", async page => {
  await drawn(page, "graph");
  await page.keyboard.press("?");
  assert.match(await text(page, ".help"), /to a task it waits for/);
  await page.keyboard.press("Escape");
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.keyboard.press("D");
  assert.equal(await theme(), "light");
  await page.reload();
  await drawn(page, "graph");
  assert.equal(await theme(), "light");
}));

test("a narrow window scrolls in no direction that it should not", async () => {
  for (const fragment of ["#/d0/overview", "#/d0/graph?task=0", "#/d0/task/0", "#/d0/tensor/2", "#/d0/timeline", "#/compare/0/1"]) {
    await visit(server, fragment, async page => {
      await page.waitForSelector("[data-ready]");
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= room, `${fragment} is ${wide} wide in ${room}`);
    }, { viewport: { width: 390, height: 760 } });
  }
});

test("what is not there is said in words", () => visit(server, "#/d0/task/999", async page => {
  await page.waitForSelector(".failure");
  assert.match(await text(page, ".failure"), /999|no task/);
  await page.evaluate(() => (location.hash = "#/d7/graph"));
  await page.waitForFunction(() => /no dump 7/.test(document.body.innerText));
}, { refused: true }));
