// The Recog fingerprint format: one XML file for each kind of answer, with fingerprints in the order in which they are tried.
import { XMLParser } from "fast-xml-parser";
import type { RegexOptions } from "@lanthorn/linear-regex";

/** What a fingerprint says about who matches it: a text, where `{other}` stands for another one's value, or a group of the match. */
export interface RecogParameter {
  readonly name: string;
  /** 0 for `value`, else the number of the group. */
  readonly position: number;
  readonly value: string;
}

interface RecogExample {
  /** Null when it is kept in a file beside the database, and that is not there. */
  readonly text: string | null;
  /** What the fingerprint must say of it, by the parameter's name. */
  readonly expected: Readonly<Record<string, string>>;
}

/** One `fingerprint` element. Its pattern is text as in the file and is not compiled yet. */
export interface RecogFingerprint {
  readonly pattern: string;
  readonly options: Partial<RegexOptions>;
  readonly description: string;
  readonly parameters: readonly RecogParameter[];
  readonly examples: readonly RecogExample[];
  /** 0–1; null where the file does not say. */
  readonly certainty: number | null;
}

/** One file. */
export interface RecogFile {
  /** What its patterns are for, as `ssh.banner`; the file's name where it does not say. */
  readonly matches: string;
  readonly protocol: string;
  /** 0–1: which file to believe when several say something. */
  readonly preference: number;
  readonly fingerprints: readonly RecogFingerprint[];
}

type ReadRecogFile = { readonly ok: true; readonly file: RecogFile } | { readonly ok: false; readonly reason: string };

/** Recog's largest file has 500,000 characters and 580 fingerprints, its longest pattern 275: four times that, and more for patterns. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_FINGERPRINTS = 2500;
const MAX_PATTERN_CHARACTERS = 2048;

/** Ruby has one option for all of them: its MULTILINE lets the dot take line feeds; `^` and `$` know lines anyway. */
const FLAGS: Readonly<Record<string, Partial<RegexOptions>>> = {
  REG_ICASE: { ignoreCase: true },
  IGNORECASE: { ignoreCase: true },
  REG_DOT_NEWLINE: { dotAll: true },
  REG_MULTILINE: { dotAll: true },
  REG_LINE_ANY_CRLF: { dotAll: true },
};

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  cdataPropName: "#cdata",
  processEntities: { enabled: true, maxTotalExpansions: 1_000_000, maxExpandedLength: MAX_FILE_BYTES },
  htmlEntities: true,
});

/**
 * @param text The file.
 * @param options.name The file's name, without `.xml`.
 * @param options.readExample Reads a file that an example names; null where there is none.
 * @returns The file, or why it is none. Entities of its own are refused.
 */
export function readRecogFile(
  text: string,
  options: { readonly name: string; readonly readExample: (fileName: string) => Uint8Array | null },
): ReadRecogFile {
  if (text.length > MAX_FILE_BYTES) return { ok: false, reason: "it is larger than 2 MiB" };
  if (text.includes("<!DOCTYPE")) return { ok: false, reason: "it declares a document type" };
  let nodes: readonly XmlNode[];
  try {
    nodes = toNodes(parser.parse(text));
  } catch (error) {
    return { ok: false, reason: `it is no XML: ${error instanceof Error ? error.message : String(error)}` };
  }
  const root = nodes.find((node) => node.name === "fingerprints");
  if (!root) return { ok: false, reason: "it has no <fingerprints>" };
  const { matches = options.name, protocol = "", preference = "" } = root.attributes;
  const fingerprints: RecogFingerprint[] = [];
  for (const node of root.children.filter((child) => child.name === "fingerprint")) {
    if (fingerprints.length === MAX_FINGERPRINTS) return { ok: false, reason: `it has more than ${MAX_FINGERPRINTS} fingerprints` };
    const fingerprint = readFingerprint(node, options.readExample);
    if (typeof fingerprint === "string") return { ok: false, reason: `fingerprint ${fingerprints.length + 1}: ${fingerprint}` };
    fingerprints.push(fingerprint);
  }
  return { ok: true, file: { matches, protocol, preference: toShare(preference) ?? 0.5, fingerprints } };
}

function readFingerprint(node: XmlNode, readExample: (fileName: string) => Uint8Array | null): RecogFingerprint | string {
  const { pattern, flags = "", certainty = "" } = node.attributes;
  if (pattern === undefined) return "it has no pattern";
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `its pattern is longer than ${MAX_PATTERN_CHARACTERS} characters`;
  let options: Partial<RegexOptions> = {};
  for (const flag of flags.split(",").map((text) => text.trim()).filter((text) => text !== "")) {
    const known = Object.hasOwn(FLAGS, flag) ? FLAGS[flag] : undefined;
    if (!known) return `its flag ${flag} is unknown`;
    options = { ...options, ...known };
  }
  const parameters: RecogParameter[] = [];
  for (const { attributes } of node.children.filter((child) => child.name === "param")) {
    const { name = "", pos = "", value = "" } = attributes;
    if (!/^\d{1,3}$/.test(pos) || name === "") return "one of its parameters has no position or no name";
    parameters.push({ name, position: Number(pos), value });
  }
  const description = node.children.find((child) => child.name === "description")?.text ?? "";
  const examples = node.children.filter((child) => child.name === "example").map((child) => toExample(child, readExample));
  return { pattern, options, description, parameters, examples, certainty: toShare(certainty) };
}

function toExample(node: XmlNode, readExample: (fileName: string) => Uint8Array | null): RecogExample {
  const { _encoding: encoding, _filename: fileName, ...expected } = node.attributes;
  if (fileName !== undefined) {
    const bytes = readExample(fileName);
    return { text: bytes && decodeText(bytes), expected };
  }
  return { text: encoding === "base64" ? decodeText(Buffer.from(node.text, "base64")) : node.text, expected };
}

/** As UTF-8 where it is valid, else a character for each byte. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("latin1");
  }
}

function toShare(text: string): number | null {
  const share = text === "" ? Number.NaN : Number(text);
  return share >= 0 && share <= 1 ? share : null;
}

interface XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
  readonly text: string;
}

/** The parser's way to keep the order: a list of objects with one key for the element, and `:@` for its attributes. */
function toNodes(parsed: unknown): readonly XmlNode[] {
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((entry: unknown): XmlNode[] => {
    if (typeof entry !== "object" || entry === null) return [];
    const record = entry as Readonly<Record<string, unknown>>;
    const name = Object.keys(record).find((key) => key !== ":@");
    if (name === undefined || name === "#text") return [];
    const children = record[name];
    return [{ name, attributes: toAttributes(record[":@"]), children: toNodes(children), text: textOf(children) }];
  });
}

function toAttributes(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

function textOf(children: unknown): string {
  if (!Array.isArray(children)) return typeof children === "string" ? children : "";
  return children.map((child: unknown) => {
    const { "#text": text, "#cdata": cdata } = child as { readonly "#text"?: unknown; readonly "#cdata"?: unknown };
    return typeof text === "string" ? text : textOf(cdata);
  }).join("");
}
