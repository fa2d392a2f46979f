/** Letters that no decomposition of Unicode's takes apart, as people look them up. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ħ: "h", ı: "i", ŋ: "n", ς: "σ",
};

/** Far beyond any name, and short enough for PostgreSQL's indexes, which take 2,704 bytes. */
const MAX_CHARACTERS = 255;

/**
 * A spelling of a hostname by whose bytes names sort as people expect: case and accents do not count, and numbers sort by value, `ap2`
 * before `AP10`. Digits come before letters, and letters of other scripts after Latin ones. Names that differ in nothing else are equal.
 *
 * It is stored (`devices.hostname_key`), so that both databases agree: whoever changes this adds a migration that writes it anew.
 * @returns Empty for the empty name alone; at most 255 characters.
 * @see https://www.unicode.org/reports/tr15/ NFKD
 */
export function hostnameKey(hostname: string): string {
  const folded = hostname.normalize("NFKD").toLowerCase().normalize("NFKD").replaceAll(/\p{M}|\p{Cc}/gu, "")
    .replaceAll(/[ßæœøłđðþħıŋς]/g, (letter) => PLAIN[letter] ?? letter).replaceAll(/\d+/g, numberKey);
  const key = Array.from(folded).slice(0, MAX_CHARACTERS).join("");
  // A name of nothing but accents or control characters is a name.
  return key === "" && hostname !== "" ? "\u{FFFD}" : key;
}

/** Its length before it, so that the longer number is the greater: `2` is `02`, `10` is `110`, and from ten digits on `9` and three digits say it. */
function numberKey(digits: string): string {
  const number = digits.replace(/^0+(?=\d)/, "");
  return number.length < 10 ? `${number.length - 1}${number}` : `9${String(number.length).padStart(3, "0")}${number}`;
}
