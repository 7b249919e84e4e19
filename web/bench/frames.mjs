// How fast the page is, in software WebGL: the first useful picture, and frames a second while one pans and zooms.
//
//   node bench/frames.mjs            a made-up run of 100,000 tasks: the page alone
//   node bench/frames.mjs DUMP       a dump, by the tool that ARGUS_BIN names: times count from the command
//
// `argus run web/bench/many --skip-golden --dump-tensor` captures a run of 100,096 tasks.
//
// Prints figures; judges nothing.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { launch } from "../tests/support/browser.mjs";
import { madeUp, serve } from "../tests/support/made-up.mjs";

const dump = process.argv[2];
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1400, height: 850 } });

/** Seconds of processor time that the browser's processes have used: a figure that a busy machine does not change. */
function used() {
  const parents = new Map(execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n").map(line => line.trim().split(/\s+/).map(Number)));
  const ours = pid => pid === process.pid || (parents.has(pid) && parents.get(pid) > 1 && ours(parents.get(pid)));
  let ticks = 0;
  for (const pid of parents.keys()) {
    if (pid === process.pid || !ours(pid)) continue;
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended since it was listed.
    }
  }
  return ticks / 100;
}

/** Frames a second while `act` is called before each frame. */
async function rate(act) {
  const before = used();
  const found = await page.evaluate(async source => {
    const act = new Function("i", `return (${source})(i)`);
    const host = document.querySelector(".picture");
    const FRAMES = 90;
    const drawn = Number(host.dataset.frames);
    let last = performance.now();
    const begin = last;
    let slowest = 0;
    for (let i = 0; i < FRAMES; i++) {
      act(i);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      slowest = Math.max(slowest, now - last);
      last = now;
    }
    return { fps: (1000 * FRAMES) / (last - begin), slowest, drawn: Number(host.dataset.frames) - drawn };
  }, act.toString());
  return { ...found, processor: (1000 * (used() - before)) / Math.max(1, found.drawn) };
}

const wheel = i => document.querySelector(".picture").dispatchEvent(new WheelEvent("wheel", { deltaX: i % 2 ? 31 : 29, deltaY: 0, bubbles: true, cancelable: true }));
const zoom = i => {
  const host = document.querySelector(".picture");
  const box = host.getBoundingClientRect();
  host.dispatchEvent(new WheelEvent("wheel", { deltaY: i < 45 ? -30 : 30, clientX: box.left + box.width * 0.4, clientY: box.top + box.height * 0.4, bubbles: true, cancelable: true }));
};
const print = (what, found) => console.log(`${what.padEnd(34)} ${found.fps.toFixed(1).padStart(6)} frames/s, slowest ${found.slowest.toFixed(0)} ms, ${found.drawn} pictures of ${found.processor.toFixed(1)} ms processor time`);

const made = dump ? null : await serve(madeUp(100000));
for (const view of ["graph", "timeline"]) {
  await page.goto("about:blank");
  const begin = performance.now();
  const server = made ?? (await (await import("../tests/support/tool.mjs")).open(dump));
  await page.goto(`${server.url}#/d0/${view}`);
  await page.waitForSelector(".picture[data-frames], .column[data-ready]", { state: "attached", timeout: 120000 });
  const first = performance.now() - begin;
  const inPage = await page.evaluate(() => performance.now());
  console.log(`${`${view}: first picture`.padEnd(34)} ${first.toFixed(0).padStart(6)} ms from the ${dump ? "command" : "request"}, ${inPage.toFixed(0)} ms of the page's own clock`);
  if (!(await page.locator(".picture").count())) {
    console.log(`${view}: nothing to draw`);
    if (!made) await server.close();
    continue;
  }
  print(`${view}: panning, all in sight`, await rate(wheel));
  print(`${view}: zooming in and out`, await rate(zoom));
  if (!made) await server.close();
}
await browser.close();
made?.close();
