import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPcapngWriter, createPcapWriter, encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE } from "@lanthorn/packets";
import type { FlowRecord } from "@lanthorn/traffic";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeFlow } from "./describe-flow.ts";
import { readFlows } from "./read-flows.ts";

const [CLIENT, SERVER] = [Uint8Array.of(192, 0, 2, 1), Uint8Array.of(192, 0, 2, 9)];
const MACS = { source: Uint8Array.of(2, 0, 0, 0, 0, 1), destination: Uint8Array.of(2, 0, 0, 0, 0, 2) };
const QUERY = Uint8Array.of(0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 3, 0x63, 0x6f, 0x6d, 0, 0, 1, 0, 1);
const FRAMES = 5000;

function frame(port: number): Uint8Array {
  const datagram = encodeUdp({ sourcePort: port, destinationPort: 53, payload: QUERY }, { source: CLIENT, destination: SERVER });
  const payload = encodeIpv4({ protocol: IP_PROTOCOL.udp, source: CLIENT, destination: SERVER, payload: datagram });
  return encodeEthernet({ ...MACS, etherType: ETHER_TYPE.ipv4, payload });
}

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-flows-"));
  for (const [name, writer] of [
    ["first.pcap", createPcapWriter({ linkType: LINK_TYPE.ethernet })], ["second.pcapng", createPcapngWriter({ interfaces: [{ linkType: LINK_TYPE.ethernet }] })],
  ] as const) {
    const records = Array.from({ length: FRAMES }, (_, index) => writer.record({ seconds: 1_700_000_000, nanoseconds: index * 1000, bytes: frame(1024 + (index % 3)) }));
    writeFileSync(join(folder, name), Buffer.concat([writer.header(), ...records]));
  }
  writeFileSync(join(folder, "cut.pcap"), readFileSync(join(folder, "first.pcap")).subarray(0, -10));
  writeFileSync(join(folder, "text.pcap"), "no capture file at all");
});
afterAll(() => rmSync(folder, { recursive: true }));

async function read(...names: readonly string[]) {
  const records: FlowRecord[] = [];
  const result = await readFlows({
    paths: names.map((name) => join(folder, name)), random: () => 0.5, onMessage: () => {}, print: (some) => void records.push(...some),
  });
  return { ...result, records };
}

test("the files of one capture hold one flow together, whatever their formats", async () => {
  const { counters, problems, records } = await read("first.pcap", "second.pcapng");
  expect([counters.frames, problems]).toEqual([2 * FRAMES, []]);
  expect(records.map((flow) => [flow.originator_port, flow.service, flow.originator_packets]).toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual([
    [1024, "dns", 3334], [1025, "dns", 3334], [1026, "dns", 3332],
  ]);
});

test("what is wrong with a file is said, and what was read of it and the others counts", async () => {
  const { counters, problems, records } = await read("cut.pcap", "text.pcap", "missing.pcap", "second.pcapng");
  expect([counters.frames, records.length, problems.length]).toEqual([2 * FRAMES - 1, 3, 3]);
  for (const [index, name] of ["cut.pcap", "text.pcap", "missing.pcap"].entries()) expect(problems[index]).toContain(join(folder, name));
});

test("a line for a person has who spoke with whom, how much, and what the capture lacks", async () => {
  const { records } = await read("first.pcap");
  expect(describeFlow(records[0] as FlowRecord).split(/ +/)).toEqual([
    expect.stringMatching(/^2023-11-14T22:13:20\.00000[012]Z$/), expect.stringMatching(/^0\.00499\d$/), "udp", "S0", "D", expect.stringMatching(/^166[67]\/0$/), expect.stringMatching(/^383\d\d\/0$/), "dns",
    expect.stringMatching(/^192\.0\.2\.1:102[456]$/), ">", "192.0.2.9:53", "one-sided",
  ]);
});
