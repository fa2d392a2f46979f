import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBpfFilter, createPcapWriter, readCapture } from "@lanthorn/packets";
import { afterAll, describe, expect, test } from "vitest";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { PacketIoError } from "../errors.ts";
import { arpFrame, echoToAllFrame, solicitationFrame, tcpFrame, udpFrame } from "../testing/raw-frames.ts";
import { compileFilter, MAX_FILTER_LENGTH } from "./compile-filter.ts";

/** Other people's captures; they lie beside the repository and are no part of it. */
const CAPTURES = fileURLToPath(new URL("../../../../../shared/data/captures/", import.meta.url));
const MAX_FRAMES = 4000;
const captures = existsSync(CAPTURES) ? readdirSync(CAPTURES, { recursive: true, encoding: "utf8" }).filter((name) => /\.pcap(ng)?$/.test(name)).toSorted() : [];
if (captures.length === 0) console.warn(`filters are tried on our own frames only: there are no captures in ${CAPTURES}`);

const tagged = (frame: Uint8Array, ...tag: readonly number[]) => Uint8Array.of(...frame.subarray(0, 12), ...tag, ...frame.subarray(12));
const own = [
  arpFrame("10.9.0.7"), tcpFrame({ ip: "10.9.0.9", port: 443 }), tcpFrame({ ip: "fd00::9", port: 22 }), udpFrame({ ip: "10.9.0.9", port: 53 }), udpFrame({ ip: "fd00::9", port: 5353 }),
  solicitationFrame("fe80::5"), echoToAllFrame(), tagged(udpFrame({ ip: "10.9.0.9", port: 53 }), 0x81, 0, 0, 100),
  tagged(tcpFrame({ ip: "10.9.0.9", port: 80 }), 0x88, 0xa8, 0, 7, 0x81, 0, 0, 100), new Uint8Array(14), new Uint8Array(0), Uint8Array.of(1, 2, 3),
];
const frames = [
  ...own.map((bytes) => ({ bytes, originalLength: bytes.length })),
  ...own.flatMap((bytes) => [...seededMutations(bytes, 40, 17)]).map((bytes) => ({ bytes, originalLength: bytes.length })),
  ...captures.flatMap((name) => readCapture(new Uint8Array(readFileSync(join(CAPTURES, name)))).records.filter(({ linkType }) => linkType === 1)).slice(0, MAX_FRAMES),
];

const FILTERS = [
  "arp", "rarp", "ip", "ip6", "tcp", "udp", "icmp", "icmp6", "igmp", "vrrp", "stp", "isis", "llc", "not ip", "ether broadcast", "ether multicast", "ip multicast", "ip6 multicast",
  "host 10.9.0.9", "src host 10.9.0.1", "dst net 10.0.0.0/8", "net 192.168.0.0 mask 255.255.0.0", "host fd00::9", "net fd00::/16", "port 53", "udp port 53", "tcp dst port 443",
  "portrange 20-1024", "src portrange 61000-62000", "not (port 22 or port 80)", "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn", "tcp[13] & 2 != 0", "icmp[icmptype] = icmp-echo",
  "icmp6[icmp6type] = icmp6-neighborsolicit", "ether host 02:00:00:00:00:01", "ether src 02:00:00:00:00:01", "ether proto 0x88cc", "ether[0] & 1 = 1", "vlan", "vlan 100", "vlan 100 and udp",
  "vlan and vlan and tcp", "mpls", "pppoes", "less 64", "greater 100", "len > 200 and len < 400", "ip[0] & 0xf != 5", "ip[6:2] & 0x1fff != 0", "ip proto 47", "ether[6:4] ^ ether[0:4] < 100", "ip[4:2] << ip[8] = 0",
  "udp[8:4] % 7 = 3", "ip[2:2] / (ip[8] - 64) > 1", "ip[8] * 2 = 128", "ether[12:2] > 1500 and not ip", "tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420", "(-ip[8]) + 64 = 0", "",
];

const tools = await unpackOrSay(["tcpdump"], "filters compared with tcpdump");

describe("a compiled filter", () => {
  const folder = mkdtempSync(join(tmpdir(), "filters-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "frames.pcap");
  const writer = createPcapWriter({ linkType: 1, resolution: "microseconds" });
  // Each has its number for a time.
  writeFileSync(file, Buffer.concat([writer.header(), ...frames.map((frame, seconds) => writer.record({ ...frame, seconds, nanoseconds: 0 }))]));
  const asRoot = process.getuid?.() === 0 ? ["-Z", "root"] : [];

  test.skipIf(tools === null).each(FILTERS)("%j takes the frames that tcpdump takes", async (text) => {
    const out = join(folder, "taken.pcap");
    if (tools) await runUnpacked(tools, "tcpdump", [...asRoot, "-r", file, "-w", out, ...(text === "" ? [] : [text])]);
    const theirs = readCapture(new Uint8Array(readFileSync(out))).records.map(({ seconds }) => seconds);
    const { run } = compileFilter(text);
    const ours = frames.flatMap(({ bytes, originalLength }, index) => (run(bytes, 0, bytes.length, originalLength) > 0 ? [index] : []));
    expect(ours).toEqual(theirs);
  });

  test("says how much of a frame to keep", () => {
    const { run, program } = compileFilter("udp", { snapLength: 96 });
    const bytes = own[3] as Uint8Array;
    expect(run(bytes, 0, bytes.length, bytes.length)).toBe(96);
    expect(createBpfFilter(program)?.(bytes, 0, bytes.length, bytes.length)).toBe(96);
  });

  test("is made for other link types too", () => {
    const frame = own[3] as Uint8Array;
    expect(compileFilter("udp", { linkType: 101 }).run(frame.subarray(14), 0, frame.length - 14, frame.length - 14)).toBeGreaterThan(0);
  });
});

function refusal(text: string): PacketIoError {
  try {
    compileFilter(text);
  } catch (error) {
    if (error instanceof PacketIoError) return error;
  }
  throw new Error(`"${text}" was taken`);
}

test.each([
  "frobnicate", "ip protochain 6", "ip6 protochain 58", "outbound", "(", ")", "ether proto", "host 300.1.1.1", "port 99999", "port 80 and", "inbound", "tcp[", "len >", "ip[0:3] = 1", "net 10.0.0.1/8", "vlan 5000",
  "host example.com", "src example.com", "port 80 and example.com", "not gateway router", "ether host printer", "net office", "host 1and1.com", "\\example", "port 80\0junk", "x".repeat(MAX_FILTER_LENGTH + 1), "host é",
])("%j is refused", (text) => {
  expect(refusal(text).code).toBe("filter-invalid");
});

test("a refusal has the compiler's words", () => {
  expect(refusal("port 99999").message).toContain("illegal port number 99999 > 65535");
  expect(refusal("ether proto").message).toContain("syntax error");
});

test.each(["port http or https", "tcp dst port ssh", "ether proto \\arp", "ip proto \\tcp", "portrange http-https", "icmp6[icmp6type] == icmp6-echo", "src fe80::1 or ether host 2:0:0:0:0:1", "ip6[6:1] = 58"])(
  "%j needs no name server and is taken", (text) => {
    expect(compileFilter(text).program.length).toBeGreaterThan(1);
  });
