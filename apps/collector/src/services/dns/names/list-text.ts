/** The text of a version: the lines that were published, without comments, each with the day on which it was first seen, in parts. */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { DNS_LIST_DAY, DNS_LISTS_MAX_BYTES, DNS_PART_MAX_BYTES } from "@lanthorn/contract";
import type { ListFormat } from "@lanthorn/dns";
import { FileRefused } from "../../../sources/file-refused.ts";

/** A text in parts, and how it differs from the one before. */
export interface PackedText {
  readonly content: Buffer;
  readonly parts: readonly number[];
  readonly digest: string;
  readonly added: number;
  readonly removed: number;
}

/** A part has some 250 KB before it is packed: a name that is added or removed changes that much. */
const MIN_PART_BYTES = 65_536;
const MAX_PART_BYTES = DNS_PART_MAX_BYTES / 4;
/** One line of so many ends a part, by its own hash: parts stay the same where lines come or go elsewhere. */
const LINES_OF_PART = 8192;
const [LINE_FEED, NUMBER_SIGN, EXCLAMATION, SEMICOLON] = [0x0a, 0x23, 0x21, 0x3b];
/** Longer ones are refused by the reader. */
const MAX_LINE_BYTES = 16_384;

/** What was published, unpacked where it is packed by gzip. @throws FileRefused */
export function openPublished(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: DNS_LISTS_MAX_BYTES });
  } catch (cause) {
    throw new FileRefused(`it cannot be unpacked, or has more than ${Math.trunc(DNS_LISTS_MAX_BYTES / 1e6)} MB`, { cause });
  }
}

/** @param published Unpacked. @param before Packed content of the version before; null for none. @param day Of lines that it does not have. */
export function packText(published: Uint8Array, { format, before, day }: { readonly format: ListFormat; readonly before: Uint8Array | null; readonly day: number }): PackedText {
  const known = before === null ? new Map<string, number>() : readDays(before);
  const digest = createHash("sha256");
  const packed: Buffer[] = [];
  let lines: string[] = [];
  let [bytes, added, kept, lastDay] = [0, 0, 0, -1];
  const endPart = () => {
    if (lines.length > 0) packed.push(gzipSync(Buffer.from(lines.join(""), "latin1")));
    lines = [];
    bytes = 0;
    lastDay = -1;
  };
  for (const line of linesOf(published, format)) {
    digest.update(line, "latin1").update("\n");
    const found = known.get(line);
    if (found === undefined) added += 1;
    // A line that stands there twice counts once.
    else if (found >= 0) {
      known.set(line, -found - 1);
      kept += 1;
    }
    const lineDay = found === undefined ? day : found < 0 ? -found - 1 : found;
    if (lineDay !== lastDay) lines.push(`${DNS_LIST_DAY}${lineDay}\n`);
    lastDay = lineDay;
    lines.push(`${line}\n`);
    bytes += line.length + 1;
    if (bytes >= MAX_PART_BYTES || (bytes >= MIN_PART_BYTES && hashOf(line) % LINES_OF_PART === 0)) endPart();
  }
  endPart();
  return { content: Buffer.concat(packed), parts: packed.map(({ length }) => length), digest: digest.digest("hex"), added, removed: known.size - kept };
}

/** The text of all parts. Each was packed here. */
export function openText(packed: Uint8Array): Buffer {
  return gunzipSync(packed, { maxOutputLength: 2 * DNS_LISTS_MAX_BYTES });
}

/** Lines that are no comments, one character a byte, without blanks at their ends. */
function* linesOf(text: Uint8Array, format: ListFormat): Generator<string> {
  const all = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  for (let at = 0; at < all.length;) {
    const found = all.indexOf(LINE_FEED, at);
    const end = found < 0 ? all.length : found;
    const line = end - at > MAX_LINE_BYTES ? "" : all.toString("latin1", at, end).trimEnd();
    at = end + 1;
    if (line !== "" && !isComment(line.trimStart().charCodeAt(0), format)) yield line;
  }
}

function isComment(first: number, format: ListFormat): boolean {
  if (format === "rpz") return first === SEMICOLON;
  return first === NUMBER_SIGN || (format === "adblock" && first === EXCLAMATION);
}

/** The day of each line of a version. */
function readDays(packed: Uint8Array): Map<string, number> {
  const days = new Map<string, number>();
  let day = 0;
  for (const line of openText(packed).toString("latin1").split("\n")) {
    if (line.startsWith(DNS_LIST_DAY)) day = Number(line.slice(DNS_LIST_DAY.length));
    else if (line !== "") days.set(line, day);
  }
  return days;
}

/** FNV-1a of 32 bits. @see http://www.isthe.com/chongo/tech/comp/fnv/ */
function hashOf(line: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < line.length; at += 1) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01_00_01_93);
  return hash >>> 0;
}
