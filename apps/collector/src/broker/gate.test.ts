import { seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createGate, type GateFault } from "./gate.ts";

const MAX = 1024;
type Refusal = { readonly topic: string | null; readonly payloadBytes: number };

/** What a gate made of what was pushed into it. */
interface Seen {
  readonly forward: Buffer[];
  readonly taken: { readonly payload: string; readonly identifier: number | null }[];
  readonly refusals: Refusal[];
}

function gate(): { readonly seen: Seen; readonly push: (chunk: Buffer) => GateFault | null } {
  const seen: Seen = { forward: [], taken: [], refusals: [] };
  const { push } = createGate<"mine", Refusal>({
    judge: (topic, payloadBytes, qos) => (
      topic === "mine" && payloadBytes <= MAX && qos < 2 ? { taken: "mine" } : { refused: { topic, payloadBytes } }
    ),
    deadTopic: "dead",
    output: {
      forward: (bytes) => void seen.forward.push(Buffer.from(bytes)),
      take: (_target, { payload, identifier }) => void seen.taken.push({ payload: payload.toString(), identifier }),
      refuse: (refusal) => void seen.refusals.push(refusal),
    },
  });
  return { seen, push };
}

function publish(topic: string, payload: Uint8Array, qos: 0 | 1 | 2, flags = 0): Buffer {
  const name = Buffer.from(topic);
  const body = Buffer.concat([
    Buffer.from([name.length >> 8, name.length & 0xff]), name, qos === 0 ? Buffer.alloc(0) : Buffer.from([0x12, 0x34]), payload,
  ]);
  return Buffer.concat([Buffer.from([0x30 | (qos << 1) | flags]), remainingLength(body.length), body]);
}

function remainingLength(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  do {
    bytes.push((left % 128) | (left >= 128 ? 0x80 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return Buffer.from(bytes);
}

const PING = Buffer.from([0xc0, 0]);

function run(bytes: Buffer, chunkBytes: number): Omit<Seen, "forward"> & { readonly forward: Buffer; readonly fault: string | null } {
  const { seen, push } = gate();
  let fault: GateFault | null = null;
  for (let at = 0; at < bytes.length && fault === null; at += chunkBytes) fault = push(bytes.subarray(at, at + chunkBytes));
  return { ...seen, forward: Buffer.concat(seen.forward), fault };
}

describe("the gate", () => {
  test("takes what a probe may publish, whole, and lets the rest through, however they are cut", () => {
    const long = "7".repeat(300);
    const stream = Buffer.concat([
      PING, publish("mine", Buffer.from(long), 1), publish("mine", Buffer.alloc(0), 0), PING, publish("mine", Buffer.from("x".repeat(MAX)), 0, 1),
      publish("mine", Buffer.alloc(0), 1),
    ]);
    for (const size of [1, 2, 3, 7, 100, 10_000]) {
      expect(run(stream, size)).toEqual({
        forward: Buffer.concat([PING, PING]), refusals: [], fault: null, taken: [
          { payload: long, identifier: 0x1234 }, { payload: "", identifier: null }, { payload: "x".repeat(MAX), identifier: null },
          { payload: "", identifier: 0x1234 },
        ],
      });
    }
  });

  test("puts an empty one to the dead topic in the place of a refused one, with its quality and identifier and without retain", () => {
    const stream = Buffer.concat([
      PING, publish("theirs", Buffer.alloc(5000), 1, 0x09), publish("mine", Buffer.from("x"), 1), publish("theirs", Buffer.from("y"), 0),
      publish("mine", Buffer.from("z"), 2), PING,
    ]);
    const expected = Buffer.concat([
      PING, publish("dead", Buffer.alloc(0), 1, 0x08), publish("dead", Buffer.alloc(0), 0), publish("dead", Buffer.alloc(0), 2), PING,
    ]);
    for (const size of [1, 5, 64, 10_000]) {
      expect(run(stream, size)).toEqual({
        forward: expected, fault: null, taken: [{ payload: "x", identifier: 0x1234 }], refusals: [
          { topic: "theirs", payloadBytes: 5000 }, { topic: "theirs", payloadBytes: 1 }, { topic: "mine", payloadBytes: 1 },
        ],
      });
    }
  });

  test("takes no topic for another whose bytes differ", () => {
    const name = Buffer.from([0x6d, 0x69, 0x6e, 0xe5]);
    const stream = Buffer.concat([Buffer.from([0x30, 2 + name.length, 0, name.length]), name]);
    expect(run(stream, 100)).toMatchObject({ taken: [], refusals: [{ topic: "min\u00e5" }] });
  });

  test("drops the bytes of a 200 MB payload as they come and holds none of them", () => {
    const { seen, push } = gate();
    const size = 200 * 1024 * 1024;
    const name = Buffer.from("mine");
    push(Buffer.concat([Buffer.from([0x30]), remainingLength(2 + name.length + size), Buffer.from([0, 4]), name]));
    expect(seen.forward.splice(0)).toEqual([publish("dead", Buffer.alloc(0), 0)]);
    const chunk = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < size; sent += chunk.length) push(chunk);
    expect(seen.forward).toEqual([]);
    expect(push(PING)).toBeNull();
    expect(Buffer.concat(seen.forward)).toEqual(PING);
  });

  test("refuses a topic too long to be read", () => {
    const stream = Buffer.concat([publish("m".repeat(2000), Buffer.from("z"), 0), PING]);
    const { forward, refusals, fault } = run(stream, 100);
    expect(fault).toBeNull();
    expect(refusals).toEqual([{ topic: null, payloadBytes: 1 }]);
    expect(forward.subarray(-2)).toEqual(PING);
  });

  test.each([
    ["a remaining length of five bytes", Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80, 1]), "malformed"],
    ["a quality of service of 3", Buffer.from([0x36, 4, 0, 1, 0x61, 0]), "malformed"],
    ["a topic longer than its packet", Buffer.from([0x30, 3, 0, 9, 0x61]), "malformed"],
    ["a PUBLISH without a topic length", Buffer.from([0x30, 1, 0]), "malformed"],
    ["a CONNECT of 1 MiB", Buffer.concat([Buffer.from([0x10]), remainingLength(1_048_576)]), "packet-too-large"],
    ["a SUBSCRIBE of 268,435,455 bytes", Buffer.from([0x82, 0xff, 0xff, 0xff, 0x7f]), "packet-too-large"],
  ])("ends the connection for %s", (_, bytes, fault) => {
    expect(run(bytes, 1).fault).toBe(fault);
    expect(run(bytes, 100).fault).toBe(fault);
  });

  test("20,000 seeded mutations never throw, and forward no more than came", () => {
    const random = seededRandom(7);
    const seed = Buffer.concat([
      PING, publish("mine", Buffer.alloc(40), 1), publish("theirs", Buffer.alloc(40), 2), publish("mine", Buffer.alloc(2000), 0), PING,
    ]);
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = Buffer.from(seed);
      for (let changes = 1 + random(4); changes > 0; changes -= 1) bytes[random(bytes.length)] = random(256);
      const { forward, taken, refusals } = run(bytes, 1 + random(300));
      const takenBytes = taken.reduce((sum, { payload }) => sum + payload.length, 0);
      // An empty replacement takes at most 10 bytes; text has no more characters than it had bytes.
      expect(forward.length + takenBytes).toBeLessThanOrEqual(bytes.length + refusals.length * 10);
    }
  });
});
