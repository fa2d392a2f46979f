/**
 * A set of names as one file: a header of eight little-endian numbers, the places, their tags, the records, and the rules as JSON. All is used
 * where it lies, so that a file is ready once it is read.
 */
import type { HashKey } from "./name-hash.ts";
import type { StoredRule, StoredRuleTable } from "./rule-table.ts";

/** Facts of a list that its rules share. */
export interface ListFacts {
  readonly id: string;
  readonly name: string;
  /** What its names are: `advertising`, `phishing`, `malware`, `command-and-control` and others. */
  readonly category: string;
  /** Rules of `filter` lists are weighed together; each `rpz` zone is asked in its turn. */
  readonly kind: "filter" | "rpz";
}

/** What the file says of its names. */
export interface NameSetFacts {
  readonly lists: readonly ListFacts[];
  /** Days since 1970 when it was built. */
  readonly builtDay: number;
  /** How many labels the names in it have. */
  readonly labelCounts: readonly number[];
  /** Prefix lengths of the networks in it, longest first. */
  readonly ipv4Lengths: readonly number[];
  readonly ipv6Lengths: readonly number[];
}

/** The parts of a file, as views of its bytes. */
export interface NameSetParts {
  readonly hashKey: HashKey;
  readonly names: number;
  readonly places: Uint32Array;
  readonly tags: Uint8Array;
  readonly records: Uint8Array;
  readonly facts: NameSetFacts;
  readonly sets: readonly (readonly StoredRule[])[];
}

/** `LNS1`, as a number of this machine's order: a file of another order does not begin with it. */
const MAGIC = 0x31534e4c;
const HEADER_NUMBERS = 8;
const HEADER_LENGTH = 4 * HEADER_NUMBERS;

/**
 * @param packed As `NameTable.pack` gives it.
 * @returns The file in pieces, to be written one behind the other; they are views of the table.
 */
export function encodeNameSet(
  packed: { readonly places: Uint32Array; readonly tags: Uint8Array; readonly pages: readonly Uint8Array[] },
  rest: { readonly hashKey: HashKey; readonly names: number; readonly facts: NameSetFacts; readonly rules: StoredRuleTable },
): readonly Uint8Array[] {
  const text = new TextEncoder().encode(JSON.stringify({ ...rest.facts, ...rest.rules }));
  const length = packed.pages.reduce((sum, page) => sum + page.length, 0);
  const header = Uint32Array.of(MAGIC, rest.hashKey[0], rest.hashKey[1], rest.names, packed.places.length, length, text.length, 0);
  return [bytesOf(header), bytesOf(packed.places), packed.tags, ...packed.pages, text];
}

function bytesOf(numbers: Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/**
 * @param file Whole. It must not change afterwards. Where it does not begin at a multiple of four bytes, it is copied.
 * @returns Why it cannot be used, where it cannot: it is cut, of another version, or from a machine of the other byte order.
 */
export function decodeNameSet(file: Uint8Array): NameSetParts | { readonly fault: string } {
  if (file.length < HEADER_LENGTH) return { fault: "the file is too short" };
  const bytes = file.byteOffset % 4 === 0 ? file : file.slice();
  const header = new Uint32Array(bytes.buffer, bytes.byteOffset, HEADER_NUMBERS);
  const [magic, low = 0, high = 0, names = 0, places = 0, records = 0, text = 0] = header;
  if (magic !== MAGIC) return { fault: "the file is no set of names of this version and byte order" };
  if (HEADER_LENGTH + 5 * places + records + text !== bytes.length || places === 0 || names >= places) return { fault: "the file is cut, or its header is wrong" };
  const at = { tags: HEADER_LENGTH + 4 * places, records: HEADER_LENGTH + 5 * places, text: HEADER_LENGTH + 5 * places + records };
  const rules = parseRules(bytes.subarray(at.text));
  if (rules === null) return { fault: "the file's rules cannot be read" };
  return {
    hashKey: [low, high], names, ...rules,
    places: new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_LENGTH, places),
    tags: bytes.subarray(at.tags, at.records), records: bytes.subarray(at.records, at.text),
  };
}

function parseRules(bytes: Uint8Array): Pick<NameSetParts, "facts" | "sets"> | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
  if (!isStored(value)) return null;
  const { bodies, rules, sets, ...facts } = value;
  const whole = rules.map(([list, trigger, scope, body]) => ({ list, trigger, scope, body: bodies[body] }));
  if (whole.some((rule) => rule.body === undefined || !facts.lists[rule.list])) return null;
  const stored = whole as readonly StoredRule[];
  const members = sets.map((set) => set.flatMap((rule) => stored[rule] ?? []));
  return { facts, sets: members };
}

/** The file is made by this package and delivered with a signature: what is checked here are the shapes that reading it depends on. */
function isStored(value: unknown): value is NameSetFacts & StoredRuleTable {
  if (typeof value !== "object" || value === null) return false;
  const { lists, builtDay, labelCounts, ipv4Lengths, ipv6Lengths, bodies, rules, sets } = value as Readonly<Record<string, unknown>>;
  return [lists, labelCounts, ipv4Lengths, ipv6Lengths, bodies, rules, sets].every(Array.isArray) && typeof builtDay === "number"
    && (lists as unknown[]).every(isListFacts) && (bodies as unknown[]).every(hasEffect)
    && [...(rules as unknown[]), ...(sets as unknown[])].every(Array.isArray);
}

function isListFacts(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, category, kind } = value as Readonly<Record<string, unknown>>;
  return [id, name, category].every((text) => typeof text === "string") && (kind === "filter" || kind === "rpz");
}

function hasEffect(value: unknown): boolean {
  return typeof value === "object" && value !== null && "effect" in value && "conditions" in value && typeof value.effect === "object" && value.effect !== null;
}
