/** Text in packets, without the platform's own codecs: this package runs wherever there is JavaScript. */

const REPLACEMENT = 0xfffd;

/**
 * @returns The text, with U+FFFD for each ill-formed stretch, as `TextDecoder` would give it; a byte order mark is kept.
 * Control characters come through: escape them before they reach a terminal or a page.
 * @see RFC 3629; Unicode 3.9, "U+FFFD Substitution of Maximal Subparts"
 */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at] as number;
    at += 1;
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const more = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let point = first & (0x3f >> more);
    let missing = more;
    while (missing > 0 && at < bytes.length && mayFollow(bytes[at] as number, missing === more ? first : 0)) {
      point = (point << 6) | ((bytes[at] as number) & 0x3f);
      at += 1;
      missing -= 1;
    }
    text += String.fromCodePoint(more === 0 || missing > 0 ? REPLACEMENT : point);
  }
  return text;
}

/** @param first The sequence's first byte where `byte` would be its second; some bar overlong forms and surrogates there. */
function mayFollow(byte: number, first: number): boolean {
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return byte >= low && byte <= high;
}

/** @returns The bytes, with U+FFFD in place of each lone surrogate. @see RFC 3629 */
export function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const found = character.codePointAt(0) ?? REPLACEMENT;
    const point = found >= 0xd800 && found <= 0xdfff ? REPLACEMENT : found;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
    else if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
    else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
  }
  return Uint8Array.from(bytes);
}
