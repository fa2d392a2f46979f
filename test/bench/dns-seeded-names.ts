/** Last parts of names and how often they are met, in hundredths, roughly as in published lists. */
const SUFFIXES: readonly (readonly [string, number])[] = [["com", 50], ["net", 12], ["xyz", 10], ["top", 8], ["org", 6], ["ru", 5], ["co.uk", 3], ["info", 3], ["com.br", 2], ["online", 1]];
const LETTERS = "eaironstlcdumphgbyfvkwjxzq0123456789";

/** Numbers from 0 up to 1, the same for the same seed. @see Marsaglia, Xorshift RNGs, 2003 */
export function createSeededRandom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Different names of two to four labels, 20 characters on average. */
export function createSeededNames(seed: number, count: number): readonly string[] {
  const random = createSeededRandom(seed);
  const word = (length: number) => Array.from({ length }, () => LETTERS[Math.floor(random() ** 2 * LETTERS.length)]).join("");
  const names = new Set<string>();
  while (names.size < count) {
    let rest = random() * 100;
    const [suffix] = SUFFIXES.find(([, share]) => (rest -= share) < 0) ?? ["com"];
    const host = random() < 0.45 ? `${word(2 + Math.floor(random() * 8))}.` : "";
    names.add(`${host}${word(7 + Math.floor(random() * 12))}.${suffix}`);
  }
  return [...names];
}
