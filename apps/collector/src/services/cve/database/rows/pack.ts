import type { CpeMatch, CvssMetric, Reference, Statement, StatementNode, VersionBound, VersionOrder } from "@lanthorn/vulnerability";
import { parseJson } from "@lanthorn/runtime";
import { lengthen, shorten } from "./shorten.ts";

/**
 * How the database writes what it does not search: compact JSON, without names and without what goes without saying. Matches of one product
 * that follow each other name it once, which halves the whole.
 */
type PackedMatch = string | readonly [rest: string, from: string, to: string, flags?: string];
type PackedNode = readonly [flags: string, ...groups: (string | readonly PackedMatch[])[]];
type PackedStatement = readonly [flags: string, ...nodes: PackedNode[]];
type PackedMetric = readonly [version: string, vector: string, score: number, severity: string, source: string, isPrimary?: 1];

const CPE_PREFIX = "cpe:2.3:";
const CPE_ATTRIBUTES = 11;
/** Part, vendor and product. */
const NAME_ATTRIBUTES = 3;
/** A colon that no backslash quotes. */
const SEPARATOR = /(?<!\\):/;
const ORDERS: Readonly<Record<VersionOrder, string>> = { general: "", debian: "d", rpm: "r", semver: "s", cisco: "c", junos: "j" };
const ORDER_OF = new Map(Object.entries(ORDERS).map(([order, letter]) => [letter, order as VersionOrder]));
const SEVERITIES: Readonly<Record<CvssMetric["severity"], string>> = { none: "n", low: "l", medium: "m", high: "h", critical: "c" };
const SEVERITY_OF = new Map(Object.entries(SEVERITIES).map(([severity, letter]) => [letter, severity as CvssMetric["severity"]]));

/** Statements as text; `""` for none. Names that are no CPE 2.3 formatted strings are kept as they are. */
export function packStatements(statements: readonly Statement[]): string {
  return statements.length === 0 ? "" : JSON.stringify(statements.map(packStatement));
}

/** The other way; what this program did not write is none. */
export function unpackStatements(text: string): readonly Statement[] {
  return unpackList<PackedStatement>(text).map(([flags, ...nodes]) => ({
    ...unpackFlags(flags), nodes: nodes.map(([nodeFlags, ...groups]) => ({ ...unpackFlags(nodeFlags), matches: unpackGroups(groups) })),
  }));
}

/** Metrics as text. */
export function packMetrics(metrics: readonly CvssMetric[]): string {
  return metrics.length === 0 ? "" : shorten(JSON.stringify(metrics.map((metric): PackedMetric => {
    const severity = SEVERITIES[metric.severity];
    const { version, vector, score, source } = metric;
    return metric.isPrimary ? [version, vector, score, severity, source, 1] : [version, vector, score, severity, source];
  })));
}

/** The other way. */
export function unpackMetrics(text: string): readonly CvssMetric[] {
  return unpackList<PackedMetric>(lengthen(text)).map(([version, vector, score, severity, source, isPrimary]) => ({
    version: version as CvssMetric["version"], vector, score, severity: SEVERITY_OF.get(severity) ?? "none", source,
    isPrimary: isPrimary === 1,
  }));
}

/** References as text: a page without tags is its URL alone. */
export function packReferences(references: readonly Reference[]): string {
  return references.length === 0 ? "" : shorten(JSON.stringify(references.map(({ url, tags }) => (tags.length === 0 ? url : [url, ...tags]))));
}

/** The other way. */
export function unpackReferences(text: string): readonly Reference[] {
  return unpackList<string | readonly [string, ...string[]]>(lengthen(text)).map((one) => {
    if (typeof one === "string") return { url: one, tags: [] };
    const [url, ...tags] = one;
    return { url, tags };
  });
}

/**
 * The names under which candidates are looked up: lower case, without the backslashes that CPE's quoting asks for, so that whoever looks
 * need not know how a feed has quoted.
 */
export function plainName(attribute: string): string {
  return attribute.replaceAll("\\", "").toLowerCase();
}

/** Vendor and product of a CPE 2.3 formatted string, as `plainName` writes them; null for what is none. */
export function productOf(criteria: string): { readonly vendor: string; readonly product: string } | null {
  if (!criteria.startsWith(CPE_PREFIX)) return null;
  const [, vendor = "", product = ""] = attributesOf(criteria);
  return vendor === "" || product === "" ? null : { vendor: plainName(vendor), product: plainName(product) };
}

function attributesOf(criteria: string): readonly string[] {
  const body = criteria.slice(CPE_PREFIX.length);
  return body.includes("\\") ? body.split(SEPARATOR) : body.split(":");
}

function packStatement({ operator, isNegated, nodes }: Statement): PackedStatement {
  return [packFlags(operator, isNegated), ...nodes.map(packNode)];
}

function packNode({ operator, isNegated, matches }: StatementNode): PackedNode {
  const groups: (string | PackedMatch[])[] = [];
  let [name, group]: [string | null, PackedMatch[]] = [null, []];
  for (const match of matches) {
    const [own, rest] = splitCriteria(match.criteria);
    if (own !== name) {
      [name, group] = [own, []];
      groups.push(own, group);
    }
    group.push(packMatch(match, rest));
  }
  return [packFlags(operator, isNegated), ...groups];
}

/** @returns Part, vendor and product; and all further attributes, without the last ones that are any. A name of another form is whole in front. */
function splitCriteria(criteria: string): readonly [name: string, rest: string] {
  const attributes = criteria.startsWith(CPE_PREFIX) ? attributesOf(criteria) : [];
  if (attributes.length !== CPE_ATTRIBUTES) return [`=${criteria}`, ""];
  let end = CPE_ATTRIBUTES;
  while (end > NAME_ATTRIBUTES && attributes[end - 1] === "*") end -= 1;
  return [attributes.slice(0, NAME_ATTRIBUTES).join(":"), attributes.slice(NAME_ATTRIBUTES, end).join(":")];
}

/** By how many further attributes there are: the last ones, which are any. */
const ENDINGS = Array.from({ length: CPE_ATTRIBUTES - NAME_ATTRIBUTES + 1 }, (_, count) => ":*".repeat(CPE_ATTRIBUTES - NAME_ATTRIBUTES - count));

function joinCriteria(name: string, rest: string): string {
  if (name.startsWith("=")) return name.slice(1);
  return rest === "" ? `${CPE_PREFIX}${name}${ENDINGS[0]}` : `${CPE_PREFIX}${name}:${rest}${ENDINGS[countAttributes(rest)] ?? ""}`;
}

function countAttributes(rest: string): number {
  if (rest.includes("\\")) return rest.split(SEPARATOR).length;
  let count = 1;
  for (let at = rest.indexOf(":"); at !== -1; at = rest.indexOf(":", at + 1)) count += 1;
  return count;
}

function packMatch({ isVulnerable, from, to, order }: CpeMatch, rest: string): PackedMatch {
  const flags = `${isVulnerable ? "" : "-"}${ORDERS[order]}`;
  if (flags !== "") return [rest, packBound(from), packBound(to), flags];
  return from || to ? [rest, packBound(from), packBound(to)] : rest;
}

function unpackGroups(groups: readonly (string | readonly PackedMatch[])[]): readonly CpeMatch[] {
  const matches: CpeMatch[] = [];
  let name = "";
  for (const group of groups) {
    if (typeof group === "string") {
      name = group;
    } else {
      for (const packed of group) matches.push(unpackMatch(name, packed));
    }
  }
  return matches;
}

function unpackMatch(name: string, packed: PackedMatch): CpeMatch {
  if (typeof packed === "string") return { isVulnerable: true, criteria: joinCriteria(name, packed), from: null, to: null, order: "general" };
  const [rest, from, to, flags = ""] = packed;
  const isVulnerable = !flags.startsWith("-");
  return {
    isVulnerable, criteria: joinCriteria(name, rest), from: unpackBound(from), to: unpackBound(to),
    order: ORDER_OF.get(isVulnerable ? flags : flags.slice(1)) ?? "general",
  };
}

function packBound(bound: VersionBound | null): string {
  return bound === null ? "" : `${bound.isIncluded ? "=" : "!"}${bound.version}`;
}

function unpackBound(text: string): VersionBound | null {
  return text === "" ? null : { version: text.slice(1), isIncluded: text.startsWith("=") };
}

function packFlags(operator: Statement["operator"], isNegated: boolean): string {
  return `${isNegated ? "!" : ""}${operator === "and" ? "&" : ""}`;
}

function unpackFlags(flags: string): Pick<Statement, "operator" | "isNegated"> {
  return { operator: flags.endsWith("&") ? "and" : "or", isNegated: flags.startsWith("!") };
}

/** The database is read by the program that wrote it, so its lists have the form that they were given here. */
function unpackList<T>(text: string): readonly T[] {
  if (text === "") return [];
  const list = parseJson(text);
  return Array.isArray(list) ? list as readonly T[] : [];
}
