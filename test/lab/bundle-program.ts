import { mkdirSync, renameSync } from "node:fs";
import { join, relative } from "node:path";
import { buildSync } from "esbuild";
import { REPOSITORY } from "./lab-state.ts";

/** Below `node_modules`, so that the native packages are found from there. */
const FOLDER = join(REPOSITORY, "node_modules/.cache/lanthorn-tests");
const NATIVE = ["better-sqlite3", "@node-rs/argon2", "koffi", "pcap", "oui-data"];

const made = new Map<string, string>();

/**
 * Compiles a program that tests start as a process, with all that it imports, into one file; once in this process. To compile it at each
 * start took more of the processor than what most of these programs do.
 * @param source Path of the program in TypeScript.
 * @returns Path of what Node runs. @throws Error when it does not compile.
 */
export function bundleProgram(source: string): string {
  const known = made.get(source);
  if (known !== undefined) return known;
  // Programs of two folders may have one name.
  const name = relative(REPOSITORY, source).replace(/\.ts$/, "").replaceAll("/", "-");
  const outfile = join(FOLDER, `${name}.mjs`);
  const unfinished = join(FOLDER, `${name}-${process.pid}.mjs`);
  mkdirSync(FOLDER, { recursive: true });
  buildSync({
    entryPoints: [source], outfile: unfinished, bundle: true, format: "esm", platform: "node", target: "node20.19",
    conditions: ["@lanthorn/source"], external: NATIVE, alias: { "readable-stream": "stream" }, logLevel: "warning",
    banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' },
  });
  // Another process may start the same program now.
  renameSync(unfinished, outfile);
  made.set(source, outfile);
  return outfile;
}
