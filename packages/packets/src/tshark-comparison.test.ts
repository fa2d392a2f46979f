import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCapture } from "./capture-file/capture-file.ts";
import type { CaptureFrame, CaptureRecord } from "./capture-file/capture-file-framing.ts";
import { createPcapWriter } from "./capture-file/pcap.ts";
import { createPcapngWriter } from "./capture-file/pcapng-writer.ts";
import { joinBytes } from "./testing/bytes.ts";
import { encodedFrames } from "./testing/encoded-frames.ts";
import type { Facts } from "./testing/facts.ts";
import { TCP_DATA, TCP_SYN, UDP, UDP_OVER_IPV6 } from "./testing/real-frames.ts";
import { NETWORK_PACKAGES, withCapturedTraffic } from "./testing/small-network.ts";
import { askTshark, runUnpacked, unpackOrSay } from "./testing/tshark.ts";
import { factsOf } from "./testing/tshark-facts.ts";

/** Captures of others, among them hostile ones; no part of the repository. */
const CAPTURES = fileURLToPath(new URL("../../../../shared/data/captures/", import.meta.url));

/** Frames made to break decoders. Where we call them malformed, tshark may have shown what it could. */
const HOSTILE = /arp-oobr|dns-badlabel|dns-zlip|dns_fwdptr|heapoverflow|asan/;

const tools = await unpackOrSay(NETWORK_PACKAGES, "comparison with tshark");
const isRoot = process.getuid?.() === 0;
if (tools && !isRoot) console.warn("SKIPPED: comparison with tshark on daemons' traffic: network namespaces need root");
const captures = existsSync(CAPTURES) ? capturesIn(CAPTURES) : [];
if (tools && captures.length === 0) console.warn(`SKIPPED: comparison with tshark on captures of others: there are none in ${CAPTURES}`);

function capturesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.pcap(ng)?$/.test(name)).toSorted();
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lanthorn-tshark-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** An ICMP error holds the packet that caused it, of which tshark tells too: the frame's own values come first. */
function holdsAnotherPacket(facts: Facts): boolean {
  const [icmp = ""] = facts["icmp.type"] ?? [];
  const [icmpv6 = ""] = facts["icmpv6.type"] ?? [];
  return ["3", "4", "5", "11", "12"].includes(icmp) || ["1", "2", "3", "4"].includes(icmpv6);
}

/** tshark's values as far as they answer ours. */
function answering(ours: Facts, theirs: Facts): Facts {
  return Object.fromEntries(Object.entries(ours).map(([field, values]) => [field, (theirs[field] ?? []).slice(0, values.length)]));
}

/** Expects the two to say the same of each frame: field by field, nothing missing and nothing more. */
function expectSame(records: readonly CaptureRecord[], theirs: readonly Facts[]): void {
  expect(records).toHaveLength(theirs.length);
  for (const [index, record] of records.entries()) {
    const ours = factsOf(record);
    const answer = theirs[index] ?? {};
    const facts = ours?.ok ? ours.value : {};
    const compared = holdsAnotherPacket(facts) ? answering(facts, answer) : answer;
    expect({ frame: index + 1, ...(ours?.ok ? facts : ours) }).toEqual({ frame: index + 1, ...compared });
  }
}

describe.skipIf(!tools)("frames that we encode", () => {
  const frames = encodedFrames().map((bytes, index): CaptureFrame => {
    return { seconds: 1_700_000_000 + index, nanoseconds: 123_456_789 + index, bytes };
  });
  const cut = { seconds: 1, nanoseconds: 999_999_999, bytes: UDP_OVER_IPV6.subarray(0, 64), originalLength: UDP_OVER_IPV6.length };

  test.each([
    ["pcap, little-endian", createPcapWriter({ linkType: 1 })],
    ["pcap, big-endian", createPcapWriter({ linkType: 1, byteOrder: "big" })],
    ["pcapng, little-endian", createPcapngWriter({ interfaces: [{ linkType: 1, name: "lan0" }] })],
    ["pcapng, big-endian", createPcapngWriter({ interfaces: [{ linkType: 1 }], byteOrder: "big" })],
  ])("mean the same to tshark, in %s", async (name, writer) => {
    if (!tools) return;
    const file = join(folder, name.replaceAll(/\W/g, ""));
    const bytes = joinBytes(writer.header(), ...[...frames, cut].map((frame) => writer.record(frame)));
    await writeFile(file, bytes);
    expectSame(readCapture(bytes).records, await askTshark(tools, file));
    const report = await runUnpacked(tools, "capinfos", ["-T", "-r", "-M", "-c", "-E", file]);
    expect(report.split("\t").map((cell) => cell.trim())).toEqual([file, "ether", String(frames.length + 1)]);
  });

  test("in microseconds and of two interfaces come to tshark with their times and interfaces", async () => {
    if (!tools) return;
    const file = join(folder, "two-interfaces");
    const writer = createPcapngWriter({ interfaces: [{ linkType: 1, name: "lan0" }, { linkType: 1, name: "wan0", snapLength: 64 }] });
    const records = frames.map((frame, index) => writer.record({ ...frame, interfaceId: index % 2 }));
    await writeFile(file, joinBytes(writer.header(), ...records));
    const text = await runUnpacked(tools, "tshark", ["-r", file, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.cap_len"]);
    const expected = frames.map(({ bytes }, index) => (index % 2 === 0 ? `lan0\t${bytes.length}` : `wan0\t${Math.min(64, bytes.length)}`));
    expect(text.trim().split("\n")).toEqual(expected);
  });
});

describe.skipIf(!tools)("what old writers, segmentation offload and short snap lengths leave", () => {
  const little = (...values: readonly number[]) => new Uint8Array(Uint32Array.from(values).buffer);
  /** A pcap file of one frame, of an earlier version, with its two lengths in either order. */
  const oldPcap = (minor: number, isOriginalFirst: boolean) => {
    const lengths = [UDP.length - 4, UDP.length];
    const head = little(0xa1b2c3d4, (minor << 16) | 2, 0, 0, 65_535, 1, 1_700_000_000, 999_999);
    return joinBytes(head, little(...(isOriginalFirst ? lengths.toReversed() : lengths)), UDP.subarray(0, UDP.length - 4));
  };
  const pcapngWithout = (padding: number) => {
    const length = 32 + UDP.length;
    const section = little(0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffff_ffff, 0xffff_ffff, 28);
    const described = little(1, 20, 1, 0, 20);
    const head = little(6, length, 0, 0, 1_000_000, UDP.length, UDP.length);
    return joinBytes(section, described, head, UDP, new Uint8Array(padding), little(length));
  };
  const pcap = (...frames: readonly { readonly bytes: Uint8Array; readonly originalLength?: number }[]) => {
    const writer = createPcapWriter({ linkType: 1 });
    return joinBytes(writer.header(), ...frames.map((frame) => writer.record({ seconds: 1, nanoseconds: 0, ...frame })));
  };
  const offloaded = [TCP_DATA, TCP_SYN].map((bytes) => ({ bytes: bytes.with(16, 0).with(17, 0) }));
  const cut = [34, 40, 54, 60].map((length) => ({ bytes: TCP_SYN.subarray(0, length), originalLength: TCP_SYN.length }));

  test.each([
    ["pcap 2.0", oldPcap(0, true)], ["pcap 2.2", oldPcap(2, true)], ["pcap 2.3", oldPcap(3, false)],
    ["pcap 2.3, the old way", oldPcap(3, true)], ["pcapng without padding in its lengths", pcapngWithout(-UDP.length & 3)],
    ["segmentation offload", pcap(...offloaded)], ["TCP cut at 34 to 60 bytes", pcap(...cut)],
  ])("means the same to us as to tshark: %s", async (name, bytes) => {
    if (!tools) return;
    const file = join(folder, name.replaceAll(/\W/g, ""));
    await writeFile(file, bytes);
    const theirs = await askTshark(tools, file);
    const { records, malformed } = readCapture(bytes);
    expect(malformed).toBeNull();
    expect(records.length).toBeGreaterThan(0);
    expect(records).toHaveLength(theirs.length);
    for (const [index, record] of records.entries()) {
      const ours = factsOf(record);
      expect(ours).toMatchObject({ ok: true });
      const facts = ours?.ok ? ours.value : {};
      expect(facts["ip.src"]).toEqual(["10.9.0.1"]);
      expect(facts).toEqual(answering(facts, theirs[index] ?? {}));
    }
  });
});

describe.skipIf(!tools || !isRoot)("daemons' traffic that dumpcap captures", () => {
  test("means the same to us as to tshark, in pcapng and in each kind of pcap", async () => {
    if (!tools) return;
    await withCapturedTraffic(tools, async (file) => {
      const { records, malformed } = readCapture(readFileSync(file));
      expect(malformed).toBeNull();
      const theirs = await askTshark(tools, file);
      expectSame(records, theirs);
      expectSeen(theirs);
      for (const format of ["pcap", "nsecpcap", "pcapng"]) {
        const converted = join(folder, `converted.${format}`);
        await runUnpacked(tools, "tshark", ["-r", file, "-F", format, "-w", converted]);
        const again = readCapture(readFileSync(converted));
        expect(again.malformed).toBeNull();
        expect(again.records.map(({ bytes }) => Buffer.from(bytes).toString("hex"))).toEqual(
          records.map(({ bytes }) => Buffer.from(bytes).toString("hex")),
        );
      }
    });
  });
});

/** The capture is worth comparing only if it holds what it is meant to. */
function expectSeen(facts: readonly Facts[]): void {
  const seen = (field: string) => [...new Set(facts.flatMap((one) => one[field] ?? []))];
  expect(seen("dhcp.option.dhcp").toSorted()).toEqual(["1", "2", "3", "5"]);
  expect(seen("dhcp.option.hostname")).toContain("lab1");
  expect(seen("dns.resp.type")).toEqual(expect.arrayContaining(["1", "28", "5", "15", "16", "33", "12"]));
  expect(seen("icmpv6.type")).toEqual(expect.arrayContaining(["128", "129", "134", "135", "136"]));
  expect(seen("icmp.type")).toEqual(expect.arrayContaining(["0", "3", "8"]));
  expect(seen("tcp.option_kind")).toEqual(expect.arrayContaining(["2", "3", "4", "8"]));
  expect(seen("ip.flags.mf")).toEqual(expect.arrayContaining(["0", "1"]));
  expect(seen("arp.opcode").toSorted()).toEqual(["1", "2"]);
}

describe.skipIf(!tools || captures.length === 0)("captures of others", () => {
  test.each(captures)("%s means the same to us as to tshark", async (name) => {
    if (!tools) return;
    const { records, malformed } = readCapture(readFileSync(join(CAPTURES, name)));
    expect(malformed).toBeNull();
    const theirs = await askTshark(tools, join(CAPTURES, name));
    expect(records).toHaveLength(theirs.length);
    for (const [index, record] of records.entries()) {
      const ours = factsOf(record);
      const answer = theirs[index] ?? {};
      const isDoubtful = HOSTILE.test(name) || answer["_ws.malformed"] !== undefined;
      // Malformed to us alone would be a mistake of ours; null is a link type that we do not read.
      expect({ frame: index + 1, ...(ours?.ok === false && !isDoubtful ? ours : {}) }).toEqual({ frame: index + 1 });
      const facts = ours?.ok ? ours.value : {};
      expect({ frame: index + 1, ...facts }).toEqual({ frame: index + 1, ...answering(facts, answer) });
    }
  });
});
