import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPcapWriter, encodeEthernet, encodeIpv4, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, TCP_FLAG } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import type { FlowRecord } from "@lanthorn/traffic";
import { afterAll, expect, test } from "vitest";
import { makeFlowsCapture } from "../../../../test/bench/flows-capture.ts";
import { compareConversations, conversationsOf, readConversations } from "../../../../test/bench/flows-conversations.ts";
import { unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { runCommand } from "../../../../test/lab/run-command.ts";
import { readFlows } from "./read-flows.ts";

/** Captures of others; no part of the repository. */
const CAPTURES = fileURLToPath(new URL("../../../../../shared/data/captures/tcpdump/", import.meta.url));
const NAMES = ["HSRP_failover", "dhcpv6-ia-na", "dns_tcp", "dns_udp", "dnssec", "ntp", "ssh", "syslog_udp", "tftp"];

const tshark = await unpackDebianPackages(["tshark"]).catch((error: unknown) => {
  console.warn(`SKIPPED: flows beside tshark's conversations: tshark cannot be had: ${String(error)}`);
  return null;
});
const folder = mkdtempSync(join(tmpdir(), "lanthorn-tshark-flows-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns How many conversations are the same, and which differ. */
async function compare(path: string): Promise<ReturnType<typeof compareConversations>> {
  if (!tshark) throw new Error("there is no tshark");
  const { path: program, env } = tshark.command("tshark");
  const text = await runCommand(program, ["-n", "-q", "-z", "conv,tcp", "-z", "conv,udp", "-r", path], { env: { ...env, HOME: "/nonexistent" } });
  const records: FlowRecord[] = [];
  const { problems } = await readFlows({ paths: [path], random: Math.random, onMessage: () => {}, print: (some) => void records.push(...some) });
  expect(problems).toEqual([]);
  return compareConversations(conversationsOf(records), readConversations(text));
}

test.skipIf(!tshark || !existsSync(CAPTURES)).each(NAMES)("tshark counts the same conversations in %s", async (name) => {
  const { agree, different } = await compare(join(CAPTURES, `${name}.pcap`));
  expect(different).toEqual([]);
  expect(agree).toBeGreaterThan(0);
});

test.skipIf(!tshark)("tshark counts the same conversations of an office", async () => {
  const path = join(folder, "office.pcap");
  writeFileSync(path, makeFlowsCapture(20_000, seededRandom(3)));
  const { agree, different } = await compare(path);
  expect(different).toEqual([]);
  expect(agree).toBeGreaterThan(300);
});

test.skipIf(!tshark)("tshark counts the same of fragments, reused ports, errors that hold packets, and hosts that speak to themselves", async () => {
  const [client, server] = [Uint8Array.of(10, 0, 0, 1), Uint8Array.of(10, 0, 0, 2)];
  const wrap = (payload: Uint8Array) =>
    encodeEthernet({ source: Uint8Array.of(2, 0, 0, 0, 0, 1), destination: Uint8Array.of(2, 0, 0, 0, 0, 2), etherType: ETHER_TYPE.ipv4, payload });
  const udp = (payload: number, ends = { source: client, destination: server }) => encodeUdp({ sourcePort: 5000, destinationPort: 6000, payload: new Uint8Array(payload) }, ends);
  const part = (bytes: Uint8Array, fragmentOffset: number, moreFragments: boolean, identification: number) =>
    wrap(encodeIpv4({ protocol: IP_PROTOCOL.udp, source: client, destination: server, payload: bytes, fragmentOffset, moreFragments, identification }));
  const tcp = (sequenceNumber: number, flags: number) =>
    wrap(encodeIpv4({ protocol: IP_PROTOCOL.tcp, source: client, destination: server, payload: encodeTcp({ sourcePort: 7000, destinationPort: 80, sequenceNumber, flags }, { source: client, destination: server }) }));
  const long = udp(3000);
  const held = encodeIpv4({ protocol: IP_PROTOCOL.udp, source: client, destination: server, payload: udp(8) });
  const frames = [
    part(long.subarray(0, 1480), 0, true, 1), part(long.subarray(1480, 2960), 1480, true, 1), part(long.subarray(2960), 2960, false, 1),
    part(long.subarray(2960), 2960, false, 2), part(long.subarray(0, 1480), 0, true, 2), part(long.subarray(1480, 2960), 1480, true, 2),
    part(long.subarray(0, 1480), 0, true, 3), tcp(1, TCP_FLAG.syn), tcp(2, TCP_FLAG.fin | TCP_FLAG.ack), tcp(90_000, TCP_FLAG.syn), tcp(90_001, TCP_FLAG.rst),
    wrap(encodeIpv4({ protocol: IP_PROTOCOL.icmpv4, source: server, destination: client, payload: Uint8Array.of(3, 3, 0, 0, 0, 0, 0, 0, ...held) })),
    wrap(encodeIpv4({ protocol: IP_PROTOCOL.udp, source: client, destination: client, payload: udp(8, { source: client, destination: client }) })),
  ];
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet });
  const path = join(folder, "odd.pcap");
  writeFileSync(path, Buffer.concat([writer.header(), ...frames.map((bytes, index) => writer.record({ seconds: index, nanoseconds: 0, bytes }))]));
  expect(await compare(path)).toEqual({ agree: 3, different: [] });
});
