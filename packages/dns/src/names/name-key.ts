/**
 * Keys of rules. A name is its labels in lower case, each behind its length, without the root; the root is no bytes at all. A network is a
 * zero byte, the length of its prefix and its address; no label has no length, so that no name is a network.
 * @see RFC 1035 section 3.1, RFC 4343
 */
import { type AddressPrefix, createPrefix, formatPrefix } from "@lanthorn/packets";

/** Without the byte of the root. RFC 1035 section 2.3.4. */
export const MAX_KEY_LENGTH = 254;
/** Of one byte each, behind a byte of length. */
export const MAX_KEY_LABELS = 127;
const MAX_LABEL_LENGTH = 63;

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

/** A byte in lower case. RFC 4343 section 3: only ASCII's letters. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** Bytes of names in lists: letters, digits, hyphens, and the underscore of services. */
const IN_HOST_NAME = Uint8Array.from({ length: 128 }, (_, byte) => (/[\w-]/.test(String.fromCharCode(byte)) ? 1 : 0));

/**
 * Writes the key of a name as the decoder of DNS messages gives it, in any letter case and with its escapes.
 * @param target At least `MAX_KEY_LENGTH` bytes.
 * @returns How many bytes were written, or -1 for what is no name.
 */
export function writeTextKey(name: string, target: Uint8Array): number {
  if (name === "." || name === "") return 0;
  let labelAt = 0;
  let to = 1;
  for (let at = 0; at < name.length; at += 1) {
    let code = name.charCodeAt(at);
    if (code === DOT) {
      if (to - labelAt - 1 === 0 || to - labelAt - 1 > MAX_LABEL_LENGTH) return -1;
      if (at === name.length - 1) break;
      target[labelAt] = to - labelAt - 1;
      labelAt = to;
      to += 1;
      if (to > MAX_KEY_LENGTH) return -1;
      continue;
    }
    if (code === BACKSLASH) {
      const next = name.charCodeAt(at + 1);
      const isNumber = next >= ZERO && next <= NINE;
      code = isNumber ? (next - ZERO) * 100 + (name.charCodeAt(at + 2) - ZERO) * 10 + name.charCodeAt(at + 3) - ZERO : next;
      at += isNumber ? 3 : 1;
    }
    if (to >= MAX_KEY_LENGTH || !(code >= 0 && code <= 255)) return -1;
    target[to++] = LOWER[code] as number;
  }
  const last = to - labelAt - 1;
  if (last === 0 || last > MAX_LABEL_LENGTH) return -1;
  target[labelAt] = last;
  return to;
}

/**
 * Writes the key of a name in the wire's form: labels, with or without the root behind them, in any letter case. What follows the root is
 * ignored.
 * @returns As `writeTextKey` does.
 */
export function writeWireKey(wire: Uint8Array, target: Uint8Array): number {
  let at = 0;
  while (at < wire.length) {
    const length = wire[at] as number;
    if (length === 0) return at;
    const end = at + 1 + length;
    if (length > MAX_LABEL_LENGTH || end > wire.length || end > MAX_KEY_LENGTH) return -1;
    target[at] = length;
    for (let from = at + 1; from < end; from += 1) target[from] = LOWER[wire[from] as number] as number;
    at = end;
  }
  return at;
}

const scratch = new Uint8Array(MAX_KEY_LENGTH);

/**
 * The key of a name that somebody wrote in a list: letters, digits, hyphens and underscores, in any script; a dot may stand at the end.
 * @returns Null for what is no host's name, an IPv4 address among it.
 */
export function parseHostName(text: string): Uint8Array | null {
  if (text === "" || text === "." || text.length > 1000) return null;
  if (!isHostText(text)) {
    const ascii = toAscii(text);
    return ascii !== null && isHostText(ascii) ? parseHostName(ascii) : null;
  }
  const length = writeTextKey(text, scratch);
  return length <= 0 || isNumericKey(length) ? null : scratch.slice(0, length);
}

function isHostText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127 || (code !== DOT && IN_HOST_NAME[code] === 0)) return false;
  }
  return true;
}

/** A last label of digits alone: an address, or nothing that was ever delegated. @see RFC 1123 section 2.1 */
function isNumericKey(length: number): boolean {
  let at = 0;
  while (at + 1 + (scratch[at] as number) < length) at += 1 + (scratch[at] as number);
  for (at += 1; at < length; at += 1) if ((scratch[at] as number) < ZERO || (scratch[at] as number) > NINE) return false;
  return true;
}

/** A name with other letters in the form of DNS. @see UTS 46, as the URL standard's "domain to ASCII" uses it */
function toAscii(text: string): string | null {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 127 && code !== DOT && IN_HOST_NAME[code] === 0) return null;
  }
  const url = URL.canParse(`ws://${text}/`) ? new URL(`ws://${text}/`).hostname : null;
  return url === null || url.startsWith("[") ? null : url;
}

/** A name before it is one. */
const text = Buffer.alloc(MAX_KEY_LENGTH);

/** The name of a key, without a dot at the end; `.` is the root. Of a network: its address and length. */
export function formatKey(key: Uint8Array): string {
  if (key[0] === 0) return key.length === 6 || key.length === 18 ? formatPrefix({ bytes: key.subarray(2), length: key[1] as number }) : "";
  if (key.length === 0) return ".";
  if (key.length > MAX_KEY_LENGTH) return "";
  // Every length but the first becomes the dot between two labels.
  text.set(key);
  for (let at = 1 + (key[0] as number); at < key.length; at += 1 + (key[at] as number)) text[at] = DOT;
  return text.toString("latin1", 1, key.length);
}

/** How many labels the name of a key has. */
export function countLabels(key: Uint8Array): number {
  let labels = 0;
  for (let at = 0; at < key.length; at += 1 + (key[at] as number)) labels += 1;
  return labels;
}

/** The key of a network. */
export function prefixKey(prefix: AddressPrefix): Uint8Array {
  return Uint8Array.of(0, prefix.length, ...prefix.bytes);
}

/** The key of the network of `length` bits that an address of four or sixteen bytes lies in. */
export function addressKey(address: Uint8Array, length: number): Uint8Array {
  return prefixKey(createPrefix(address, length));
}
