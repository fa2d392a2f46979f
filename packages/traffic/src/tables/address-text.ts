/** Texts of addresses, remembered: a host is named in very many records, and a text that is there already is no garbage. */

/** Of each kind; one that falls on the place of another takes it. */
const SLOTS = 4096;
const SHIFT = 20;
/** Spreads addresses that follow each other. @see Knuth, The Art of Computer Programming, volume 3, section 6.4 */
const GOLDEN = 0x9e37_79b1;

const ipv4Words = new Int32Array(SLOTS);
const ipv4Texts: string[] = Array.from({ length: SLOTS }, () => "");
const macHighs = new Int32Array(SLOTS);
const macLows = new Int32Array(SLOTS);
const macTexts: string[] = Array.from({ length: SLOTS }, () => "");

/** @param word The four bytes of the address as one number. @returns Dotted decimal. */
export function ipv4Text(word: number): string {
  const slot = Math.imul(word, GOLDEN) >>> SHIFT;
  const known = ipv4Texts[slot] as string;
  if (known !== "" && ipv4Words[slot] === (word | 0)) return known;
  const text = `${word >>> 24}.${(word >>> 16) & 0xff}.${(word >>> 8) & 0xff}.${word & 0xff}`;
  ipv4Words[slot] = word;
  ipv4Texts[slot] = text;
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** @param high The first three bytes as one number. @param low The last three. @returns Hexadecimal pairs with colons. */
export function macText(high: number, low: number): string {
  const slot = Math.imul(high ^ Math.imul(low, GOLDEN), GOLDEN) >>> SHIFT;
  const known = macTexts[slot] as string;
  if (known !== "" && macHighs[slot] === high && macLows[slot] === low) return known;
  const text = `${HEX[high >>> 16]}:${HEX[(high >>> 8) & 0xff]}:${HEX[high & 0xff]}:${HEX[low >>> 16]}:${HEX[(low >>> 8) & 0xff]}:${HEX[low & 0xff]}`;
  macHighs[slot] = high;
  macLows[slot] = low;
  macTexts[slot] = text;
  return text;
}
