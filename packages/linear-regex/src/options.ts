import { type CharacterSet, foldCase, PCRE_SHORTHAND_SETS, SHORTHAND_SETS } from "./character-set.ts";

/** How a pattern is read, and what it means. */
export interface RegexOptions {
  /** Ruby's (Onigmo) or PCRE's, as Suricata's rules have it: for bytes, where only ASCII letters have two cases. */
  readonly syntax: "ruby" | "pcre";
  /** `i`. */
  readonly ignoreCase: boolean;
  /** The dot takes line feeds: `s` in PCRE, `m` in Ruby. */
  readonly dotAll: boolean;
  /** Blanks and comments do not count: `x`. */
  readonly extended: boolean;
  /** PCRE's `m`: `^` and `$` match at each line, as they always do in Ruby. */
  readonly multiline: boolean;
  /** PCRE's `D`, Suricata's `E`: `$` matches at the very end only, not before a last line feed. */
  readonly dollarEndOnly: boolean;
  /** PCRE's `U`, Suricata's `G`: quantifiers take little, and much with a `?`. */
  readonly ungreedy: boolean;
}

/** A Ruby pattern without flags. */
export const PLAIN_OPTIONS: RegexOptions = {
  syntax: "ruby", ignoreCase: false, dotAll: false, extended: false, multiline: false, dollarEndOnly: false, ungreedy: false,
};

const LAST_ASCII = 0x7f;

/** A set with the other case of its letters, where case does not count. */
export function foldedFor(options: RegexOptions, set: CharacterSet): CharacterSet {
  if (!options.ignoreCase) return set;
  return options.syntax === "pcre" ? foldCase(set, LAST_ASCII) : foldCase(set);
}

/** What `\d`, `\W` and so on stand for, by their letter. */
export function shorthandsOf({ syntax }: RegexOptions): Readonly<Record<string, CharacterSet>> {
  return syntax === "pcre" ? PCRE_SHORTHAND_SETS : SHORTHAND_SETS;
}
