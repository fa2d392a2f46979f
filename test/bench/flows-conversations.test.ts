import type { FlowRecord } from "@lanthorn/traffic";
import { expect, test } from "vitest";
import { compareConversations, conversationsOf, readConversations } from "./flows-conversations.ts";

/** As tshark 4.0 prints it. */
const TABLE = `
UDP Conversations
Filter:<No Filter>
                                                           | Frames  Bytes | | Frames  Bytes | | Frames  Bytes |      Start     |              |
2001:db8::1:40001          <-> 2001:db8::9:53                   1 120 bytes       2 698 bytes       3 818 bytes     8.000000000        21.0000
TCP Conversations
10.0.0.9:443               <-> 10.0.0.1:50000              1,000 1,200 kB        400 24 kB       1,400 1,224 kB     0.000000000         2.0000
`;

function record(ends: readonly [string, number, string, number], sent: readonly [number, number, number, number], fields: Partial<FlowRecord> = {}): FlowRecord {
  return {
    protocol: "tcp", originator_ip: ends[0], originator_port: ends[1], responder_ip: ends[2], responder_port: ends[3], originator_packets: sent[0],
    originator_wire_bytes: sent[1], responder_packets: sent[2], responder_wire_bytes: sent[3], originator_fragment_bytes: 0, responder_fragment_bytes: 0,
    ...fields,
  } as FlowRecord;
}

const UDP = record(["2001:db8::1", 40_001, "2001:db8::9", 53], [2, 1698, 1, 120], { protocol: "udp", originator_fragment_bytes: 1000 });
const PARTS = [record(["10.0.0.1", 50_000, "10.0.0.9", 443], [600, 700_000, 300, 20_000]), record(["10.0.0.9", 443, "10.0.0.1", 50_000], [100, 4999, 400, 500_500])];

test("conversations are the same by ends, frames and bytes, in either direction, in parts, and as far as tshark writes them out", () => {
  expect(compareConversations(conversationsOf([UDP, ...PARTS]), readConversations(TABLE))).toEqual({ agree: 2, different: [] });
  const wrong = [record(["10.0.0.1", 50_000, "10.0.0.9", 443], [1000 - 600, 25_000, 1000, 1_200_999])];
  expect(compareConversations(conversationsOf([UDP, ...wrong]), readConversations(TABLE)).different).toEqual(["tcp 10.0.0.1:50000 10.0.0.9:443"]);
});

test("one that is in one of the two only differs, and other protocols are left out", () => {
  expect(compareConversations(conversationsOf([UDP, record(["10.0.0.1", 8, "10.0.0.9", 0], [1, 1, 1, 1], { protocol: "icmp" })]), readConversations(TABLE)).different)
    .toEqual(["tcp 10.0.0.1:50000 10.0.0.9:443"]);
});
