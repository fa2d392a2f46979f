import { readFileSync } from "node:fs";
import { compareNames, compareValues, unbindName } from "@lanthorn/vulnerability/names";

/** A case of name matching: two names, and how the source relates to the target. */
interface NameCase {
  readonly source: string;
  readonly target: string;
  readonly expected: string | boolean;
}

/** Words and signs of NISTIR 7696 for a relation. */
const RELATIONS: Readonly<Record<string, string>> = {
  "equal": "equal", "=": "equal", "equals": "equal", "superset": "superset", "⊃": "superset", "subset": "subset", "⊂": "subset",
  "disjoint": "disjoint", "≠": "disjoint", "undefined": "undefined",
};

/**
 * Compares the names of a file of `[{"source","target","expected"}]`. Names are formatted strings or URIs; two texts that are no names are
 * compared as values of one attribute. `expected` is a relation, or `true` where the source must match the target: equal or a superset.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [file, ...others] = args;
  if (file === undefined || others.length > 0) throw new Error("cpe takes one argument: a file of cases, [{\"source\",\"target\",\"expected\"}]");
  const cases = readCases(file);
  let right = 0;
  for (const { source, target, expected } of cases) {
    const found = relationOf(source, target);
    if (isAsExpected(found, expected)) right += 1;
    else console.error(`wrong: ${source} | ${target}: expected ${String(expected)}, found ${found}`);
  }
  console.log(JSON.stringify({ bench: "cpe", cases: cases.length, right }));
}

function relationOf(source: string, target: string): string {
  const [one, other] = [unbindName(source), unbindName(target)];
  if (one !== null && other !== null) return compareNames(one, other);
  if (/^cpe:/i.test(source) || /^cpe:/i.test(target)) return "malformed";
  const [a, b] = [valueOf(source), valueOf(target)];
  return a === null || b === null ? "malformed" : compareValues(a, b);
}

/** A value alone, as the version of a formatted string, or by the logical values' names. */
function valueOf(text: string): string | null {
  if (text === "ANY" || text === "NA") return text;
  return unbindName(`cpe:2.3:*:*:*:${text}:*:*:*:*:*:*:*`)?.version ?? null;
}

function isAsExpected(found: string, expected: string | boolean): boolean {
  const word = String(expected).trim().toLowerCase().replace(/^cpe[_ ]/, "");
  const isMatch = found === "equal" || found === "superset";
  if (word === "true" || word === "false") return found !== "malformed" && isMatch === (word === "true");
  return (RELATIONS[word] ?? word) === found;
}

function readCases(file: string): readonly NameCase[] {
  const cases: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(cases)) throw new Error(`${file} holds no list of cases`);
  return cases.map((value: unknown, index) => {
    if (!isCase(value)) throw new Error(`case ${index} of ${file} is no {"source","target","expected"}`);
    return value;
  });
}

function isCase(value: unknown): value is NameCase {
  if (typeof value !== "object" || value === null || !("source" in value) || !("target" in value) || !("expected" in value)) return false;
  return typeof value.source === "string" && typeof value.target === "string" && ["string", "boolean"].includes(typeof value.expected);
}
