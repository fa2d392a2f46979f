import type { RestClient } from "@lanthorn/client";
import type { Pcap, PcapWatch } from "@lanthorn/contract";
import { DNS_TYPE, encodeArp, encodeDns, encodeEthernet, encodeIpv4, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIpv4, parseMac } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { exportPcap, lineOfTime, listPcaps, pcapSettings, showPcap, startPcap } from "./pcap.ts";
import { frameLine } from "./pcap-line.ts";
import { watchPackets } from "./pcap-watch.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const PCAP: Pcap = {
  id: ID, tenant_id: ID, site_id: ID, probe_id: ID, trigger: "request", state: "ready", detail: "", is_cut: false, file_name: "x.pcapng", size_bytes: 5000, sha256: "ab".repeat(32),
  packets: 7, started_at: AT, finished_at: AT, interfaces: ["eth1"], filter: "udp port 53", snap_length: 96, headers_only: false,
  counters: { received: 9, dropped_by_kernel: 1, dropped_by_probe: 2, left_out: 3 }, alert_ids: [ID], macs: [], ips: ["10.0.0.7"], limits: null, requested_by: "admin",
  created_at: AT, updated_at: AT, lock: { by: "admin", at: AT, reason: "case 7" },
};
const meta = { page: 1, per_page: 50, total: 3, next_cursor: null };
const connect = (rest: Partial<RestClient>) => ({
  rest: { listSites: () => Promise.resolve({ data: [{ id: ID, name: "Office" }], meta }), ...rest },
}) as unknown as Connection;
const lines = (answer: Parameters<typeof formatAnswer>[0]) => formatAnswer(answer, false).split("\n");

test("captures are listed with what they are about, and how many more there are", async () => {
  const asked: unknown[] = [];
  const shown = lines(await listPcaps(connect({ listPcaps: (query) => {
    asked.push(query);
    return Promise.resolve({ data: [PCAP], meta });
  } }), { alert: ID, limit: 50 }));
  expect(shown[1]).toMatch(/ready +request by admin +2026-11-20T08:15:30Z +7 +5000 +yes +udp port 53$/);
  expect([shown.at(-1), asked]).toEqual([expect.stringContaining("1 of 3"), [expect.objectContaining({ alert_id: ID, per_page: 50 })]]);
});

test("a capture shows what was lost and left out, and packets over time", async () => {
  const summary = {
    protocols: [{ name: "dns", packets: 7, bytes: 700 }], talkers: [{ address: "10.0.0.7", packets: 7, bytes: 700 }], flows_total: 12,
    flows: [
      { protocol: "udp", source: "10.0.0.7", source_port: 50_000, destination: "10.0.0.1", destination_port: 53, packets: 7, bytes: 700 },
      { protocol: "arp", source: "10.0.0.7", source_port: 0, destination: "10.0.0.1", destination_port: 0, packets: 1, bytes: 60 },
    ],
    timeline: { from: AT, step_ms: 1000, packets: [0, 1, 8, 4] },
  };
  const shown = formatAnswer(await showPcap(connect({
    readPcap: () => Promise.resolve(PCAP), readPcapSummary: () => Promise.resolve({ id: ID, packets: 7, summary }),
  }), ID), false);
  for (const part of ["3 left out on purpose", "1 by the kernel, 2 by the probe", "case 7", "dns 7", "2 of 12: udp 10.0.0.7.50000 > 10.0.0.1.53 700; arp 10.0.0.7 > 10.0.0.1 60", " ▁█▄"]) expect(shown).toContain(part);
  expect(lineOfTime([0, 0])).toBe("  ");
});

test("what is started and cut is where it was asked for", async () => {
  const orders: unknown[] = [];
  const rest = connect({
    startPcap: (order) => Promise.resolve((orders.push(order), PCAP)), exportPcap: (order) => Promise.resolve((orders.push(order), PCAP)),
  });
  await startPcap(rest, {}, { filter: "arp", interface: null, seconds: 1, packets: 2, bytes: 3000, snap_length: 96, headers_only: false });
  await exportPcap(rest, { probe: ID }, { filter: "", from: AT, to: AT, host: null, peer: null, side: "both", bytes: 3000 });
  expect(orders).toMatchObject([{ site_id: ID, filter: "arp", bytes: 3000 }, { probe_id: ID, from: AT }]);
});

test("settings are changed by their names, and what is none is said", async () => {
  const changes: unknown[] = [];
  const captures = {
    site_id: ID, evidence: true, upload: "on_demand" as const, headers_only: false, headers_only_networks: ["10.0.9.0/24"], require_reason: true,
    usage: { files: 1, bytes: 2, locked_files: 3, locked_bytes: 4 },
  };
  const rest = connect({ updateSiteCaptures: (_, change) => Promise.resolve((changes.push(change), captures)), readSiteCaptures: () => Promise.resolve(captures) });
  await pcapSettings(rest, "Office", ["upload=on_demand", "headers_only_networks=10.0.9.0/24,10.0.8.0/24", "require_reason=on"]);
  expect(changes).toEqual([{ upload: "on_demand", headers_only_networks: ["10.0.9.0/24", "10.0.8.0/24"], require_reason: true }]);
  for (const wrong of ["colour=red", "evidence=maybe", "headers_only_networks=x", "upload"]) {
    await expect(pcapSettings(rest, "Office", [wrong])).rejects.toMatchObject({ code: "bad-option" });
  }
  expect(lines(await pcapSettings(rest, "Office", [])).at(-1)).toContain("locked: 3 files, 4 bytes");
});

const [mac, other] = ["02:00:00:00:00:07", "02:00:00:00:00:01"].map((text) => parseMac(text) ?? new Uint8Array(6)) as [Uint8Array, Uint8Array];
const [ip, peer] = ["10.0.0.7", "10.0.0.1"].map((text) => parseIpv4(text) ?? new Uint8Array(4)) as [Uint8Array, Uint8Array];
const frame = (payload: Uint8Array, etherType: number = ETHER_TYPE.ipv4) => ({
  seq: 1, at: AT, wire_length: 60, bytes: Buffer.from(encodeEthernet({ source: mac, destination: other, etherType, payload })).toString("base64"),
});
const packet = (protocol: number, payload: Uint8Array) => frame(encodeIpv4({ source: ip, destination: peer, protocol, payload }));

test("a frame is a line as tcpdump's, whatever it holds", () => {
  const ends = { source: ip, destination: peer };
  const query = encodeDns({ id: 7, isResponse: false, questions: [{ name: "a\u001B[2J.example", type: DNS_TYPE.a }] });
  expect(frameLine(packet(IP_PROTOCOL.udp, encodeUdp({ sourcePort: 50_000, destinationPort: 53, payload: query }, ends))))
    .toMatch(/^08:15:30\.250 IP 10\.0\.0\.7\.50000 > 10\.0\.0\.1\.53: DNS 7 query [\x20-\x7e]+ type 1$/);
  const arp = { operation: 1, senderHardwareAddress: mac, senderProtocolAddress: ip, targetHardwareAddress: new Uint8Array(6), targetProtocolAddress: peer };
  expect(frameLine(frame(encodeArp(arp), ETHER_TYPE.arp))).toBe("08:15:30.250 ARP who has 10.0.0.1, tell 10.0.0.7 (02:00:00:00:00:07)");
  const tcp = { sourcePort: 50_000, destinationPort: 443, sequenceNumber: 1, acknowledgmentNumber: 0, flags: 2, window: 1000 };
  expect(frameLine(packet(IP_PROTOCOL.tcp, encodeTcp(tcp, ends)))).toBe("08:15:30.250 IP 10.0.0.7.50000 > 10.0.0.1.443: Flags [S], length 0");
  expect(frameLine(frame(new Uint8Array(50), ETHER_TYPE.lldp))).toBe("08:15:30.250 02:00:00:00:00:07 > 02:00:00:00:00:01 LLDP, length 60");
  expect(frameLine(frame(new Uint8Array(50), 0x88b5))).toContain("02:00:00:00:00:07 > 02:00:00:00:00:01 ethertype 0x88b5");
  for (let length = 0; length < 60; length += 1) {
    const cut = Buffer.from(packet(IP_PROTOCOL.udp, encodeUdp({ sourcePort: 1, destinationPort: 53, payload: query }, ends)).bytes, "base64").subarray(0, length);
    expect(frameLine({ seq: 1, at: AT, wire_length: 90, bytes: cut.toString("base64") })).toMatch(/^08:15:30\.250 [\x20-\x7e]+$/);
  }
});

test("a live view prints each packet once, says what was missed, and ends at the probe too", async () => {
  const clock = createFakeClock(0);
  const [printed, notes, ended, orders]: [string[], string[], string[], unknown[]] = [[], [], [], []];
  let stop: (value: unknown) => void = () => undefined;
  const view = (seq: number): PcapWatch => ({ id: ID, site_id: ID, probe_id: ID, frames: [{ ...frame(new Uint8Array(46), 0x88b5), seq }], missed: seq === 2 ? 5 : 0, next: seq });
  const afters: unknown[] = [];
  const watching = watchPackets(connect({
    startPcapWatch: (order) => Promise.resolve((orders.push(order), view(1))),
    readPcapWatch: (_, query) => Promise.resolve((afters.push(query?.after), view(afters.length + 1))),
    endPcapWatch: (id) => Promise.resolve(void ended.push(id)),
  }), "udp port 53", { snapLength: 128, json: true, reason: "case 7" }, {
    clock, print: (line) => void printed.push(line), note: (line) => void notes.push(line), stopped: new Promise((resolve) => (stop = resolve)),
  });
  await clock.advance(0);
  await clock.advance(2000);
  await clock.advance(2000);
  stop(null);
  await watching;
  expect(orders).toEqual([{ filter: "udp port 53", snap_length: 128, interface: null, site_id: ID, reason: "case 7" }]);
  expect(printed.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3]);
  expect([afters, ended, notes.some((note) => note.startsWith("5 packets were not shown"))]).toEqual([[1, 2], [ID], true]);
});
