import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, createFakeClock, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAuthority } from "../../certificates/authority.ts";
import { type Attempt, createAttempt } from "./attempt.ts";
import type { ResolveHost } from "./resolve.ts";
import { createSender, type Sender } from "./send.ts";
import { createTargetPolicy } from "./target-policy.ts";
import { type Receiver, startReceiver } from "../testing/receiver.ts";

let receiver: Receiver;
let sender: Sender;
const closing: (() => void | Promise<void>)[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
  sender = createSender({ clock: systemClock }, { ca: null });
  closing.push(() => receiver.close(), () => sender.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function attemptWith(
  options: { readonly allow?: readonly string[]; readonly resolve?: ResolveHost; readonly sender?: Sender; readonly clock?: Clock } = {},
): Attempt {
  return createAttempt({
    policy: createTargetPolicy(options.allow ?? ["127.0.0.1"]),
    resolve: options.resolve ?? (() => Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }))),
    sender: options.sender ?? sender, clock: options.clock ?? systemClock, userAgent: "Lanthorn/test",
  });
}

async function send(url: string, options: Parameters<typeof attemptWith>[0] & { readonly stop?: AbortSignal } = {}) {
  return attemptWith(options)({
    url, secrets: { secret: "a secret", previous: null }, message: { id: "e1", body: Buffer.from('{"a":1}') },
    stop: options.stop ?? new AbortController().signal,
  });
}

async function sendAndGet(answer: (response: ServerResponse) => void) {
  receiver.answer = answer;
  const outcome = await send(receiver.url);
  if (!outcome) throw new Error("stopped");
  return outcome;
}

/** A server that speaks no HTTP. */
async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("an answer", () => {
  test.each([200, 201, 202, 204, 299])("%i has taken the delivery", async (status) => {
    expect(await sendAndGet((response) => void response.writeHead(status).end())).toMatchObject({
      arrived: true, statusCode: status, error: null, retryAfterMs: null,
    });
  });

  test.each([300, 304, 400, 404, 410, 429, 500, 503])("%i has not", async (status) => {
    expect(await sendAndGet((response) => void response.writeHead(status).end("why not"))).toMatchObject({
      arrived: false, statusCode: status, error: `status: ${status}`,
    });
  });

  test("that redirects is not followed", async () => {
    const other = await startReceiver();
    closing.push(() => other.close());
    for (const status of [301, 302, 303, 307, 308]) {
      expect(await sendAndGet((response) => void response.writeHead(status, { location: `${other.url}/` }).end())).toMatchObject({
        arrived: false, statusCode: status,
      });
    }
    expect(other.connections).toEqual([]);
  });

  test("with Retry-After is listened to", async () => {
    expect((await sendAndGet((response) => void response.writeHead(429, { "retry-after": "90" }).end())).retryAfterMs).toBe(90_000);
  });

  test("is kept by its first KiB, whole characters only, and without NUL", async () => {
    expect((await sendAndGet((response) => void response.end("é".repeat(2000)))).excerpt).toBe("é".repeat(512));
    expect((await sendAndGet((response) => void response.end(`x${"é".repeat(2000)}`))).excerpt).toBe(`x${"é".repeat(511)}`);
    expect((await sendAndGet((response) => void response.end(Buffer.from([65, 0, 66])))).excerpt).toBe("A\uFFFDB");
  });
});

describe("a hostile receiver", () => {
  test("that sends a gigabyte is cut off after a KiB", async () => {
    let written = 0;
    let isClosed = false;
    const before = process.memoryUsage().rss;
    const outcome = await sendAndGet((response) => {
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const pour = () => {
        let hasRoom = true;
        while (hasRoom && written < 1024 && !response.destroyed) {
          written += 1;
          hasRoom = response.write(chunk);
        }
      };
      response.on("close", () => (isClosed = true));
      response.on("drain", pour);
      response.writeHead(200);
      pour();
    });
    expect(outcome).toMatchObject({ arrived: true, statusCode: 200, excerpt: "x".repeat(1024) });
    await expect.poll(() => isClosed).toBe(true);
    expect(written).toBeLessThan(64);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("that sends a byte at a time is waited for one second beyond its status", async () => {
    const startedAt = Date.now();
    let timer: NodeJS.Timeout | undefined;
    const outcome = await sendAndGet((response) => {
      response.writeHead(202);
      timer = setInterval(() => response.write("."), 50);
    });
    clearInterval(timer);
    expect(outcome).toMatchObject({ arrived: true, statusCode: 202 });
    // Sooner than it is given up.
    expect(Date.now() - startedAt).toBeLessThan(9000);
  });

  test("that never answers is given up after ten seconds in all", async () => {
    const startedAt = Date.now();
    const [hanging, mute, dripping] = await Promise.all([
      (async () => {
        receiver.answer = () => {};
        return send(receiver.url);
      })(),
      listen(() => {}).then((url) => send(url)),
      listen((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => socket.write("x: y\r\n"), 200);
        socket.on("close", () => clearInterval(timer));
      }).then((url) => send(url)),
    ]);
    for (const outcome of [hanging, mute, dripping]) expect(outcome).toMatchObject({
      arrived: false, statusCode: null, error: "timeout: no answer in time", responseTimeMs: expect.toSatisfy((ms: number) => ms >= 9900 && ms < 60_000) as number,
    });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(9900);
    expect(Date.now() - startedAt).toBeLessThan(60_000);
  });

  test.each([
    ["resets the connection", (socket: Socket) => void socket.resetAndDestroy(), "connection: ECONNRESET"],
    ["hangs up", (socket: Socket) => void socket.once("data", () => socket.end()), "connection: ECONNRESET"],
    ["speaks something else", (socket: Socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"), "connection: HPE_INVALID_CONSTANT"],
    [
      "sends headers without end", (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`),
      "connection: HPE_HEADER_OVERFLOW",
    ],
    [
      "wants another protocol",
      (socket: Socket) => void socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      "connection: the receiver switched protocols",
    ],
  ])("that %s has not taken the delivery", async (_, onSocket, error) => {
    const outcome = await send(await listen(onSocket));
    expect(outcome).toMatchObject({ arrived: false, statusCode: null, error });
  });

  test("that is not there has not taken it", async () => {
    await receiver.close();
    closing.splice(0, 1);
    expect(await send(receiver.url)).toMatchObject({ arrived: false, error: "connection: ECONNREFUSED" });
  });

  test("is left at once when the collector stops, with nothing known", async () => {
    const stop = new AbortController();
    receiver.answer = () => stop.abort();
    expect(await send(receiver.url, { stop: stop.signal })).toBeNull();
  });
});

describe("a kept connection", () => {
  test("serves the next delivery; one that the receiver closed just then is replaced", async () => {
    await send(receiver.url);
    await send(receiver.url);
    expect(receiver.connections.length).toBe(1);
    let answered = 0;
    const url = await listen((socket) => {
      // Answers one request for each connection, and resets it at the second.
      socket.once("data", () => {
        answered += 1;
        socket.write("HTTP/1.1 204 No Content\r\n\r\n");
        socket.once("data", () => socket.resetAndDestroy());
      });
    });
    expect(await send(url)).toMatchObject({ arrived: true });
    expect(await send(url)).toMatchObject({ arrived: true });
    expect(answered).toBe(2);
  });
});

describe("the address of a name", () => {
  const toName = () => receiver.url.replace("127.0.0.1", "hooks.example.com");

  test("is the one that was checked, with the name in the request", async () => {
    const outcome = await send(`${toName()}/x`, { allow: ["127.0.0.1"], resolve: () => Promise.resolve(["127.0.0.1"]) });
    expect(outcome).toMatchObject({ arrived: true });
    expect(receiver.received[0]?.headers.host).toBe(`hooks.example.com:${receiver.port}`);
  });

  test("is looked up once for each attempt, and refused as soon as it is another", async () => {
    const answers = [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"], ["127.0.0.1"]];
    let asked = 0;
    const resolve: ResolveHost = () => Promise.resolve(answers[asked++] ?? []);
    const errors: (string | null | undefined)[] = [];
    for (const _ of answers) errors.push((await send(toName(), { resolve }))?.error);
    expect(errors).toEqual([null, expect.stringMatching(/^refused: /) as string, expect.stringMatching(/^refused: /) as string, null]);
    expect([asked, receiver.received.length]).toEqual([4, 2]);
  });

  test("that changes does not serve a connection to the one before", async () => {
    const other = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother"));
    await new Promise<void>((resolve) => {
      other.listen(receiver.port, "127.0.0.2", resolve);
    });
    closing.push(() => void other.close());
    let address = "127.0.0.1";
    const options = { allow: ["127.0.0.1", "127.0.0.2"], resolve: () => Promise.resolve([address]) };
    expect(await send(toName(), options)).toMatchObject({ statusCode: 204 });
    address = "127.0.0.2";
    expect(await send(toName(), options)).toMatchObject({ statusCode: 200, excerpt: "other" });
  });

  test("that does not resolve, or not in time, is a failure of its own", async () => {
    expect(await send(toName())).toMatchObject({ arrived: false, error: "unresolved: ENOTFOUND" });
    const clock = createFakeClock();
    const outcome = send(toName(), { resolve: () => new Promise(() => {}), clock });
    await clock.advance(10_000);
    expect(await outcome).toMatchObject({ arrived: false, error: "unresolved: the name servers do not answer" });
  });
});

describe("https", () => {
  test("is spoken with the name, and only with who proves it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-attempt-"));
    const authority = await openAuthority({ dataDir, clock: systemClock });
    const pair = await authority.issueToServer(["hooks.example.com", "127.0.0.1"]);
    const secure = await startReceiver({ tls: { cert: pair.certificate, key: pair.key } });
    const trusting = createSender({ clock: systemClock }, { ca: [authority.certificate] });
    closing.push(() => rmSync(dataDir, { recursive: true }), () => secure.close(), () => trusting.close());
    const resolve: ResolveHost = () => Promise.resolve(["127.0.0.1"]);
    const named = `https://hooks.example.com:${secure.port}/`;
    expect(await send(named, { resolve, sender: trusting })).toMatchObject({ arrived: true });
    expect(secure.connections).toEqual(["hooks.example.com"]);
    expect(await send(secure.url, { sender: trusting })).toMatchObject({ arrived: true });
    expect(await send(`https://other.example.com:${secure.port}/`, { resolve, sender: trusting })).toMatchObject({
      arrived: false, error: "tls: ERR_TLS_CERT_ALTNAME_INVALID",
    });
    expect((await send(named, { resolve }))?.error).toMatch(/^tls: (UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN)$/);
    expect(await send(named.replace("https", "http"), { resolve, sender: trusting })).toMatchObject({ arrived: false });
    expect(secure.received.length).toBe(2);
  });
});
