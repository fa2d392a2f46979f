import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { expect, test } from "vitest";

test("a thread gives way to the others of its process", async () => {
  const module = new URL("./thread-priority.ts", import.meta.url).href;
  const source = `import("tsx/esm/api").then(async ({ register }) => {
    register();
    const { lowerThreadPriority } = await import(${JSON.stringify(module)});
    const isLower = lowerThreadPriority();
    const thread = Number(require("node:fs").readlinkSync("/proc/thread-self").split("/").at(-1));
    require("node:worker_threads").parentPort.postMessage([isLower, require("node:os").getPriority(thread)]);
  });`;
  const [message] = (await once(new Worker(source, { eval: true }), "message")) as [unknown];
  expect(message).toEqual([true, Math.max(getPriority(process.pid), 10)]);
});
