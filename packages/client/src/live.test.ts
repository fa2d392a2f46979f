import { createBackoff, createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { ClientError } from "./errors.ts";
import { createLiveClient, type Socket } from "./live.ts";

const frame = (seq: number) => ({
  event: "host_found", timestamp: "2026-11-20T08:15:30.250Z", data: { ip: "10.0.0.1" }, id: "01939f6e-2a10-7c3e-8f00-000000000001", seq,
});

/** A socket whose other end is the test. */
function createSocket(url: string) {
  const listeners = new Map<string, (event: never) => void>();
  const socket: Socket & { url: string; fire(type: string, event: unknown): void } = {
    url,
    addEventListener: (type, listener) => void listeners.set(type, listener),
    close: () => undefined,
    fire: (type, event) => listeners.get(type)?.(event as never),
  };
  return socket;
}

function setUp() {
  const clock = createFakeClock();
  const sockets: ReturnType<typeof createSocket>[] = [];
  const frames: number[] = [];
  const ended: string[] = [];
  const live = createLiveClient({
    url: "https://collector:8443", token: () => "t", clock, backoff: createBackoff({ firstMs: 1000, longestMs: 8000, random: () => 0.5 }),
    siteId: "s", events: ["host_found"],
    connect: (url) => {
      const socket = createSocket(url);
      sockets.push(socket);
      return socket;
    },
    onFrame: ({ seq }) => frames.push(seq),
    onClosed: (reason) => ended.push(reason),
  });
  return { clock, sockets, frames, ended, live };
}

describe("the live client", () => {
  test("asks for its events and its site over a secure socket", () => {
    const { sockets } = setUp();
    expect(sockets[0]?.url).toBe("wss://collector:8443/ws/events?token=t&events=host_found&site_id=s");
  });

  test("comes back after a loss at the sequence where it was", async () => {
    const { clock, sockets, frames } = setUp();
    sockets[0]?.fire("message", { data: JSON.stringify(frame(7)) });
    sockets[0]?.fire("close", { code: 1006, reason: "" });
    await clock.advance(1000);
    expect(sockets[1]?.url).toContain("since=7");
    sockets[1]?.fire("message", { data: JSON.stringify(frame(8)) });
    expect(frames).toEqual([7, 8]);
  });

  test("passes over what is no frame", () => {
    const { sockets, frames, ended } = setUp();
    for (const data of ["", "{", "[]", JSON.stringify({ ...frame(1), event: "unheard_of" }), new Uint8Array(3)]) {
      sockets[0]?.fire("message", { data });
    }
    expect([frames, ended]).toEqual([[], []]);
  });

  test.each([4401, 4400])("ends when it is refused for good, with %i", async (code) => {
    const { clock, sockets, ended } = setUp();
    sockets[0]?.fire("close", { code, reason: "" });
    await clock.advance(60_000);
    expect([sockets.length, ended.length]).toEqual([1, 1]);
  });

  test.each([[400, true], [401, true], [403, true], [404, true], [429, false], [503, false]])(
    "takes an upgrade refused with %i for the end: %s", async (status, isEnd) => {
      const { clock, sockets, ended } = setUp();
      sockets[0]?.fire("error", { message: `Unexpected server response: ${status}` });
      sockets[0]?.fire("close", { code: 1006, reason: "" });
      await clock.advance(60_000);
      expect([sockets.length > 1, ended.length]).toEqual([!isEnd, isEnd ? 1 : 0]);
    },
  );

  test("is quiet once it was closed", async () => {
    const { clock, sockets, frames, live } = setUp();
    live.close();
    sockets[0]?.fire("message", { data: JSON.stringify(frame(1)) });
    sockets[0]?.fire("close", { code: 1000, reason: "" });
    await clock.advance(60_000);
    expect([sockets.length, frames]).toEqual([1, []]);
  });
});

describe("the live client with tickets", () => {
  /** Promises that are settled already have run what waits for them. */
  const settled = () => new Promise((resolve) => {
    setImmediate(resolve);
  });
  const follow = (ticket: () => Promise<string>) => {
    const clock = createFakeClock();
    const sockets: ReturnType<typeof createSocket>[] = [];
    const ended: string[] = [];
    createLiveClient({
      url: "http://proxy/tools/lanthorn", ticket, clock, backoff: createBackoff({ firstMs: 1000, longestMs: 8000, random: () => 0.5 }),
      connect(url) {
        const socket = createSocket(url);
        sockets.push(socket);
        return socket;
      },
      onFrame: () => undefined, onClosed: (reason) => ended.push(reason),
    });
    return { clock, sockets, ended };
  };

  test("gets a new one for each connection, below the path of a proxy, and tries again where none is to be had", async () => {
    let count = 0;
    const { clock, sockets } = follow(() => {
      count += 1;
      return count === 1 ? Promise.reject(new ClientError("unreachable", "no answer")) : Promise.resolve(`ticket-${count}`);
    });
    await settled();
    await clock.advance(1000);
    await settled();
    expect(sockets.map(({ url }) => url)).toEqual(["ws://proxy/tools/lanthorn/ws/events?ticket=ticket-2"]);
    sockets[0]?.fire("close", { code: 1006, reason: "" });
    await clock.advance(2000);
    await settled();
    expect(sockets[1]?.url).toBe("ws://proxy/tools/lanthorn/ws/events?ticket=ticket-3");
  });

  test("ends when one is refused", async () => {
    const { clock, sockets, ended } = follow(() => Promise.reject(new ClientError("UNAUTHORIZED", "the token has ended", { status: 401 })));
    await settled();
    await clock.advance(60_000);
    expect([sockets.length, ended]).toEqual([0, ["the token has ended"]]);
  });
});
