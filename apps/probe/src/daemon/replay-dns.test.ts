import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DnsThreat, type ProbeEvent } from "@lanthorn/contract/uplink";
import { createPcapWriter, encodeDns, encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, parseIp } from "@lanthorn/packets";
import { seededRandom, silentLog } from "@lanthorn/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DnsWatchSettings } from "../traffic/dns/settings.ts";
import { replayDns } from "./replay-dns.ts";

const CAPTURES = fileURLToPath(new URL("../dns-threats/testing/", import.meta.url));
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-replay-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function replay(path: string, settings: object = {}) {
  const events: ProbeEvent[] = [];
  await replayDns({ path, settings: DnsWatchSettings.parse(settings), homeNetworks: [], log: silentLog, print: (some) => void events.push(...some) });
  return events.map(({ data }) => DnsThreat.parse(data));
}

test.each([["dns2tcp", "TXT"], ["iodine", "NULL"], ["iodine-raw", "NULL"]])("a recording of %s is one tunnel, the same at each replay", async (name, type) => {
  const path = join(CAPTURES, `${name}.pcap`);
  const threats = await replay(path);
  expect(threats).toMatchObject([{ category: "tunnel", campaign: "example.com", client_ip: "10.91.0.1", server_ip: "10.91.0.2", query_type: type, severity: "high", mode: "passive", state: "seen" }]);
  expect(await replay(path)).toEqual(threats);
  expect(await replay(path, { enabled: false })).toEqual([]);
  expect(await replay(path, { allow: ["example.com"] })).toEqual([]);
});

const [CLIENT, RESOLVER] = ["10.0.0.5", "10.0.0.1"].map((ip) => parseIp(ip) as Uint8Array) as [Uint8Array, Uint8Array];
const MAC = Uint8Array.of(2, 0, 0, 0, 0, 1);

/** Questions and that none of the names exists, one a second. */
function captureOf(names: readonly string[]): string {
  const frame = (isResponse: boolean, id: number, name: string) => {
    const payload = encodeDns({ id, isResponse, isRecursionDesired: true, isRecursionAvailable: isResponse, responseCode: isResponse ? 3 : 0, questions: [{ name, type: 1 }] });
    const [source, destination, sourcePort, destinationPort] = isResponse ? [RESOLVER, CLIENT, 53, 40_000 + id] : [CLIENT, RESOLVER, 40_000 + id, 53];
    const udp = encodeUdp({ sourcePort, destinationPort, payload }, { source, destination });
    return encodeEthernet({ source: MAC, destination: MAC, etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ source, destination, protocol: IP_PROTOCOL.udp, payload: udp }) });
  };
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet });
  const records = names.flatMap((name, index) => [false, true].map((isResponse) => {
    const bytes = frame(isResponse, index, name);
    return writer.record({ bytes, originalLength: bytes.length, seconds: 1_767_225_600 + index, nanoseconds: isResponse ? 5e8 : 0 });
  }));
  const path = join(folder, "names.pcap");
  writeFileSync(path, Buffer.concat([writer.header(), ...records]));
  return path;
}

test("generated names are one threat of the client, with some of them", async () => {
  const random = seededRandom(3);
  const names = Array.from({ length: 60 }, () => `${Array.from({ length: 13 }, () => "abcdefghijklmnopqrstuvwxyz"[random(26)]).join("")}.com`);
  const threats = await replay(captureOf(names));
  expect(threats).toMatchObject([{ category: "generated_names", campaign: "", client_ip: "10.0.0.5", mitre_techniques: ["T1568.002"] }]);
  expect(threats[0]?.sample_names?.filter((name) => !names.includes(name))).toEqual([]);
});

test("mistyped names of words are none", async () => {
  expect(await replay(captureOf(Array.from({ length: 60 }, (_, n) => `www.garden-travel${n}.com`)))).toEqual([]);
});
