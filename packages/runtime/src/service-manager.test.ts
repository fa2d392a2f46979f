import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeClock } from "./clock.ts";
import { silentLog } from "./log.ts";
import { createServiceManager } from "./service-manager.ts";

/** Node cannot listen on a UNIX datagram socket, so the service manager's end is a few lines of Python. */
const RECEIVER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    data, fds, flags, _ = socket.recv_fds(s, 4096, 4)
    for fd in fds: os.close(fd)
    print(data.decode().replace("\\n", "|"), flush=True)
`;

let directory: string;
let socket: string;
let messages: AsyncIterator<string>;
let stop: () => Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-notify-"));
  socket = join(directory, "notify");
  const child = spawn("python3", ["-c", RECEIVER, socket], { stdio: ["ignore", "pipe", "inherit"] });
  messages = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  stop = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  expect(await next()).toBe("bound");
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The next message; those that carry only the barrier of systemd-notify are passed over. */
async function next(): Promise<string> {
  for (;;) {
    const { value } = await messages.next() as { readonly value: string };
    if (!value.startsWith("BARRIER")) return value;
  }
}

describe("the service manager", () => {
  test("receives that the service is ready, its status, and that it stops", async () => {
    const manager = createServiceManager({
      environment: { NOTIFY_SOCKET: socket, PATH: process.env["PATH"] }, clock: createFakeClock(), log: silentLog, alive: () => true,
    });
    manager.ready("watching lan0");
    expect(await next()).toBe("READY=1|STATUS=watching lan0");
    manager.status("watching lan0");
    manager.status("interface\nREADY=0");
    expect(await next()).toBe("STATUS=interface READY=0");
    await manager.stopping();
    expect(await next()).toBe("STOPPING=1|STATUS=stopping");
  });

  test("hears from the watchdog at half of its time, for as long as the work moves", async () => {
    const clock = createFakeClock();
    let answers = 0;
    let alive: () => boolean | Promise<boolean> = () => true;
    const manager = createServiceManager({
      environment: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "60000000", PATH: process.env["PATH"] }, clock, log: silentLog,
      alive: () => {
        answers += 1;
        return alive();
      },
    });
    await clock.advance(120_000);
    expect(answers).toBe(0);
    manager.ready("");
    expect(await next()).toContain("READY=1");
    await clock.advance(30_000);
    expect(await next()).toBe("WATCHDOG=1");
    for (const hang of [() => false, () => Promise.reject(new Error("no answer")), () => new Promise<boolean>(() => undefined)]) {
      alive = hang;
      await clock.advance(30_000);
    }
    expect(answers).toBe(4);
    manager.status("still here");
    expect(await next()).toBe("STATUS=still here");
    manager.close();
  });

  test("is not spoken to where there is none", async () => {
    const clock = createFakeClock();
    const manager = createServiceManager({
      environment: { WATCHDOG_USEC: "1000000" }, clock, log: silentLog, alive: () => true, command: "/nonexistent",
    });
    manager.ready("");
    await clock.advance(10_000);
    await manager.stopping();
  });

  test("that cannot be reached does not stop the daemon", async () => {
    const manager = createServiceManager({
      environment: { NOTIFY_SOCKET: socket }, clock: createFakeClock(), log: silentLog, alive: () => true, command: "/nonexistent",
    });
    manager.ready("");
    await manager.stopping();
  });
});
