import { Duplex } from "node:stream";
import { watchLoop } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnection } from "./connection.ts";
import { identifyService } from "./identify.ts";
import { NO_SNMP } from "./over-udp.ts";
import { TCP_PROTOCOLS, UDP_PROTOCOLS } from "./protocols.ts";
import { BEGINNINGS } from "./testing/beginnings.ts";

/** A busy machine stands still for longer by itself. */
const HANG_MS = 500;
/** Of a beginning: enough to be recognized by, without what ends a dialogue, as a prompt. */
const SHORT = 6;
/** More than a connection takes before it is cut. */
const LENGTH = 1024 * 1024;
const CHUNK = 65_536;

const latin1 = (text: string) => Buffer.from(text, "latin1");
/** What is repeated after a protocol's own beginning. */
const PUMPS: Readonly<Record<string, Buffer>> = {
  "options to negotiate": Buffer.of(255, 253, 24, 255, 251, 1),
  "a subnegotiation in another": Buffer.of(255, 250, 24),
  "chunks of one letter": latin1("1\r\nx\r\n"),
  "last chunks": latin1("0\r\n"),
  "tags": latin1("<title><link rel=icon href=/<meta "),
  "open angle brackets": latin1("<"),
  "lines of a code": latin1("250-x\r\n"),
  "lines of a name": latin1(":a 004 b :PING :x\n"),
  "a prompt and blanks": latin1(`login:${" ".repeat(4089)}x`),
  "white space": latin1(" \t\r\n"),
  "JSON that opens": latin1('{"a":['),
  "JSON's small values": latin1('"a":1,'),
  "elements that hold elements": Buffer.of(0x30, 0x80, 0x30, 0x82),
  "elements of nothing": Buffer.of(0x30, 0x00, 0x04, 0x00),
  "header fields": latin1("a: b\r\n"),
  "quotes and backslashes": latin1('\\"'),
  "digits and dots": latin1("1.1.1."),
  "zeros": Buffer.alloc(8),
  "frames of HTTP/2": Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
};

type Speech = (pump: Buffer) => readonly Buffer[];
const whole = (pump: Buffer) => Buffer.alloc(LENGTH, pump);
const chunksOf = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
const SPEECHES: Readonly<Record<string, Speech>> = {
  "in chunks": (pump) => chunksOf(whole(pump), CHUNK),
  "byte by byte": (pump) => chunksOf(whole(pump).subarray(0, 3000), 1),
};

/** Connects to somebody who says a beginning and then what he has to say, to every question anew. */
function connectTo(beginning: Buffer, speech: readonly Buffer[]) {
  return (_target: unknown, options: { readonly signal: AbortSignal }) => {
    let next = 0;
    const stream: Duplex = new Duplex({
      read() {
        setImmediate(() => {
          if (!stream.destroyed && next <= speech.length) stream.push(next === 0 ? beginning : speech[next - 1]);
          next += 1;
        });
      },
      write(_chunk: Buffer, _encoding, done) {
        done();
      },
    });
    stream.on("error", () => undefined);
    return Promise.resolve(createConnection(stream, options.signal));
  };
}

async function worstBlockOf(work: Promise<unknown>): Promise<number> {
  const stop = watchLoop();
  const state = { isOver: false };
  const ending = work.finally(() => (state.isOver = true));
  const startedAt = performance.now();
  while (!state.isOver && performance.now() - startedAt < 120_000) await vi.advanceTimersByTimeAsync(100);
  await ending;
  return stop();
}

/** The least of a few: a busy machine stands still by itself, but not each time. One that is no hang is enough. */
async function leastOf(measure: () => Promise<number>): Promise<number> {
  let least = await measure();
  for (let more = 0; more < 3 && least >= HANG_MS; more += 1) least = Math.min(least, await measure());
  return least;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("whoever answers with", () => {
  const manners = Object.keys(PUMPS).flatMap((pump) => Object.keys(SPEECHES).map((speech) => [pump, speech] as const));

  test.for(manners)("%s, %s, holds up nobody else in any protocol", async ([pump, how]) => {
    const speech = SPEECHES[how]?.(PUMPS[pump] ?? Buffer.alloc(1)) ?? [];
    for (const protocol of TCP_PROTOCOLS) {
      const beginning = BEGINNINGS[protocol.name] ?? Buffer.alloc(0);
      for (const start of [beginning, beginning.subarray(0, SHORT), beginning.subarray(0, 0)]) {
        const connect = connectTo(start, speech);
        const openPort = { ip: "192.0.2.1", port: protocol.ports[0] ?? 1, protocol: "tcp" } as const;
        const worst = await leastOf(() =>
          worstBlockOf(identifyService(openPort, { random: () => 0.5, connect }, new AbortController().signal)));
        expect(worst, protocol.name).toBeLessThan(HANG_MS);
      }
    }
  });

  test.for(Object.keys(PUMPS))("%s in a datagram holds up nobody else", async (pump) => {
    for (const protocol of UDP_PROTOCOLS) {
      for (const payload of protocol.payloads) {
        // An answer begins as its question does, and is as long as a datagram can be.
        const start = Buffer.from(payload(() => 0.5));
        const answer = Buffer.concat([start, Buffer.alloc(65_507 - start.length, PUMPS[pump])]);
        const asking = { ip: "192.0.2.1", snmp: NO_SNMP, ask: () => Promise.resolve(answer), connect: () => Promise.resolve(null) };
        const beginnings = [answer, Buffer.concat([latin1("HTTP/1.1 200 OK\r\n"), answer]), Buffer.concat([latin1("<ProbeMatch"), answer])];
        for (const bytes of beginnings) {
          const took = await leastOf(async () => {
            const startedAt = process.hrtime.bigint();
            await protocol.learn(bytes, asking);
            return Number(process.hrtime.bigint() - startedAt) / 1e6;
          });
          expect(took, protocol.name).toBeLessThan(HANG_MS);
        }
      }
    }
  });
});
