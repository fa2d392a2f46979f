import { Duplex } from "node:stream";
import { seededRandom } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnection } from "./connection.ts";
import { identifyService } from "./identify.ts";
import { NO_SNMP } from "./over-udp.ts";
import { TCP_PROTOCOLS, UDP_PROTOCOLS } from "./protocols.ts";
import { BEGINNINGS } from "./testing/beginnings.ts";

const CHUNK = Buffer.alloc(65_536, "A");
/** Of a connection's 256 KiB, and what its stream holds before it stops. */
const MAX_BYTES = 256 * 1024 + 3 * CHUNK.length;
const MAX_CONNECTIONS = 6;
/** Six connections, each with its greeting, answer and conversation. The whole is cut at 15 s, which this clock does not show. */
const MAX_DURATION_SECONDS = 60;

interface Stranger {
  /** Begins when connected. */
  readonly say: (bytes: Uint8Array) => void;
  readonly vanish: () => void;
  readonly isGone: () => boolean;
}

/** How peers behave; `beginning` is what the protocol's own would say. */
const MANNERS: Readonly<Record<string, (peer: Stranger, beginning: Buffer) => {
  readonly asked?: (bytes: Buffer) => void; readonly wanted?: () => void;
}>> = {
  "silence": () => ({}),
  "a reset at once": (peer) => {
    peer.vanish();
    return {};
  },
  "a reset when asked": (peer) => ({ asked: () => peer.vanish() }),
  "its beginning, then silence": (peer, beginning) => {
    peer.say(beginning);
    return {};
  },
  "its beginning, then a reset": (peer, beginning) => {
    peer.say(beginning);
    return { asked: () => peer.vanish() };
  },
  "its beginning to every question": (peer, beginning) => ({ asked: () => peer.say(beginning) }),
  "half its beginning to every question": (peer, beginning) => ({ asked: () => peer.say(beginning.subarray(0, beginning.length / 2)) }),
  "its beginning, then bytes without end": (peer, beginning) => {
    peer.say(beginning);
    return { wanted: () => peer.say(CHUNK) };
  },
  "its beginning, then lines without end": (peer, beginning) => {
    peer.say(beginning);
    return { wanted: () => peer.say(Buffer.alloc(CHUNK.length, "250-x\r\n")) };
  },
  "its beginning, then zeros without end": (peer, beginning) => {
    peer.say(beginning);
    return { wanted: () => peer.say(Buffer.alloc(CHUNK.length)) };
  },
  "its beginning, then a byte now and then": (peer, beginning) => {
    peer.say(beginning);
    const timer = setInterval(() => (peer.isGone() ? clearInterval(timer) : peer.say(Buffer.from("2"))), 100);
    return {};
  },
  "noise to every question": (peer) => {
    const next = seededRandom(7);
    return { asked: () => peer.say(Uint8Array.from({ length: next(300) + 1 }, () => next(256))) };
  },
  "what it is asked": (peer) => ({ asked: (bytes) => peer.say(bytes) }),
};

/** A network of such peers, and what they were made to do. */
function createHostileServer(manner: (typeof MANNERS)[string], beginning: Buffer) {
  const counts = { connections: 0, bytes: 0 };
  const connect = (_target: unknown, options: { readonly signal: AbortSignal }) => {
    counts.connections += 1;
    const handlers: { asked?: (bytes: Buffer) => void; wanted?: () => void } = {};
    const stream = new Duplex({
      // Not at once: a stream that fills itself would never let go.
      read: () => void setImmediate(() => handlers.wanted?.()),
      write(chunk: Buffer, _encoding, done) {
        handlers.asked?.(chunk);
        done();
      },
    });
    stream.on("error", () => undefined);
    const peer: Stranger = {
      say(bytes) {
        if (stream.destroyed) return;
        counts.bytes += bytes.length;
        stream.push(bytes);
      },
      vanish: () => void stream.destroy(),
      isGone: () => stream.destroyed,
    };
    const connection = createConnection(stream, options.signal);
    Object.assign(handlers, manner(peer, beginning));
    return Promise.resolve(connection);
  };
  return { connect, counts };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs the clock until it is over. @returns Seconds on the fake clock. */
async function secondsUntil(work: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const ending = work.finally(() => (state.isOver = true));
  const startedAt = performance.now();
  while (!state.isOver && performance.now() - startedAt < 2 * MAX_DURATION_SECONDS * 1000) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (state.isOver) await ending;
  return (performance.now() - startedAt) / 1000;
}

describe("a peer that answers with", () => {
  test.for(
    Object.keys(MANNERS),
  )("%s is left in bounded time, bytes and connections by every protocol", async (name) => {
    const manner = MANNERS[name] ?? (() => ({}));
    for (const protocol of TCP_PROTOCOLS) {
      const { connect, counts } = createHostileServer(manner, BEGINNINGS[protocol.name] ?? Buffer.alloc(0));
      const work = identifyService(
        { ip: "192.0.2.1", port: protocol.ports[0] ?? 1, protocol: "tcp" }, { random: () => 0.5, connect }, new AbortController().signal,
      );
      expect(await secondsUntil(work), protocol.name).toBeLessThan(MAX_DURATION_SECONDS);
      expect(counts.connections, protocol.name).toBeLessThanOrEqual(MAX_CONNECTIONS);
      expect(counts.bytes, protocol.name).toBeLessThanOrEqual(counts.connections * MAX_BYTES);
      const finding = await work;
      for (const text of [finding?.version ?? "", finding?.service ?? ""]) expect(text.length).toBeLessThan(256);
    }
  });
});

describe("every protocol", () => {
  test("recognises its own beginning, wants more of each part of it or none, "
    + "and never throws at changed ones", async () => {
    const next = seededRandom(11);
    const target = { ip: "192.0.2.1", port: 1, isSecure: false };
    const silent = {
      send: () => undefined, startTls: () => Promise.resolve(null), isClosed: () => true, close: () => undefined,
      read: () => Promise.resolve(new Uint8Array()),
    };
    for (const protocol of TCP_PROTOCOLS) {
      const beginning = BEGINNINGS[protocol.name] ?? Buffer.alloc(0);
      expect(protocol.recognise(beginning), protocol.name).toBe("yes");
      for (let round = 0; round < 400; round += 1) {
        const cut = beginning.subarray(0, round % 2 === 0 ? (round / 2) % (beginning.length + 1) : beginning.length);
        const changed = round < 200 ? cut : Buffer.from(cut.map((byte) => (next(8) === 0 ? next(256) : byte)));
        expect(["yes", "no", "more"], protocol.name).toContain(protocol.recognise(changed));
        const result = await protocol.learn(changed, silent, target, () => Promise.resolve(null));
        for (const claim of result?.claims ?? []) expect(claim.value.length, protocol.name).toBeLessThan(256);
      }
    }
  });

  test("over UDP survives its own question, noise, and parts of both", async () => {
    const next = seededRandom(13);
    for (const protocol of UDP_PROTOCOLS) {
      for (let round = 0; round < 400; round += 1) {
        const question = protocol.payloads[round % protocol.payloads.length]?.(() => 0.5) ?? new Uint8Array();
        const answer = round % 2 === 0
          ? question.map((byte) => (next(6) === 0 ? next(256) : byte))
          : Uint8Array.from({ length: next(300) }, () => next(256));
        const asking = {
          ip: "192.0.2.1", snmp: NO_SNMP, ask: () => Promise.resolve(next(2) === 0 ? null : answer), connect: () => Promise.resolve(null),
        };
        const result = await protocol.learn(answer.subarray(0, next(answer.length + 1)), asking);
        for (const claim of result?.claims ?? []) expect(claim.value.length, protocol.name).toBeLessThan(256);
      }
    }
  });
});
