import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { ask } from "./testing/ask.ts";
import { address, createOpened, lastOf, NAME, question } from "./testing/opened.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const opened = createOpened();
const folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-"));
afterEach(() => opened.close());
afterAll(() => rmSync(folder, { recursive: true }));

function start(fd: number, upstreamPort: number) {
  const file = join(folder, "dns.toml");
  writeFileSync(file, `[[upstreams]]\naddress = "127.0.0.1"\nport = ${upstreamPort}\n`);
  // As systemd does: the socket is the third file, and the environment names the process.
  const child = spawn("sh", ["-c", 'export LISTEN_PID=$$; exec "$@"', "sh", process.execPath, MAIN, "resolver", "--config", file], {
    stdio: ["ignore", "pipe", "inherit", fd], env: { ...process.env, LISTEN_FDS: "1" },
  });
  return { child, ended: once(child, "exit") };
}

test("what is asked while the process is killed and starts again is answered: the socket is not its own", async () => {
  const upstream = await opened.server(() => ({ answers: [address(1)] }));
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const handle = (socket as unknown as Record<"_handle", { readonly fd: number; recvStop(): void }>)["_handle"];
  const { port } = socket.address();
  // This process only keeps the socket open, as systemd does; it must not read from it.
  handle.recvStop();
  const first = start(handle.fd, upstream.port);
  expect(lastOf(await ask(port, { questions: [question] }))).toEqual([1]);
  first.child.kill("SIGKILL");
  await first.ended;
  const waiting = ask(port, { questions: [{ ...question, name: `b.${NAME}` }] });
  const second = start(handle.fd, upstream.port);
  expect(lastOf(await waiting)).toEqual([1]);
  second.child.kill("SIGTERM");
  expect((await second.ended)[0]).toBe(0);
  socket.close();
});
