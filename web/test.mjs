// Runs the tests: types, the bundle, decoders and maths; with --browser also the views, in a browser.
//
// The browser tests take the tool from ARGUS_BIN and the browser from ARGUS_CHROMIUM. ARGUS_LONG=1 adds the runs
// that take too long for every change.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: here, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

run(join("node_modules", "typescript", "bin", "tsc"), "--noEmit");
run("build.mjs", "--check");

// Node.js 20 reads no TypeScript: the tests are bundled with what they test.
const made = mkdtempSync(join(here, "node_modules", ".unit-"));
try {
  const unit = readdirSync(join(here, "tests", "unit")).map(name => join(here, "tests", "unit", name));
  await build({ entryPoints: unit, outdir: made, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  run("--test", ...readdirSync(made).map(name => join(made, name)));
} finally {
  rmSync(made, { recursive: true });
}

if (process.argv.includes("--browser")) {
  run("--test", "--test-concurrency=1", ...readdirSync(join(here, "tests", "browser")).filter(name => name.endsWith(".test.mjs")).map(name => join("tests", "browser", name)));
}
