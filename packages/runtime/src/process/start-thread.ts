import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a thread whose program lies beside the caller, in the same language: the source in tests, JavaScript in the product, where each
 * such program is named in the package's build command.
 * @param name Of the file, without its extension.
 * @param beside The caller's `import.meta.url`.
 */
export function startThread(name: string, beside: string, options: WorkerOptions): Worker {
  const extension = beside.endsWith(".ts") ? "ts" : "js";
  const program = new URL(`./${name}.${extension}`, beside);
  if (extension === "js") return new Worker(program, options);
  // A thread of Node 20 does not take over how its parent reads TypeScript.
  const source = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(program.href)}); });`;
  return new Worker(source, { ...options, eval: true, execArgv: ["--conditions=@lanthorn/source"] });
}
