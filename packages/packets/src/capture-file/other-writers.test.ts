import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { joinBytes } from "../testing/bytes.ts";
import { seededMutations } from "../testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../testing/tshark.ts";
import { readCapture } from "./capture-file.ts";
import type { ByteOrder } from "./capture-file-order.ts";
import { linkTypeName } from "../link/link-type-names.ts";
import { createPcapWriter } from "./pcap.ts";

/** Other people's captures; they lie beside the repository and are no part of it. */
const CORPUS = fileURLToPath(new URL("../../../../../shared/data/captures/", import.meta.url));
const corpus = existsSync(CORPUS) ? readdirSync(CORPUS, { recursive: true, encoding: "utf8" }).filter((name) => /\.(?:pcap|pcapng)$/.test(name)).toSorted() : [];
const tools = await unpackOrSay(["tshark", "wireshark-common"], "capture files of other writers, compared with tshark");

const ARP = Uint8Array.from({ length: 42 }, (_, at) => [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1][at] ?? at);
const RESOLUTION = 9;
const OFFSET = 14;

/** An encoder of our own that also says what is not so. */
function encoder(order: ByteOrder) {
  const number = (value: number, octets: 2 | 4) => {
    const view = new DataView(new ArrayBuffer(octets));
    if (octets === 2) view.setUint16(0, value, order === "little");
    else view.setUint32(0, value, order === "little");
    return new Uint8Array(view.buffer);
  };
  const u16 = (value: number) => number(value, 2);
  const u32 = (value: number) => number(value, 4);
  const padded = (bytes: Uint8Array) => joinBytes(bytes, new Uint8Array(-bytes.length & 3));
  const block = (type: number, ...parts: readonly Uint8Array[]) => {
    const body = padded(joinBytes(...parts));
    return joinBytes(u32(type), u32(body.length + 12), body, u32(body.length + 12));
  };
  const option = (code: number, value: Uint8Array) => joinBytes(u16(code), u16(value.length), padded(value));
  return {
    u16, u32, block, option,
    pcap: (magic: number, minor: number, linkType: number, ...records: readonly Uint8Array[]) =>
      joinBytes(u32(magic), u16(2), u16(minor), u32(0), u32(0), u32(65_535), u32(linkType), ...records),
    record: (fraction: number, lengths: readonly [number, number], bytes: Uint8Array, extra: Uint8Array = new Uint8Array(0)) =>
      joinBytes(u32(1_600_000_000), u32(fraction), u32(lengths[0]), u32(lengths[1]), extra, bytes),
    section: (length: readonly [number, number] = [0xffff_ffff, 0xffff_ffff], minor = 0) =>
      block(0x0a0d0d0a, u32(0x1a2b3c4d), u16(1), u16(minor), u32(length[0]), u32(length[1])),
    described: (linkType: number, snapLength: number, ...options: readonly Uint8Array[]) =>
      block(1, u16(linkType), u16(0), u32(snapLength), ...options, ...(options.length > 0 ? [u32(0)] : [])),
    enhanced: (id: number, ticks: readonly [number, number], bytes: Uint8Array, ...options: readonly Uint8Array[]) =>
      block(6, u32(id), u32(ticks[0]), u32(ticks[1]), u32(bytes.length), u32(bytes.length + 4), padded(bytes), ...options),
    obsolete: (id: number, ticks: readonly [number, number], bytes: Uint8Array) =>
      block(2, u16(id), u16(7), u32(ticks[0]), u32(ticks[1]), u32(bytes.length), u32(bytes.length), padded(bytes)),
    simple: (bytes: Uint8Array, wireLength = bytes.length) => block(3, u32(wireLength), bytes),
  };
}

const MICROSECONDS: readonly [number, number] = [0x0005_af08, 0x1234_5678];

/** By name, in either byte order. */
function filesOf(order: ByteOrder): Readonly<Record<string, Uint8Array>> {
  const { u16, u32, block, option, pcap, record, section, described, enhanced, obsolete, simple } = encoder(order);
  const other = encoder(order === "big" ? "little" : "big");
  const short = ARP.subarray(0, 41);
  const eight = (value: number) => (order === "big" ? joinBytes(u32(0), u32(value)) : joinBytes(u32(value), u32(0)));
  const links = { cooked: 113, cookedV2: 276, null: 0, loop: 108, raw: 101, ipv4: 228, ipv6: 229, ppp: 9, wlan: 105, radiotap: 127, usb: 220, unknown: 147 };
  return {
    ...Object.fromEntries([0, 1, 2].map((minor) => [`pcap 2.${minor}`, pcap(0xa1b2c3d4, minor, 1, record(1, [60, 42], ARP), record(2, [41, 41], short))])),
    "pcap 2.3": pcap(0xa1b2c3d4, 3, 1, record(1, [42, 60], ARP), record(2, [60, 42], ARP)),
    "pcap 2.4": pcap(0xa1b2c3d4, 4, 1, record(999_999, [42, 60], ARP), record(0, [0, 60], new Uint8Array(0))),
    "pcap of nanoseconds": pcap(0xa1b23c4d, 4, 1, record(999_999_999, [42, 42], ARP)),
    "modified pcap": pcap(0xa1b2cd34, 4, 1, ...[1, 2, 3].map((index) => record(index, [42, 60], ARP, joinBytes(u32(2), u16(0x0806), Uint8Array.of(1, 0))))),
    "pcap with check sequences": pcap(0xa1b2c3d4, 4, 0x2400_0001, record(1, [42, 42], ARP)),
    ...Object.fromEntries(Object.entries(links).map(([name, linkType]) => [`pcap of ${name}`, pcap(0xa1b2c3d4, 4, linkType, record(1, [42, 42], ARP))])),
    ...Object.fromEntries(Object.entries(links).map(([name, linkType]) => [`pcapng of ${name}`, joinBytes(section(), described(linkType, 0), enhanced(0, MICROSECONDS, ARP))])),
    "simple packets": joinBytes(section(), described(1, 0), simple(ARP), simple(short), simple(ARP)),
    "simple packets cut at the snap length": joinBytes(section(), described(1, 40), simple(ARP.subarray(0, 40), 42)),
    "obsolete packets": joinBytes(section(), described(1, 0), described(1, 0), obsolete(1, MICROSECONDS, ARP), obsolete(0, MICROSECONDS, short)),
    "sections of both byte orders": joinBytes(
      section(), described(1, 0), enhanced(0, MICROSECONDS, ARP), other.section(), other.described(1, 0), other.enhanced(0, MICROSECONDS, short),
      section(), described(1, 0), enhanced(0, MICROSECONDS, ARP),
    ),
    "a section that says how long it is": joinBytes(section(order === "big" ? [0, 96] : [96, 0]), described(1, 0), enhanced(0, MICROSECONDS, ARP)),
    "a section of version 1.2": joinBytes(section(undefined, 2), described(1, 0), enhanced(0, MICROSECONDS, ARP)),
    "interfaces of different resolutions": joinBytes(
      section(), described(1, 0), described(1, 0, option(RESOLUTION, Uint8Array.of(9))), described(1, 0, option(RESOLUTION, Uint8Array.of(3))),
      described(1, 0, option(RESOLUTION, Uint8Array.of(0x8a))), described(1, 0, option(RESOLUTION, Uint8Array.of(0))),
      enhanced(0, MICROSECONDS, ARP), enhanced(1, [0x1634_5785, 0xd8a0_0001], ARP), enhanced(2, [0x17b, 0x1234], ARP), enhanced(3, [0x17b, 0x1235], ARP), enhanced(4, [0, 1_600_000_000], ARP),
    ),
    "an interface with an offset": joinBytes(section(), described(1, 0, option(OFFSET, eight(3600))), enhanced(0, MICROSECONDS, ARP)),
    "interfaces of different link types": joinBytes(section(), described(1, 0), described(113, 0), described(101, 96), enhanced(2, MICROSECONDS, ARP), enhanced(0, MICROSECONDS, ARP), enhanced(1, MICROSECONDS, short)),
    "an interface described between frames": joinBytes(section(), described(1, 0), enhanced(0, MICROSECONDS, ARP), described(1, 0), enhanced(1, MICROSECONDS, ARP)),
    "blocks and options that nobody knows": joinBytes(
      section(), block(0x7777, ARP), described(1, 0, option(2, ARP), option(0x7777, short), option(1, Uint8Array.of(65))), block(10, u32(0x544c_534b), u32(4), Uint8Array.of(65, 66, 67, 10)),
      block(4, u16(0), u16(0)), block(5, u32(0), u32(0), u32(1)), block(0x7777, u32(1), ARP), enhanced(0, MICROSECONDS, ARP, option(2, u32(2)), option(0x4242, ARP), u32(0)), block(0x7778, ARP),
    ),
    "a frame that is longer than the snap length": joinBytes(section(), described(1, 20), enhanced(0, MICROSECONDS, ARP)),
  };
}

/** What they say of each frame: number, time, lengths; of pcapng the interface too. */
interface Seen {
  readonly frames: readonly string[];
  readonly isWhole: boolean;
}

function ours(bytes: Uint8Array): Seen {
  const { records, malformed } = readCapture(bytes);
  const frames = records.map(({ seconds, nanoseconds, bytes: kept, originalLength }) => `${seconds}.${String(nanoseconds).padStart(9, "0")} ${kept.length} ${originalLength}`);
  return { frames, isWhole: malformed === null };
}

describe.skipIf(tools === null)("capture files of other writers", () => {
  const folder = mkdtempSync(join(tmpdir(), "other-writers-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function theirs(file: string): Seen {
    const { path, env } = tools?.command("tshark") ?? { path: "", env: {} };
    const fields = ["frame.time_epoch", "frame.cap_len", "frame.len"].flatMap((field) => ["-e", field]);
    const { stdout, status } = spawnSync(path, ["-n", "-r", file, "-T", "fields", "-E", "separator= ", ...fields], { encoding: "utf8", env: { ...env, HOME: "/nonexistent" }, maxBuffer: 1e9 });
    // A simple packet has no time; tshark leaves the field empty.
    const frames = stdout.split("\n").filter((line) => line !== "").map((line) => (line.startsWith(" ") ? `0.000000000${line}` : line));
    return { frames, isWhole: status === 0 };
  }
  const compare = (name: string, bytes: Uint8Array) => {
    const file = join(folder, "file");
    writeFileSync(file, bytes);
    const answer = theirs(file);
    expect({ name, ...ours(bytes) }).toEqual({ name, ...answer });
    return answer;
  };

  describe.each(["big", "little"] as const)("in %s-endian", (order) => {
    test.each(Object.entries(filesOf(order)))("%s: frames are those that tshark reads", (name, bytes) => {
      expect(compare(name, bytes).frames.length).toBeGreaterThan(0);
    });

    test("cut anywhere, the whole frames before are read, as tshark does", () => {
      for (const name of ["pcap 2.4", "modified pcap", "blocks and options that nobody knows"]) {
        const bytes = filesOf(order)[name] as Uint8Array;
        for (let length = 29; length < bytes.length; length += 29) {
          const cut = bytes.subarray(0, length);
          const file = join(folder, "cut");
          writeFileSync(file, cut);
          const [us, them] = [ours(cut), theirs(file)];
          // A frame whose block lacks nothing but its trailer is whole to us.
          expect([`${name} at ${length}`, us.frames.slice(0, them.frames.length)]).toEqual([`${name} at ${length}`, them.frames]);
          expect(us.frames.length - them.frames.length).toBeLessThanOrEqual(1);
        }
      }
    });
  });

  test.each(["pcap", "nsecpcap", "modpcap", "pcapng"])("what editcap writes as %s is read as tshark reads it", async (format) => {
    const writer = createPcapWriter({ linkType: 1 });
    const source = join(folder, "source.pcap");
    writeFileSync(source, joinBytes(writer.header(), ...[1, 2, 3].map((index) => writer.record({ seconds: 1_600_000_000 + index, nanoseconds: index * 1000, bytes: ARP.subarray(0, 39 + index), originalLength: 60 }))));
    const file = join(folder, `edited.${format}`);
    if (tools) await runUnpacked(tools, "editcap", ["-F", format, source, file]);
    expect(compare(format, new Uint8Array(readFileSync(file))).frames).toHaveLength(3);
  });

  test("what mergecap makes of files of several link types is read as tshark reads it", async () => {
    const sources = [1, 113, 101].map((linkType, index) => {
      const writer = createPcapWriter({ linkType });
      const file = join(folder, `merged-${index}`);
      writeFileSync(file, joinBytes(writer.header(), ...[1, 2].map((at) => writer.record({ seconds: 1_600_000_000 + at * 10 + index, nanoseconds: 5, bytes: ARP }))));
      return file;
    });
    const file = join(folder, "merged.pcapng");
    if (tools) await runUnpacked(tools, "mergecap", ["-F", "pcapng", "-w", file, ...sources]);
    const bytes = new Uint8Array(readFileSync(file));
    expect(compare("merged", bytes).frames).toHaveLength(6);
    expect(new Set(readCapture(bytes).records.map(({ linkType }) => linkType))).toEqual(new Set([1, 113, 101]));
  });

  test.skipIf(corpus.length === 0)("every file of others' captures gives the frames that tshark gives", () => {
    const different = corpus.flatMap((name) => {
      const bytes = new Uint8Array(readFileSync(join(CORPUS, name)));
      const [us, them] = [ours(bytes), theirs(join(CORPUS, name))];
      return JSON.stringify(us.frames) === JSON.stringify(them.frames) ? [] : [{ name, ours: us.frames.length, theirs: them.frames.length }];
    });
    expect(different).toEqual([]);
  });
});

test.each(["big", "little"] as const)("whatever is damaged in a %s-endian one ends in a result", (order) => {
  for (const [name, bytes] of Object.entries(filesOf(order))) {
    for (const damaged of seededMutations(bytes, 200, name.length)) {
      const { records } = readCapture(damaged);
      // No frame is longer than the file that it came from.
      expect(records.every((record) => record.bytes.length <= damaged.length)).toBe(true);
      expect(records.length).toBeLessThanOrEqual(damaged.length / 12);
    }
  }
});

test("a link type has a name for who is refused its frames", () => {
  expect([105, 276, 4711].map(linkTypeName)).toEqual(["IEEE 802.11 (link type 105)", "Linux cooked capture 2 (link type 276)", "link type 4711"]);
});
