// A page that is watched: nothing may be printed, fail, or leave the machine.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

// Chromium's own remark on reading pixels back from software WebGL, when it puts the page together.
const DRIVER = /GL Driver Message .* GPU stall due to ReadPixels/;

// A bundle to use instead of the one inside the tool: a change of the page is tried without building the tool again.
const DIST = process.env.ARGUS_DIST;

let browser;

export async function start() {
  browser = await launch();
}

export async function stop() {
  await browser?.close();
}

/** Opens an address of a server in a page of its own, runs a test in it, and closes it. */
export function visit(server, fragment, body, options = {}) {
  const { origin } = new URL(server.url);
  return watched(`${server.url}${fragment}`, url => url.origin === origin, body, options);
}

/** The same for a file, which may ask for nothing but itself. */
export function visitFile(path, fragment, body, options = {}) {
  const file = pathToFileURL(path).href;
  return watched(`${file}${fragment}`, url => url.href.split("#")[0] === file, body, options);
}

async function watched(address, allowed, body, { refused = false, ...options }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const said = [];
  page.on("console", message => {
    if (DRIVER.test(message.text())) return;
    // A refusal that the page shows in words is printed by the browser, too.
    if (refused && /Failed to load resource/.test(message.text())) return;
    said.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", error => said.push(error.stack ?? String(error)));
  page.on("dialog", dialog => {
    said.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", request => {
    if (!allowed(new URL(request.url())) && !request.url().startsWith("data:")) said.push(`request to ${request.url()}`);
  });
  if (DIST) {
    await context.route(/\/(app\.js|app\.css)$/, route => route.fulfill({ path: join(DIST, new URL(route.request().url()).pathname.split("/").pop()) }));
  }
  try {
    await page.goto(address);
    await body(page);
    assert.deepEqual(said, []);
  } catch (error) {
    if (said.length) error.message += `\nsaid: ${said.join("\n")}`;
    error.message += `\nat ${page.url().replace(/[0-9a-f]{32}/, "TOKEN")}`;
    throw error;
  } finally {
    await context.close();
  }
}

export const ready = (page, view) => page.waitForSelector(`[data-ready=${view}]`);
/** A picture that has been drawn. */
export const drawn = (page, view) => page.waitForSelector(`[data-ready=${view}][data-frames]`);
/** A tensor with all the tiles it asked for. */
export const settled = page => page.waitForSelector("[data-ready=tensor][data-settled=yes]");
export const at = page => page.evaluate(() => location.hash);
export const text = (page, selector) => page.locator(selector).first().innerText();

/** Waits until the address fits. */
export const arrive = (page, pattern) => page.waitForFunction(source => new RegExp(source).test(location.hash), pattern.source);

/** How many different colours a picture has: an empty one has one or two. */
export async function colours(page) {
  const shot = await page.locator(".picture").screenshot();
  return page.evaluate(async bytes => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    return new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, [...shot]);
}
