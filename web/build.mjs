// Builds the page into dist. With --check it builds into memory and compares: the committed bundle is what the
// sources give, byte by byte, and stays small enough to be served over a slow tunnel.
import { build } from "esbuild";
import { readFile, writeFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
const LARGEST = 250 * 1000;

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  write: false,
  logLevel: "warning",
});
const files = new Map(bundled.outputFiles.map(file => [file.path.slice(dist.length + 1), Buffer.from(file.contents)]));
for (const name of ["index.html", "icon.svg"]) files.set(name, await readFile(join(here, "src", name)));

const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
if (total > LARGEST) throw new Error(`the bundle has ${total} bytes, more than ${LARGEST}`);

if (process.argv.includes("--check")) {
  for (const [name, bytes] of files) {
    const committed = await readFile(join(dist, name)).catch(() => Buffer.alloc(0));
    if (!bytes.equals(committed)) throw new Error(`web/dist/${name} is not what the sources give; run: npm run build`);
  }
  console.log(`web/dist is what the sources give (${total} bytes)`);
} else {
  await mkdir(dist, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(dist, name), bytes);
  for (const [name, bytes] of files) console.log(`${String(bytes.length).padStart(7)} ${name}`);
  console.log(`${String(total).padStart(7)} in all`);
}
