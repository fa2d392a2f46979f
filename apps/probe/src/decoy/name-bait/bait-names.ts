/** Names that a person could have mistyped, and that no host has: mistyped words of common servers, with a number. */

/** With a letter more and two digits they have at most fifteen characters, as names of NetBIOS. @see RFC 1001 section 14 */
const WORDS = ["wpad", "fileserver", "fileshare", "homedrive", "backupsrv", "printserver", "intranet", "sharepoint", "exchange", "sqlserver", "database", "accounting", "appserver", "terminal", "archives", "profiles"] as const;
/** Names that were asked for lately are not asked for again. */
const MAX_KNOWN = 512;
const MAX_TRIES = 64;

/** @param random From 0 up to 1. @param taken In lower case: names that somebody has. @returns What makes the next name, in lower case: another one than the last 512. */
export function createBaitNames(random: () => number, taken: readonly string[]): () => string {
  const known = new Set<string>();
  const below = (count: number) => Math.min(count - 1, Math.floor(random() * count));
  const make = () => `${mistype(WORDS[below(WORDS.length)] ?? WORDS[0], below)}${10 + below(90)}`;
  return () => {
    let name = make();
    for (let left = MAX_TRIES; left > 0 && (known.has(name) || taken.includes(name)); left -= 1) name = make();
    known.add(name);
    const [oldest] = known;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    return name;
  };
}

/** Two letters change places, one is left out, or one comes twice: never the word itself. */
function mistype(word: string, below: (count: number) => number): string {
  const at = below(word.length - 1);
  const [before, letter = "", next = "", after] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)];
  const way = below(3);
  if (way === 0 && letter !== next) return `${before}${next}${letter}${after}`;
  return way === 1 ? `${before}${next}${after}` : `${before}${letter}${letter}${next}${after}`;
}
