/**
 * Domain names. As text they have no dot at the end, but `.` is the root; the letter case is the sender's. Every byte but the
 * printable ones of ASCII stands as `\DDD`, and `\.` and `\\` are a dot and a backslash within a label, so that any name has
 * one text and every text one name.
 * @see RFC 1035 sections 3.1, 4.1.4 and 5.1, RFC 4343 section 2.1
 */
import { badValue, type Malformed } from "../decoded.ts";
import { PacketsError } from "../errors.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import type { Writer } from "../writer.ts";

/** With the byte of the root. RFC 1035 section 2.3.4. */
const MAX_NAME_LENGTH = 255;
const MAX_LABEL_LENGTH = 63;
/** No name points into the header. */
const FIRST_NAME_AT = 12;
/** Pointers have 14 bits. */
const POINTER_LIMIT = 0x4000;
/** A name has at most 127 labels, each behind a pointer of its own. Pointers to pointers beyond that only cost time. */
const MAX_POINTERS = 127;

const ROOT = ".";
const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** How each byte of a label is written. */
const ESCAPED = Array.from({ length: 256 }, (_, byte) => {
  if (byte === DOT || byte === BACKSLASH) return `\\${String.fromCharCode(byte)}`;
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, "0")}`;
});

/**
 * Reads a name and moves `reader` behind it. Pointers may only lead back, before the labels that they end, so that a name
 * always ends.
 * @param reader Over the message: pointers count from its first byte.
 */
export type DnsNameReader = (reader: Reader) => string | Malformed;

/** What a pointer leads to. */
interface Ending {
  readonly text: string;
  /** Bytes of its labels. */
  readonly length: number;
  readonly pointers: number;
  /** Behind the last byte that was read for it. */
  readonly reach: number;
}

/** A pointer on the way, and what of the name was there before it. */
interface Passed {
  readonly target: number;
  readonly written: number;
  readonly length: number;
  readonly pointers: number;
}

/**
 * For one message. What a pointer leads to is read once: a record of fourteen bytes can name the longest name twice, and a message has thousands
 * of records.
 */
export function createDnsNameReader(): DnsNameReader {
  const endings = new Map<number, Ending>();
  return (reader) => readName(reader, endings);
}

function readName(reader: Reader, endings: Map<number, Ending>): string | Malformed {
  const walk = new Reader(reader.bytes, reader.offset, reader.end);
  let behind = -1;
  let labelsBegin = walk.offset;
  let length = 1;
  let pointers = 0;
  let written = 0;
  let reach = 0;
  let passed: Passed[] | null = null;
  let ending: Ending | null = null;
  while (ending === null) {
    const at = walk.offset;
    const first = walk.u8();
    if (walk.failed) return walk.malformed("dns");
    reach = Math.max(reach, walk.offset);
    if (first === 0) break;
    if (first >= 0xc0) {
      const target = ((first & 0x3f) << 8) | walk.u8();
      if (walk.failed) return walk.malformed("dns");
      if (behind < 0) behind = walk.offset;
      pointers += 1;
      if (target < FIRST_NAME_AT || target >= labelsBegin || pointers > MAX_POINTERS) return badValue("dns", at);
      const known = endings.get(target);
      if (known && length + known.length <= MAX_NAME_LENGTH && pointers + known.pointers <= MAX_POINTERS && known.reach <= walk.end) ending = known;
      else (passed ??= []).push({ target, written, length, pointers });
      reach = Math.max(reach, walk.offset);
      walk.seek(target);
      labelsBegin = target;
      continue;
    }
    length += first + 1;
    if (first > MAX_LABEL_LENGTH || length > MAX_NAME_LENGTH) return badValue("dns", at);
    walk.skip(first);
    if (walk.failed) return walk.malformed("dns");
    reach = Math.max(reach, walk.offset);
    written = putLabel(walk.bytes, walk.offset - first, walk.offset, written);
  }
  reader.seek(behind < 0 ? walk.offset : behind);
  const own = textOf(written);
  const text = ending === null || ending.text === "" ? own : own === "" ? ending.text : `${own}.${ending.text}`;
  const whole = { length: length + (ending?.length ?? 0), pointers: pointers + (ending?.pointers ?? 0), reach: Math.max(reach, ending?.reach ?? 0) };
  for (const one of passed ?? []) {
    endings.set(one.target, {
      text: text.slice(one.written === 0 ? 0 : one.written + 1), length: whole.length - one.length, pointers: whole.pointers - one.pointers, reach: whole.reach,
    });
  }
  return text === "" ? ROOT : text;
}

/** A name without pointers that may end without the root: RFC 4702 section 2.3.1. @returns Its text, empty without labels, or null. */
export function decodePartialName(bytes: Uint8Array): string | null {
  const reader = new Reader(bytes);
  const labels: string[] = [];
  while (reader.remaining > 0) {
    const length = reader.u8();
    if (length === 0) break;
    labels.push(escapeLabel(reader.take(length)));
    if (reader.failed || length > MAX_LABEL_LENGTH) return null;
  }
  return bytes.length > MAX_NAME_LENGTH ? null : labels.join(".");
}

/** Character codes of the name that is being read: it is made a text in one piece. At most 255 bytes, of which each may become four. */
const codes = Array.from({ length: 1024 }, () => 0);

/** Appends a label behind `at` codes, and a dot before it if there are any. @returns How many codes there are now. */
function putLabel(bytes: Uint8Array, start: number, end: number, at: number): number {
  let to = at;
  if (to > 0) codes[to++] = DOT;
  for (let from = start; from < end; from += 1) {
    const byte = bytes[from] as number;
    if (byte > 0x20 && byte < 0x7f && byte !== DOT && byte !== BACKSLASH) codes[to++] = byte;
    else for (const character of ESCAPED[byte] as string) codes[to++] = character.charCodeAt(0);
  }
  return to;
}

function textOf(length: number): string {
  return String.fromCharCode(...codes.slice(0, length));
}

function escapeLabel(label: Uint8Array): string {
  let text = "";
  for (const byte of label) text += ESCAPED[byte] as string;
  return text;
}

/**
 * Splits a name at its dots and undoes the escapes.
 * @param name Characters beyond ASCII count as their UTF-8 bytes; one dot may stand at the end.
 * @returns Labels of 1 to 63 bytes; none for the root.
 * @throws PacketsError for an empty label, a broken escape, or more bytes than a name may have.
 */
function parseLabels(name: string): readonly Uint8Array[] {
  if (name === ROOT) return [];
  const bytes = encodeUtf8(name);
  const labels: number[][] = [[]];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === DOT) {
      if (at < bytes.length - 1) labels.push([]);
    } else if (byte === BACKSLASH) {
      const [escape, value] = parseEscape(name, bytes, at + 1);
      labels.at(-1)?.push(value);
      at += escape;
    } else labels.at(-1)?.push(byte);
  }
  for (const label of labels) requireRange(`length of a label in "${name}"`, label.length, 1, MAX_LABEL_LENGTH);
  requireRange(`length of "${name}"`, labels.reduce((length, label) => length + label.length + 1, 1), 1, MAX_NAME_LENGTH);
  return labels.map((label) => Uint8Array.from(label));
}

/** @returns How many bytes follow the backslash, and the byte that they stand for. */
function parseEscape(name: string, bytes: Uint8Array, at: number): readonly [length: number, value: number] {
  const digits = decodeUtf8(bytes.subarray(at, at + 3));
  if (/^\d{3}$/.test(digits) && Number(digits) <= 255) return [3, Number(digits)];
  const value = bytes[at];
  if (value === undefined || /^\d/.test(digits)) {
    throw new PacketsError(`a backslash in "${name}" must stand before three digits up to 255 or another character`);
  }
  return [1, value];
}

/** The labels of a name as text, without escapes: an mDNS instance is the first, spaces and dots in it included. */
export function splitDnsName(name: string): readonly string[] {
  return parseLabels(name).map(decodeUtf8);
}

/** Writes names, each ending that was written before as a pointer. */
export interface DnsNameWriter {
  /**
   * @param mayCompress False for the names in records that RFC 3597 section 4 bars from it.
   * @throws PacketsError for a text that is no name.
   */
  write(name: string, mayCompress: boolean): void;
}

/** @param writer Holds the message from its first byte. */
export function createDnsNameWriter(writer: Writer): DnsNameWriter {
  const offsets = new Map<string, number>();
  return {
    write(name, mayCompress) {
      const labels = parseLabels(name);
      for (const [index, label] of labels.entries()) {
        const ending = labels.slice(index).map(escapeLabel).join(".");
        const before = offsets.get(ending);
        if (mayCompress && before !== undefined) {
          writer.u16(0xc000 | before);
          return;
        }
        if (before === undefined && writer.length < POINTER_LIMIT) offsets.set(ending, writer.length);
        writer.u8(label.length).put(label);
      }
      writer.u8(0);
    },
  };
}
