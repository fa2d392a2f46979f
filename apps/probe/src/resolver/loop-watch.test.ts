import { execFile } from "node:child_process";
import { expect, test } from "vitest";

/** A process that watches its loop and then does something. @returns How it ended, and what it wrote. */
function run(body: string): Promise<{ readonly signal: string | null; readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const source = `
    const { register } = await import("tsx/esm/api");
    register();
    const { watchLoop } = await import(${JSON.stringify(new URL("./loop-watch.ts", import.meta.url).href)});
    const { systemClock } = await import("@lanthorn/runtime");
    const stop = watchLoop(systemClock);
    const hold = (ms) => { const until = performance.now() + ms; while (performance.now() < until); };
    ${body}`;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ["--conditions=@lanthorn/source", "--input-type=module", "--eval", source], { cwd: new URL(".", import.meta.url) }, (_, stdout, stderr) =>
      resolve({ signal: child.signalCode, code: child.exitCode, stdout, stderr }));
  });
}

test("a process whose event loop hangs is killed, and says so", async () => {
  const { signal, stdout, stderr } = await run(`console.log("hangs"); hold(60_000); console.log("went on");`);
  expect({ signal, stdout }).toEqual({ signal: "SIGKILL", stdout: "hangs\n" });
  expect(stderr).toContain("the event loop hangs");
});

test("a process whose event loop is held for less, again and again, goes on", async () => {
  const { code, stdout } = await run(`
    for (let turn = 0; turn < 8; turn += 1) { hold(300); await new Promise((resolve) => setTimeout(resolve, 250)); }
    await stop();
    hold(1500);
    console.log("went on");`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "went on\n" });
});
