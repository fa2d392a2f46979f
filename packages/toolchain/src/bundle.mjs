// Compiles an app, with all that it uses of packages and libraries, into a few files in `dist`. Runs in the app's folder; its arguments are
// programs beside `src/main.ts`, as those of threads and of other processes.
import { rmSync } from "node:fs";
import { build } from "esbuild";

// The names of parts hold a checksum: those of the last time would stay.
rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: ["src/main.ts", ...process.argv.slice(2)],
  // Beside the parts, as the source of a thread is beside what starts it.
  entryNames: "[name]",
  outdir: "dist",
  bundle: true,
  // What is loaded by `import()` becomes a file of its own.
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  conditions: ["@lanthorn/source"],
  // Native: they look for their binary beside themselves. `pg` works without pg-native, which is not installed, and ssh2 without what follows,
  // which is faster ciphers.
  external: ["better-sqlite3", "@node-rs/argon2", "pg-native", "cpu-features", "*.node"],
  // A copy of Node's own streams for browsers; mqtt and bl ask for it.
  alias: { "readable-stream": "stream" },
  // V8 keeps the text of a program in memory. Names stay, so that a stack trace can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 140,
  sourcemap: true,
  sourcesContent: false,
  // For libraries in CommonJS.
  banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;' },
  logLevel: "warning",
});
