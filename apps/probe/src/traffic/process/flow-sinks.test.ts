import { encodeFrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, encodeTcp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { EPOCH_SECONDS } from "../capture-files/testing/frames.ts";
import { createFlowSinks } from "./flow-sinks.ts";

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
  const { sinks: [flows, inspection], state } = createFlowSinks({ random: Math.random, clock: createFakeClock(EPOCH_SECONDS * 1000) });
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
