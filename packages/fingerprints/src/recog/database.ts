import { type Compiled, compileRegex, type Groups } from "@lanthorn/linear-regex";
import { createLiteralIndex } from "./literal-index.ts";
import type { RecogFile, RecogFingerprint, RecogParameter } from "./read-database.ts";

/** What one answer was found to mean. */
export interface RecogMatch {
  readonly description: string;
  /** By name, as `service.product`, `os.cpe23`, `hw.vendor`; `service.protocol` is there whenever the file names one. */
  readonly parameters: Readonly<Record<string, string>>;
  /** 0–1. */
  readonly certainty: number;
  /** Which fingerprint of the file it was, from 0. */
  readonly index: number;
}

/** One file, ready to be asked. `size` counts the fingerprints that can be used; `preference` is 0–1. */
export interface RecogDatabase {
  readonly matches: string;
  readonly preference: number;
  readonly size: number;
  /** Fingerprints whose pattern cannot be used, with the reason. */
  readonly refused: readonly { readonly index: number; readonly pattern: string; readonly reason: string }[];
  /**
   * Looks at 4096 characters, and takes two million steps at most, some 20 ms, whatever the patterns are.
   * @param onCutShort Called where that was too few: fingerprints were left out then, so that null, or what they come after, is not sure.
   * @returns What the first fingerprint in the file's order says that matches; null where none does.
   */
  match(text: string, onCutShort?: () => void): RecogMatch | null;
}

/** Banners are cut at a tenth of this; system descriptions have at most 255. */
const MAX_TEXT = 4096;

/** For one text, all patterns together. Recog's own files take 1.2 million at most for 4096 characters of their examples. */
const MAX_STEPS_OF_LOOK_UP = 2_000_000;

/** Of all patterns of a file written out, some 100 bytes each. Recog's largest, `smtp_banners`, has 133,000. */
const MAX_STEPS_OF_FILE = 500_000;

/** What a fingerprint is worth that does not say: Recog's own default. */
const DEFAULT_CERTAINTY = 0.85;

const PLACEHOLDER = /\{([^\s{}]+)\}/g;

/** Makes a file ready to be asked. Matching keeps nothing and is safe against texts made to be slow. */
export function createRecogDatabase(file: RecogFile): RecogDatabase {
  let left = MAX_STEPS_OF_FILE;
  const compiled = file.fingerprints.map((fingerprint): Compiled => {
    const made = compileRegex(fingerprint.pattern, fingerprint.options);
    if (made.ok) left -= made.regex.size;
    return made.ok && left < 0 ? { ok: false, reason: "the patterns of its file are too large together" } : made;
  });
  const refused = compiled.flatMap((one, index) =>
    (one.ok ? [] : [{ index, pattern: file.fingerprints[index]?.pattern ?? "", reason: one.reason }]));
  const usable = compiled.flatMap((one, index) => {
    const fingerprint = file.fingerprints[index];
    return one.ok && fingerprint ? [{ index, fingerprint, regex: one.regex }] : [];
  });
  const literals = createLiteralIndex(usable.map((one) => one.regex.literals()));
  return {
    matches: file.matches,
    preference: file.preference,
    size: usable.length,
    refused,
    match(text, onCutShort) {
      const cut = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
      const budget = { left: MAX_STEPS_OF_LOOK_UP };
      let found: RecogMatch | null = null;
      for (const candidate of literals.candidates(cut, budget)) {
        if (budget.left <= 0) break;
        const one = usable[candidate];
        const groups = one?.regex.exec(cut, budget)?.groups;
        if (!one || !groups) continue;
        found = toMatch(one.fingerprint, one.index, groups, file.protocol);
        break;
      }
      if (budget.left <= 0) onCutShort?.();
      return found;
    },
  };
}

function toMatch(fingerprint: RecogFingerprint, index: number, groups: Groups, protocol: string): RecogMatch {
  return {
    description: fingerprint.description.trim().replace(/\s+/g, " "),
    parameters: fillIn(fingerprint.parameters, groups, protocol),
    certainty: fingerprint.certainty ?? DEFAULT_CERTAINTY,
    index,
  };
}

/**
 * Gives each parameter its value, then puts values into others' placeholders. Where the value of a placeholder is not known, a CPE has `-`
 * in its place and any other parameter is left out. Names that begin with `_tmp.` serve others only.
 */
function fillIn(parameters: readonly RecogParameter[], groups: Groups, protocol: string): Readonly<Record<string, string>> {
  const values = new Map<string, string>(protocol === "" ? [] : [["service.protocol", protocol]]);
  for (const { name, position, value } of parameters) {
    const text = position === 0 ? value : groups[position];
    if (text !== undefined) values.set(name, text);
  }
  for (const { name, position, value } of parameters) {
    if (position !== 0 || !value.includes("{")) continue;
    const isCpe = name.endsWith(".cpe23");
    let complete = true;
    const filled = value.replace(PLACEHOLDER, (_, key: string) => {
      const found = values.get(key);
      complete &&= found !== undefined || isCpe;
      return found ?? "-";
    });
    if (complete) values.set(name, filled);
    else values.delete(name);
  }
  return Object.fromEntries([...values].filter(([name]) => !name.startsWith("_tmp.")));
}
