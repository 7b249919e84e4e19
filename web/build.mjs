// Builds the page and the report into dist. With --check it builds into memory and compares: the committed bundle is what the
// sources give, byte by byte, and stays small enough: the page is served over slow tunnels, and every report carries its
// bundle.
import { build } from "esbuild";
import { readFile, writeFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
/** What is served and what is written into a report, with the bytes that all of it may have. */
const PARTS = [
  { names: ["app.js", "app.css", "index.html", "icon.svg"], most: 250_000 },
  { names: ["report.js", "report.css", "report.html", "unpack.js"], most: 170_000 },
  { names: ["runs.html"], most: 1_000 },
];

/** twgl makes shapes and asynchronous twins of its functions as it is loaded; nothing here uses them, so they are left out. */
const withoutShapes = {
  name: "without shapes",
  setup({ onLoad }) {
    onLoad({ filter: /twgl-full\.module\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(/^(const \w+ = )(?=(createBufferInfoFunc|createBufferFunc|wrapCallbackFnToAsyncFn)\()/gm, "$1/*@__PURE__*/ "),
    }));
  },
};

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", report: "src/report.tsx", unpack: "src/unpack.ts" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  plugins: [withoutShapes],
  write: false,
  logLevel: "warning",
});
const files = new Map(bundled.outputFiles.map(file => [file.path.slice(dist.length + 1), Buffer.from(file.contents)]));
for (const name of ["index.html", "icon.svg", "report.html", "runs.html"]) files.set(name, await readFile(join(here, "src", name)));

const size = names => names.reduce((sum, name) => sum + files.get(name).length, 0);
for (const { names, most } of PARTS) if (size(names) > most) throw new Error(`${names.join(", ")} have ${size(names)} bytes, more than ${most}`);
const total = size([...files.keys()]);

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
