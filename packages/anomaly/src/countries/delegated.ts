/**
 * What a regional registry has given to whom, as AFRINIC, APNIC, ARIN, LACNIC and RIPE NCC publish it each day.
 * @see https://www.apnic.net/about-apnic/corporate-documents/documents/resource-guidelines/rir-statistics-exchange-format/ version 2.3, and its extension
 */
import { type CountryRange, IPV6_BITS } from "./range.ts";

/** What a whole file has. */
export interface DelegatedSummary {
  /** As `ripencc`. */
  readonly registry: string;
  /** The day it is of, as `20261127`. */
  readonly day: string;
  /** Records of addresses that it says to have, and that it has. */
  readonly announced: number;
  readonly records: number;
  /** Records that are not as the format says. */
  readonly malformed: number;
}

/** Reads one file, a piece of text after the other. */
export interface DelegatedReader {
  /** @returns The ranges whose lines have ended with it. */
  readonly push: (text: string) => readonly CountryRange[];
  /** The rest. @returns In words why the file is not to be used, or what it has. */
  readonly end: () => { readonly problem: string } | { readonly summary: DelegatedSummary; readonly ranges: readonly CountryRange[] };
}

/** Those of the registries have 120. */
const MAX_LINE = 1024;
/** Of a thousand records one may be wrong: a registry that means something else by its columns has none that is right. */
const MAX_MALFORMED_SHARE = 0.001;
const VERSION = /^2(?:\.\d{1,3})?$/;
const REGISTRY = /^[a-z]{3,16}$/;
const COUNTRY = /^[A-Z]{2}$/;
const DAY = /^\d{8}$/;
const MAX_NUMBER = 2 ** 32 - 1;
/** Only what was given to somebody is anywhere. */
const GIVEN: ReadonlySet<string> = new Set(["allocated", "assigned"]);

/** A reader of one file. */
export function createDelegatedReader(): DelegatedReader {
  let rest = "";
  let isTooLong = false;
  let header: { readonly registry: string; readonly day: string } | null = null;
  let [lines, announced, records, malformed] = [0, 0, 0, 0];

  function line(text: string): CountryRange | null {
    if (text === "" || text.startsWith("#")) return null;
    const fields = text.split("|");
    lines += 1;
    if (lines === 1) {
      const [version = "", registry = "", , , , day = ""] = fields;
      if (VERSION.test(version) && REGISTRY.test(registry) && DAY.test(day)) header = { registry, day };
      return null;
    }
    const [, , type = ""] = fields;
    if (type !== "ipv4" && type !== "ipv6") return null;
    if (fields[5] === "summary") {
      announced += Number.parseInt(fields[4] ?? "", 10) || 0;
      return null;
    }
    records += 1;
    const range = rangeOf(fields, type);
    if (range === null) malformed += 1;
    return range === "nobody" ? null : range;
  }

  function take(text: string): CountryRange[] {
    const parts = `${rest}${text}`.split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > MAX_LINE) isTooLong = true;
    // What has no line ends must not be kept.
    if (isTooLong) rest = "";
    return parts.flatMap((part) => {
      if (part.length > MAX_LINE) isTooLong = true;
      return line(part.trimEnd().slice(0, MAX_LINE)) ?? [];
    });
  }

  return {
    push: take,
    end() {
      const ranges = take("\n");
      if (header === null) return { problem: "it is no file of a regional registry: its first line has no version, registry and day" };
      if (isTooLong) return { problem: `${header.registry}: a line is longer than ${MAX_LINE} characters` };
      if (records === 0) return { problem: `${header.registry}: it has no addresses` };
      if (records !== announced) return { problem: `${header.registry}: it says to have ${announced} records of addresses, and has ${records}: it was cut` };
      if (malformed > records * MAX_MALFORMED_SHARE) return { problem: `${header.registry}: ${malformed} of its ${records} records are not as the format says` };
      return { summary: { ...header, announced, records, malformed }, ranges };
    },
  };
}

/** @returns Null for a record that is not as the format says; `nobody` for addresses that nobody was given, or nowhere. */
function rangeOf([, country = "", , start = "", value = "", , status = ""]: readonly string[], type: "ipv4" | "ipv6"): CountryRange | "nobody" | null {
  if (!GIVEN.has(status) || country === "" || country === "ZZ") return "nobody";
  const size = Number(value);
  if (!COUNTRY.test(country) || !Number.isInteger(size) || size < 1) return null;
  if (type === "ipv4") {
    const first = parseIpv4(start);
    return first === null || first + size - 1 > MAX_NUMBER ? null : { family: 4, first, last: first + size - 1, country };
  }
  const first = parseIpv6Start(start);
  if (first === null || size > 128) return null;
  // Less than what is compared belongs to nobody here.
  if (size > IPV6_BITS) return "nobody";
  const length = 2 ** (IPV6_BITS - size);
  return first % length === 0 ? { family: 6, first, last: first + length - 1, country } : null;
}

function parseIpv4(text: string): number | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return null;
  return parts.reduce((number, part) => number * 256 + Number(part), 0);
}

/** The first three groups of an address, of which registries write as many as differ from 0. */
function parseIpv6Start(text: string): number | null {
  if (!/^[0-9a-fA-F:]{2,39}$/.test(text)) return null;
  const [head = "", tail] = text.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) || (tail === undefined && groups.length !== 8)) return null;
  return [0, 1, 2].reduce((number, place) => number * 65_536 + Number.parseInt(groups[place] ?? "0", 16), 0);
}
