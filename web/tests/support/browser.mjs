// A browser without a screen, on software WebGL.

import { chromium } from "playwright-core";

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];

export async function launch() {
  return chromium.launch({ executablePath: process.env.ARGUS_CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}
