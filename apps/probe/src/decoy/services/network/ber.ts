/** As much of BER as a bind of LDAP needs. @see ITU-T X.690 8.1 */

/** One element. */
export interface BerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Octets of all of it. */
  readonly octets: number;
}

const LONG_FORM = 0x80;
const MAX_LENGTH_OCTETS = 4;

/** @returns Null where there are too few bytes; "bad" for an indefinite or absurd length. */
export function readBer(bytes: Buffer, at = 0): BerElement | "bad" | null {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return null;
  const more = first < LONG_FORM ? 0 : first - LONG_FORM;
  if (first === LONG_FORM || more > MAX_LENGTH_OCTETS) return "bad";
  if (bytes.length < at + 2 + more) return null;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  const begin = at + 2 + more;
  return { tag, content: bytes.subarray(begin, begin + length), octets: begin + length - at };
}

/** @returns The elements of a constructed one, at most sixteen; those that are whole. */
export function readBerParts(content: Buffer): readonly BerElement[] {
  const parts: BerElement[] = [];
  for (let at = 0; at < content.length && parts.length < 16;) {
    const part = readBer(content, at);
    if (part === null || part === "bad" || at + part.octets > content.length) break;
    parts.push(part);
    at += part.octets;
  }
  return parts;
}

/** @returns An element whose content is shorter than 64 KiB. */
export function writeBer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < LONG_FORM ? [content.length] : content.length < 256 ? [0x81, content.length] : [0x82, content.length >>> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
