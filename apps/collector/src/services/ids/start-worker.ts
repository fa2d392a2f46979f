import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a thread.
 * @param from `import.meta.url` of a module beside the program. @param name Of the program, without its ending.
 */
export function startWorker(from: string, name: string, options: WorkerOptions): Worker {
  const extension = from.endsWith(".ts") ? "ts" : "js";
  const program = new URL(`./${name}.${extension}`, from);
  if (extension === "js") return new Worker(program, options);
  // A thread of Node 20 does not take over how its parent reads TypeScript.
  const source = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(program.href)}); });`;
  return new Worker(source, { ...options, eval: true, execArgv: ["--conditions=@lanthorn/source"] });
}
