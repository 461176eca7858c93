// Builds web/out: hashed scripts and style, index.html, favicon. `--watch` keeps building.
// A release build prints the compressed size of the first load and fails above the budget.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { context } from "esbuild";

const first_load_budget = 70 * 1024;
const root = dirname(fileURLToPath(import.meta.url));
const out = join(root, "out");
const watch = process.argv.includes("--watch");

// Everything the browser loads before the first page is shown: an entry and its static imports.
function first_load_files(outputs, entry) {
  const files = new Set();
  const visit = (file) => {
    if (files.has(file)) return;
    files.add(file);
    for (const imported of outputs[file].imports) if (imported.kind === "import-statement") visit(imported.path);
  };
  visit(entry);
  return [...files];
}

function output_of(outputs, entry_point) {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entry_point);
  if (!found) throw new Error(`no output for ${entry_point}`);
  return found[0];
}

const url_of = (file) => file.replace(/^out\//, "/");

async function write_page(outputs) {
  const app = output_of(outputs, "src/main.tsx");
  const style = output_of(outputs, "src/style.css");
  const theme = output_of(outputs, "src/pin_theme.ts");
  const icon = await readFile(join(root, "src/favicon.svg"));
  const icon_name = `favicon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
  await writeFile(join(out, icon_name), icon);

  const scripts = first_load_files(outputs, app);
  const preloads = scripts
    .filter((file) => file !== app)
    .map((file) => `<link rel="modulepreload" href="${url_of(file)}">`);
  const template = await readFile(join(root, "src/index.html"), "utf8");
  const page = template
    .replace("{{icon}}", `/${icon_name}`)
    .replace("{{theme}}", url_of(theme))
    .replace("{{style}}", url_of(style))
    .replace("{{app}}", url_of(app))
    .replace("{{preloads}}", preloads.join("\n    "));
  await writeFile(join(out, "index.html"), page);
  return ["out/index.html", theme, style, ...scripts];
}

async function remove_stale(outputs) {
  const current = new Set(Object.keys(outputs).map((file) => file.replace(/^out\//, "")));
  for (const name of await readdir(out)) {
    const ours = /-[A-Z0-9]{8}\.(js|css)$/.test(name);
    if (ours && !current.has(name)) await rm(join(out, name), { force: true });
  }
}

async function report(files) {
  let total = 0;
  for (const file of files) {
    const size = gzipSync(await readFile(join(root, file)), { level: 9 }).length;
    total += size;
    console.log(`${String(size).padStart(8)}  ${file}`);
  }
  console.log(`${String(total).padStart(8)}  first load, gzip bytes (budget ${first_load_budget})`);
  if (total > first_load_budget) throw new Error("the first load is over its budget");
}

const finish = {
  name: "finish",
  setup(build) {
    build.onEnd(async (result) => {
      if (result.errors.length > 0) return;
      const files = await write_page(result.metafile.outputs);
      await remove_stale(result.metafile.outputs);
      if (!watch) await report(files);
    });
  },
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const build = await context({
  absWorkingDir: root,
  preserveSymlinks: true, // names of parts are hashes of paths too: they must not depend on where node_modules really is
  entryPoints: { app: "src/main.tsx", style: "src/style.css", theme: "src/pin_theme.ts" },
  entryNames: "[name]-[hash]",
  chunkNames: "part-[hash]",
  outdir: "out",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022"],
  loader: { ".md": "text", ".svg": "text" },
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  legalComments: "none",
  metafile: true,
  logLevel: "info",
  plugins: [finish],
});

if (watch) {
  await build.watch();
} else {
  try {
    await build.rebuild();
  } finally {
    await build.dispose();
  }
}
