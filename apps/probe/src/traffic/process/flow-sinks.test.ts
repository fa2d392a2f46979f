import { encodeFrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, encodeTcp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { EPOCH_SECONDS } from "../capture-files/testing/frames.ts";
import { NO_BEHAVIOUR } from "../anomalies/behaviour.ts";
import { createFlowSinks } from "./flow-sinks.ts";
import { createFlowNumbers } from "../ring/flow-numbers.ts";

const [client, server] = [Uint8Array.of(10, 0, 0, 7), Uint8Array.of(10, 0, 0, 1)];
const MAC = Uint8Array.of(2, 0, 0, 0, 0, 1);
const ACK = 16;

/** A segment from the client, whose port is another one for each conversation. */
function segment(port: number, text: string, at: number): Uint8Array {
  const payload = encodeTcp({
    sourcePort: port, destinationPort: 80, sequenceNumber: 1000 + at, acknowledgmentNumber: 1, flags: ACK, window: 65_000, payload: Buffer.from(text, "latin1"),
  }, { source: client, destination: server });
  return encodeEthernet({ source: MAC, destination: MAC, etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ source: client, destination: server, protocol: IP_PROTOCOL.tcp, payload }) });
}

test("what is read in conversations, and which are given up, is counted on while inspection is left out and comes back", () => {
  const { sinks: [flows, inspection], state } = createFlowSinks({ numbers: createFlowNumbers(), behaviour: NO_BEHAVIOUR, onMessage: () => undefined, random: Math.random, clock: createFakeClock(EPOCH_SECONDS * 1000), watch: { watch: () => null, count: () => undefined } });
  const see = (bytes: Uint8Array) => {
    const block = encodeFrameBlock([{ bytes, seconds: EPOCH_SECONDS, nanoseconds: 0 }]);
    flows.onBlock(block, 0);
    inspection.onBlock(block, 0);
  };
  const request = "GET / HTTP/1.1\r\nHost: lan.example\r\n\r\n";
  see(segment(50_001, request, 0));
  const first = state();
  expect(first).toMatchObject({ open: 1, ended: 0, inspection: { too_costly: 0, too_long: 0 } });
  expect(first.inspection?.steps).toBeGreaterThan(0);
  // Commands of one letter, more than their bytes pay for.
  see(segment(50_002, "EHLO x\r\n", 0));
  for (let at = 8; (state().inspection?.too_costly ?? 0) === 0 && at < 20e6; at += 1400) see(segment(50_002, "x\n".repeat(700), at));
  const second = state();
  expect(second.inspection?.too_costly).toBe(1);
  inspection.shed(1, 60, 0);
  see(segment(50_003, request, 0));
  see(segment(50_004, request, 0));
  const last = state();
  expect([last.inspection?.too_costly, (last.inspection?.steps ?? 0) > (second.inspection?.steps ?? 0)]).toEqual([1, true]);
});

/** A thousand conversations, and turns that are run one by one. */
function openMany() {
  const turns: (() => void)[] = [];
  let now = EPOCH_SECONDS * 1000;
  const { sinks: [flows, inspection], state } = createFlowSinks({ numbers: createFlowNumbers(), behaviour: NO_BEHAVIOUR, onMessage: () => undefined, watch: { watch: () => null, count: () => undefined }, random: Math.random, clock: { now: () => now, after: (_, task) => (turns.push(task), () => {}) } });
  const see = (ports: readonly number[]) => flows.onBlock(encodeFrameBlock(ports.map((port) => ({ bytes: segment(port, "x", 0), seconds: now / 1000, nanoseconds: 0 }))), 0);
  see(Array.from({ length: 1000 }, (_, index) => 1024 + index));
  expect(state()).toMatchObject({ open: 1000, ended: 0 });
  return {
    flows, inspection, state, see, turns,
    pass: (seconds: number) => void (now += seconds * 1000),
    /** How many flows have ended after each turn. */
    endings(): readonly number[] {
      const counts = [state().ended];
      while (turns.length > 0 && counts.length < 100) {
        turns.shift()?.();
        counts.push(state().ended);
      }
      return counts;
    },
  };
}

const MOST_OF_A_TURN = 64;

test("flows that are idle all at once end in many turns, a bounded number in each", () => {
  const { flows, state, pass, endings } = openMany();
  pass(7 * 86_400);
  flows.tick?.(0);
  const counts = endings();
  expect([counts.at(-1), state().open]).toEqual([1000, 0]);
  expect(Math.max(...counts.map((count, index) => count - (counts[index - 1] ?? 0)))).toBeLessThanOrEqual(MOST_OF_A_TURN);
});

test("where a frame comes a day later, the flows before it do not end all at once either", () => {
  const { state, see, pass, flows, endings } = openMany();
  pass(7 * 86_400);
  see([5000]);
  expect(state().ended).toBeLessThanOrEqual(MOST_OF_A_TURN);
  flows.tick?.(0);
  expect([endings().at(-1), state().open]).toEqual([1000, 1]);
});

test("where inspection is left out, and comes back, flows go on and are one record each", () => {
  const { inspection, state, see, flows } = openMany();
  inspection.shed(1, 60, 0);
  see([1024, 1025, 5000]);
  expect(state()).toMatchObject({ open: 1001, ended: 0 });
  inspection.onBlock(encodeFrameBlock([]), 0);
  see([1024, 1025, 5001]);
  expect(state()).toMatchObject({ open: 1002, ended: 0 });
  void flows.close();
  expect(state()).toMatchObject({ open: 0, ended: 1002 });
});
