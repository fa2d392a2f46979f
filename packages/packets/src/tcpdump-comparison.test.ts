import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { formatMac } from "./addresses.ts";
import { readCapture } from "./capture-file/capture-file.ts";
import { CDP_DESTINATION } from "./neighbors/cdp.ts";
import { decodeFrame } from "./frame.ts";
import { decodeLlc } from "./link/llc.ts";
import { splitLldpTlvs } from "./neighbors/lldp-tlvs.ts";
import { ETHER_TYPE, isLinkType, LINK_TYPE } from "./numbers.ts";
import { createPcapWriter } from "./capture-file/pcap.ts";
import { cdpText, lldpText, type TlvText } from "./testing/tcpdump-text.ts";
import { runUnpacked, unpackOrSay } from "./testing/tshark.ts";

/** Of a frame of LLDP or CDP, as tcpdump begins it. */
const HEAD = /(?:^|\s)LLDP, length \d|CDPv\d, ttl/m;

/** Captures of others, single frames that lldpd is tried with, and what tcpdump's own tests print of some; no part of the repository. */
const CAPTURES = fileURLToPath(new URL("../../../../shared/data/captures/", import.meta.url));
const files = existsSync(CAPTURES) ? readdirSync(CAPTURES, { recursive: true, encoding: "utf8" }).toSorted() : [];
const captures = files.filter((name) => /\.pcap(ng)?$/.test(name));
const rawFrames = files.filter((name) => /fuzz_(lldp|cdp)_seed_corpus\/.*\.raw$/.test(name));
const read = (name: string) => readFileSync(join(CAPTURES, name));
/** Printed with -v or -vv. */
const texts = files.filter((name) => name.endsWith(".out") && HEAD.test(read(name).toString("utf8")));

const tools = captures.length > 0 ? await unpackOrSay(["tcpdump"], "comparison with tcpdump") : null;
if (captures.length === 0) console.warn(`SKIPPED: comparison with tcpdump: there are no captures in ${CAPTURES}`);

/** What tcpdump prints of one frame of LLDP or CDP. */
interface PrintedFrame {
  /** A TLV that runs past the end. */
  readonly isCut: boolean;
  readonly tlvs: readonly TlvText[];
}

/** Bits whose names tcpdump takes from the other end of the word: what is left is their value. */
function withoutNames(line: string): string {
  return line.replace(/^(PMD autoneg capability) \[.*\]/, "$1").replace(/^(MAU type) .* \(/, "$1 (");
}

/** Splits what tcpdump prints into the frames that it calls LLDP or CDP, and their TLVs. */
function readPrinted(text: string): readonly PrintedFrame[] {
  const frames: { isCut: boolean; tlvs: { head: string; lines: string[]; hex: string | null }[] }[] = [];
  let isOther = true;
  for (const line of text.split("\n")) {
    if (/^\s*\S/.test(line) && !line.startsWith("\t")) {
      isOther = !HEAD.test(line);
      const head = /(CDPv\d, ttl: \d+s, checksum: 0x\w+)/.exec(line)?.[1];
      if (!isOther) frames.push({ isCut: line.includes("[|"), tlvs: head === undefined ? [] : [{ head, lines: [], hex: null }] });
      continue;
    }
    const frame = isOther ? undefined : frames.at(-1);
    if (!frame) continue;
    const tlv = frame.tlvs.at(-1);
    const lldp = /^\t(?<head>[\w ]+TLV \(\d+\), length \d+)(?:: (?<rest>.*))?$/.exec(line)?.groups;
    const cdp = /^\t(?<head>[\w /-]+ \(0x\w\w\), value length: \d+ bytes?:) ?(?<rest>.*)$/.exec(line)?.groups;
    const dump = /^\t {2}0x[0-9a-f]{4}: {2}([0-9a-f ]+?)(?: {2}.*)?$/.exec(line)?.[1];
    const start = lldp ?? cdp;
    if (start) frame.tlvs.push({ head: start["head"] ?? "", lines: start["rest"] ? [start["rest"]] : [], hex: null });
    else if (tlv && dump !== undefined) tlv.hex = (tlv.hex ?? "") + dump.replaceAll(" ", "");
    else if (tlv && line !== "") tlv.lines.push(line.replace(/^\t */, ""));
    if (line.endsWith("[|lldp]")) frame.isCut = true;
  }
  return frames;
}

/** Ours, of each LLDP or CDP frame of a capture; null where it is malformed, or its end is missing. */
function readOurs(capture: Uint8Array): readonly (readonly TlvText[] | null)[] {
  return readCapture(capture).records.flatMap(({ bytes, originalLength, linkType }) => {
    const frame = isLinkType(linkType) ? decodeFrame(bytes, { linkType, wireLength: originalLength }) : null;
    if (!frame?.ok) return [];
    const { etherType, network, networkBytes, destinationMac } = frame.value;
    if (etherType === ETHER_TYPE.lldp) {
      const tlvs = splitLldpTlvs(networkBytes);
      const consumed = tlvs.ok ? tlvs.value.reduce((sum, { value }) => sum + 2 + value.length, 0) : 0;
      const hasEnd = originalLength === bytes.length || consumed < networkBytes.length;
      return [tlvs.ok && hasEnd ? tlvs.value.map(lldpText) : null];
    }
    if (network !== "llc" || !destinationMac || formatMac(destinationMac) !== CDP_DESTINATION) return [];
    const llc = decodeLlc(networkBytes);
    return llc.ok && llc.value.snap?.protocol === 0x2000 ? [cdpText(llc.value.payload)] : [];
  });
}

/**
 * Expects every frame that tcpdump prints to be one of ours and the other way round, with tcpdump's words of each TLV that we read.
 * @param hasBytes It has printed the bytes of every TLV of LLDP: then those are the same too.
 */
function expectSame(
  name: string, ours: readonly (readonly TlvText[] | null)[], printed: readonly PrintedFrame[], hasBytes: boolean,
): number {
  expect(ours.length, name).toBe(printed.length);
  for (const [index, frame] of ours.entries()) {
    const answer = printed[index] as PrintedFrame;
    expect({ name, frame: index, isCut: frame === null }).toEqual({ name, frame: index, isCut: answer.isCut });
    if (frame === null) continue;
    // End Of LLDPDU says nothing.
    const their = answer.tlvs.filter(({ head }) => !head.startsWith("End TLV"));
    expect(their.map(({ head }) => head), `${name}, frame ${index}`).toEqual(frame.map(({ head }) => head));
    for (const [at, tlv] of frame.entries()) expectSameTlv(`${name}, frame ${index}, ${tlv.head}`, tlv, their[at] as TlvText, hasBytes);
  }
  return printed.length;
}

function expectSameTlv(where: string, ours: TlvText, theirs: TlvText, hasBytes: boolean): void {
  // Of CDP it prints those alone that it has no words for: what we do not read either.
  const needsBytes = hasBytes && (ours.lines === null || / TLV \(/.test(ours.head));
  if (needsBytes || theirs.hex !== null) expect(theirs.hex, where).toBe(ours.hex);
  if (ours.lines === null) return;
  // "OUI …" stands in the first line of an organization's; what follows a location's format is its content, compared by bytes.
  const lines = (theirs.lines ?? []).filter((line) => !line.startsWith("OUI ")).map(withoutNames);
  const isLocation = ours.lines[0]?.startsWith("Location") === true;
  const said = isLocation ? lines.slice(0, ours.lines.length) : lines.filter((line) => line !== "" || ours.lines?.includes("") === true);
  expect(said, where).toEqual(ours.lines);
}

describe.skipIf(captures.length === 0)("LLDP and CDP of others' captures", () => {
  const folder = mkdtempSync(join(tmpdir(), "tcpdump-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const print = (file: string) => {
    // As root, tcpdump would become a user that an unpacked package does not bring.
    const user = process.getuid?.() === 0 ? ["-Z", "root"] : [];
    return tools ? runUnpacked(tools, "tcpdump", [...user, "-nn", "-vv", "-t", "-r", file]) : "";
  };

  test.skipIf(tools === null).each(captures)("in %s mean to us what tcpdump says, TLV by TLV and byte by byte", async (name) => {
    const text = await print(join(CAPTURES, name));
    expect(text.length).toBeGreaterThan(0);
    expectSame(name, readOurs(read(name)), readPrinted(text), true);
  });

  test.skipIf(tools === null).each(rawFrames)("in %s mean to us what tcpdump says of such a frame", async (name) => {
    const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet });
    const capture = Buffer.concat([writer.header(), writer.record({ seconds: 0, nanoseconds: 0, bytes: read(name) })]);
    const file = join(folder, "frame.pcap");
    writeFileSync(file, capture);
    expect(expectSame(name, readOurs(capture), readPrinted(await print(file)), true)).toBe(1);
  });

  test.each(texts)("%s says what we say", (name) => {
    const capture = name.replace(/(-v+)?\.out$/, ".pcap");
    expect(captures).toContain(capture);
    const printed = readPrinted(read(name).toString("utf8"));
    expect(expectSame(name, readOurs(read(capture)), printed, name.endsWith("-vv.out"))).toBeGreaterThan(0);
  });
});
