/** Targets of requests as Suricata normalizes them: what stands behind other spellings, without what servers take away. @see RFC 3986 section 5.2.4 */
import { bestFitByte } from "./best-fit.ts";
import { hexValue, lowered } from "../bytes.ts";

/** A part is `null` where a target has none. */
interface Authority {
  readonly host: Uint8Array | null;
  /** Digits alone make one. */
  readonly port: Uint8Array | null;
}

/** Parts of a target as they were sent. */
interface TargetParts {
  readonly authority: Authority;
  readonly path: Uint8Array;
  /** With their `?` and `#`. */
  readonly query: Uint8Array;
  readonly fragment: Uint8Array;
}

/** A target for rules. */
export interface NormalizedUri {
  /** Path, query and fragment. */
  readonly uri: Uint8Array;
  /** Without query and fragment. */
  readonly path: Uint8Array;
  /** In lower case, of a target that names one; without what follows it. */
  readonly host: Uint8Array | null;
  /** `null` where there is no port, -1 where it is none. */
  readonly port: number | null;
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const COLON = 0x3a;
const DOT = 0x2e;
const QUESTION_MARK = 0x3f;
const NOTHING = new Uint8Array(0);

/** @param isAuthority The target of CONNECT: host and port alone. */
export function normalizeUri(target: Uint8Array, isAuthority: boolean): NormalizedUri {
  const { authority: { host, port }, path, query, fragment } = isAuthority ? { authority: splitAuthority(target), path: NOTHING, query: NOTHING, fragment: NOTHING } : splitTarget(target);
  const out = new Uint8Array(target.length);
  const pathLength = normalizePath(path, out);
  const queryEnd = decodePercent(query, out, pathLength);
  const end = decodePercent(fragment, out, queryEnd);
  return { uri: out.subarray(0, end), path: out.subarray(0, pathLength), host: host && normalizeHost(host), port: port && portOf(port) };
}

function splitTarget(target: Uint8Array): TargetParts {
  let at = 0;
  let authority = NO_AUTHORITY;
  if (target[0] !== SLASH) {
    // Whatever is before a colon is taken for a scheme, as in libhtp.
    const colon = target.indexOf(COLON);
    if (colon >= 0) at = colon + 1;
    if (colon >= 0 && target[at] === SLASH && target[at + 1] === SLASH) {
      const end = endOf(target, at + 2, true);
      if (end > at + 2) authority = splitAuthority(target.subarray(at + 2, end));
      at = end;
    }
  }
  const pathEnd = endOf(target, at, false);
  const fragmentAt = target[pathEnd] === 0x23 ? pathEnd : target.indexOf(0x23, pathEnd);
  const queryEnd = fragmentAt < 0 ? target.length : fragmentAt;
  return { authority, path: target.subarray(at, pathEnd), query: target.subarray(pathEnd, queryEnd), fragment: target.subarray(queryEnd) };
}

function endOf(target: Uint8Array, from: number, isHost: boolean): number {
  const last = isHost ? SLASH : QUESTION_MARK;
  let at = from;
  while (at < target.length && target[at] !== QUESTION_MARK && target[at] !== 0x23 && target[at] !== last) at += 1;
  return at;
}

const NO_AUTHORITY: Authority = { host: null, port: null };

function splitAuthority(authority: Uint8Array): Authority {
  const bytes = authority.subarray(authority.indexOf(0x40) + 1);
  const bracket = bytes[0] === 0x5b ? bytes.indexOf(0x5d) : -1;
  const colon = bytes.indexOf(COLON, bracket + 1);
  return colon < 0 ? { host: bytes, port: null } : { host: bytes.subarray(0, colon), port: bytes.subarray(colon + 1) };
}

/** @returns A port from 1 to 65535, or -1. */
export function portOf(digits: Uint8Array): number {
  let port = 0;
  for (const byte of digits) port = byte >= 0x30 && byte <= 0x39 && port <= 65_535 ? port * 10 + byte - 0x30 : 65_536;
  return port > 0 && port <= 65_535 ? port : -1;
}

function normalizeHost(host: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(host.length);
  let end = decodePercent(host, decoded, 0);
  while (end > 0 && decoded[end - 1] === DOT) end -= 1;
  return lowered(decoded.subarray(0, end));
}

/** Writes `bytes` without percent encoding to `out` from `at`. @returns Where it ends. */
function decodePercent(bytes: Uint8Array, out: Uint8Array, at: number): number {
  let to = at;
  for (let from = 0; from < bytes.length; from += 1) {
    const value = bytes[from] === PERCENT ? hexPair(bytes, from + 1) : -1;
    out[to] = value < 0 ? (bytes[from] as number) : value;
    if (value >= 0) from += 2;
    to += 1;
  }
  return to;
}

function hexPair(bytes: Uint8Array, at: number): number {
  const [high, low] = [hexValue(bytes[at]), hexValue(bytes[at + 1])];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** @returns How long the path is, which stands at the beginning of `out`. */
function normalizePath(path: Uint8Array, out: Uint8Array): number {
  const decoded = decodePath(path, out);
  return removeDotSegments(out, decodeUtf8(out, decoded));
}

/** Percent encoding of both kinds is taken away, backslashes become slashes, several slashes one. */
function decodePath(path: Uint8Array, out: Uint8Array): number {
  let to = 0;
  for (let from = 0; from < path.length; from += 1) {
    let byte = path[from] as number;
    if (byte === PERCENT) {
      const isWide = ((path[from + 1] ?? 0) | 0x20) === 0x75;
      const value = isWide ? widePair(path, from + 2) : hexPair(path, from + 1);
      if (value >= 0) {
        byte = isWide ? bestFitByte(value) : value;
        from += isWide ? 5 : 2;
      }
    }
    if (byte === BACKSLASH) byte = SLASH;
    if (byte === SLASH && to > 0 && out[to - 1] === SLASH) continue;
    out[to] = byte;
    to += 1;
  }
  return to;
}

function widePair(bytes: Uint8Array, at: number): number {
  const [high, low] = [hexPair(bytes, at), hexPair(bytes, at + 2)];
  return high < 0 || low < 0 ? -1 : high * 256 + low;
}

const NO_CHARACTER = -1;
const CUT_CHARACTER = -2;

/** Characters of UTF-8 become one byte each, in place; overlong ones are taken for what they stand for, bytes that begin none become `?`. */
function decodeUtf8(bytes: Uint8Array, length: number): number {
  let from = 0;
  while (from < length && (bytes[from] as number) < 0x80) from += 1;
  let to = from;
  while (from < length) {
    const first = bytes[from] as number;
    const count = first < 0x80 ? 0 : first >= 0xc0 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf8 ? 3 : -1;
    const value = count === 0 ? first : count < 0 ? NO_CHARACTER : readContinuation(bytes.subarray(from, Math.min(length, from + count + 1)), count);
    // A character that the end cuts off is left out.
    if (value === CUT_CHARACTER) break;
    bytes[to] = value < 0 ? QUESTION_MARK : bestFitByte(value);
    to += 1;
    from += value < 0 ? 1 : count + 1;
  }
  return to;
}

function readContinuation(bytes: Uint8Array, count: number): number {
  let value = (bytes[0] as number) & (0x3f >> count);
  for (let index = 1; index <= count; index += 1) {
    const byte = bytes[index];
    if (byte === undefined) return CUT_CHARACTER;
    if ((byte & 0xc0) !== 0x80) return NO_CHARACTER;
    value = value * 64 + (byte & 0x3f);
  }
  return value;
}

/** In place. A slash that is left over behind the last dot segment goes with it, as in libhtp. */
function removeDotSegments(bytes: Uint8Array, length: number): number {
  let from = 0;
  let to = 0;
  while (from < length) {
    const isSlash = bytes[from] === SLASH;
    const at = isSlash || to > 0 ? from + (isSlash ? 1 : 0) : from;
    const dots = isSlash || from === 0 || to === 0 ? countDots(bytes, at, length) : 0;
    if (dots > 0) {
      if (dots === 2 && isSlash) {
        while (to > 0 && bytes[to - 1] !== SLASH) to -= 1;
        to = Math.max(0, to - 1);
      }
      from = at + dots;
      if (!isSlash && bytes[from] === SLASH) from += 1;
      if (from === length - 1 && bytes[from] === SLASH) from = length;
      continue;
    }
    do {
      bytes[to] = bytes[from] as number;
      to += 1;
      from += 1;
    } while (from < length && bytes[from] !== SLASH);
  }
  return to;
}

/** @returns 1 or 2 where a segment consists of so many dots, else 0. */
function countDots(bytes: Uint8Array, at: number, length: number): number {
  if (at >= length || bytes[at] !== DOT) return 0;
  if (at + 1 === length || bytes[at + 1] === SLASH) return 1;
  return bytes[at + 1] === DOT && (at + 2 === length || bytes[at + 2] === SLASH) ? 2 : 0;
}
