import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { formatMac } from "./addresses.ts";
import { readCapture } from "./capture-file.ts";
import { CDP_DESTINATION } from "./cdp.ts";
import { decodeFrame } from "./frame.ts";
import { decodeLlc } from "./llc.ts";
import { splitLldpTlvs } from "./lldp-tlvs.ts";
import { ETHER_TYPE } from "./numbers.ts";
import { cdpText, lldpText, type TlvText } from "./testing/tcpdump-text.ts";
import { runUnpacked, unpackOrSay } from "./testing/tshark.ts";

/** Captures of others, and what tcpdump's own tests print of some; no part of the repository. */
const CAPTURES = fileURLToPath(new URL("../../../../shared/data/captures/", import.meta.url));
const files = existsSync(CAPTURES) ? readdirSync(CAPTURES, { recursive: true, encoding: "utf8" }) : [];
const captures = files.filter((name) => /\.pcap(ng)?$/.test(name)).toSorted();
/** Printed with -v or -vv, by the capture's name. */
const texts = files.filter((name) => /lldp.*\.out$/i.test(name)).toSorted();

const tools = captures.length > 0 ? await unpackOrSay(["tcpdump"], "comparison with tcpdump") : null;
if (captures.length === 0) console.warn(`SKIPPED: comparison with tcpdump: there are no captures in ${CAPTURES}`);

/** What tcpdump prints of one frame. */
interface PrintedFrame {
  /** A TLV that runs past the end. */
  readonly isCut: boolean;
  readonly tlvs: readonly TlvText[];
}

/** Bits whose names tcpdump takes from the other end of the word: what is left is their value. */
function withoutNames(line: string): string {
  return line.replace(/^(PMD autoneg capability) \[.*\]/, "$1").replace(/^(MAU type) .* \(/, "$1 (");
}

/** Splits what tcpdump prints of LLDP and CDP into frames and their TLVs. */
function readPrinted(text: string): readonly PrintedFrame[] {
  const frames: { isCut: boolean; tlvs: { head: string; lines: string[]; hex: string | null }[] }[] = [];
  for (const line of text.split("\n")) {
    const frame = frames.at(-1);
    const tlv = frame?.tlvs.at(-1);
    const lldp = /^\t(?<head>[\w ]+TLV \(\d+\), length \d+)(?:: (?<rest>.*))?$/.exec(line)?.groups;
    const cdp = /^\t(?<head>[\w /-]+ \(0x\w\w\), value length: \d+ bytes?:) ?(?<rest>.*)$/.exec(line)?.groups;
    const dump = /^\t {2}0x[0-9a-f]{4}: {2}([0-9a-f ]+?)(?: {2}.*)?$/.exec(line)?.[1];
    const start = lldp ?? cdp;
    if (/^\s*\S/.test(line) && !line.startsWith("\t")) {
      const head = /(CDPv\d, ttl: \d+s, checksum: 0x\w+)/.exec(line)?.[1];
      frames.push({ isCut: line.includes("[|"), tlvs: head === undefined ? [] : [{ head, lines: [], hex: null }] });
    } else if (frame && start) frame.tlvs.push({ head: start["head"] ?? "", lines: start["rest"] ? [start["rest"]] : [], hex: null });
    else if (tlv && dump !== undefined) tlv.hex = (tlv.hex ?? "") + dump.replaceAll(" ", "");
    else if (tlv && line !== "") tlv.lines.push(line.trim());
    if (frame && line.endsWith("[|lldp]")) frame.isCut = true;
  }
  return frames;
}

/** Ours, of each LLDP or CDP frame of a capture; null where its end is missing. */
function readOurs(name: string): readonly (readonly TlvText[] | null)[] {
  return readCapture(readFileSync(join(CAPTURES, name))).records.flatMap(({ bytes, originalLength }) => {
    const frame = decodeFrame(bytes, { wireLength: originalLength });
    if (!frame.ok) return [];
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

/** Expects tcpdump's words of each TLV wherever we read it, and its bytes wherever tcpdump prints them. */
function expectSame(ours: readonly (readonly TlvText[] | null)[], theirs: readonly PrintedFrame[]): number {
  const printed = theirs.filter(({ tlvs }) => tlvs.length > 0);
  expect(ours).toHaveLength(printed.length);
  for (const [index, frame] of ours.entries()) {
    const answer = printed[index];
    if (!answer) continue;
    expect({ frame: index, isCut: frame === null }).toEqual({ frame: index, isCut: answer.isCut });
    if (frame === null) continue;
    // End Of LLDPDU says nothing.
    const their = answer.tlvs.filter(({ head }) => !head.startsWith("End TLV"));
    expect(frame.length).toBe(their.length);
    for (const [at, tlv] of frame.entries()) expectSameTlv(tlv, their[at] as TlvText);
  }
  return printed.length;
}

function expectSameTlv(ours: TlvText, theirs: TlvText): void {
  expect(theirs.head.endsWith(ours.head), `${theirs.head} / ${ours.head}`).toBe(true);
  if (ours.hex !== null && theirs.hex !== null) expect(theirs.hex, ours.head).toBe(ours.hex);
  if (ours.lines === null) return;
  // "OUI …" stands in the first line of an organization's; what follows a location's format is its content, compared by bytes.
  const lines = (theirs.lines ?? []).filter((line) => !line.startsWith("OUI ")).map(withoutNames);
  const isLocation = ours.lines[0]?.startsWith("Location") === true;
  expect(
    isLocation ? lines.slice(0, ours.lines.length) : lines.filter((line) => line !== "" || ours.lines?.includes("") === true), ours.head,
  ).toEqual(ours.lines);
}

describe.skipIf(captures.length === 0)("LLDP and CDP of others' captures", () => {
  test("mean to us what tcpdump says of them, TLV by TLV and byte by byte", { timeout: 60_000 }, async () => {
    if (!tools) return;
    let compared = 0;
    for (const name of captures) {
      const ours = readOurs(name);
      if (ours.length === 0) continue;
      const filter = `ether proto 0x88cc or ether dst ${CDP_DESTINATION}`;
      // As root, tcpdump would become a user that an unpacked package does not bring.
      const user = process.getuid?.() === 0 ? ["-Z", "root"] : [];
      const text = await runUnpacked(tools, "tcpdump", [...user, "-nn", "-vv", "-t", "-r", join(CAPTURES, name), filter]);
      compared += expectSame(ours, readPrinted(text));
    }
    expect(compared).toBeGreaterThan(25);
  });

  test.each(texts)("%s says what we say", (name) => {
    const capture = name.replace(/(-v+)?\.out$/, ".pcap");
    expect(captures).toContain(capture);
    expect(expectSame(readOurs(capture), readPrinted(readFileSync(join(CAPTURES, name), "utf8")))).toBeGreaterThan(0);
  });
});
