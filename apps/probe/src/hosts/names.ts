import { parseIp } from "@lanthorn/packets";
import { parseJson } from "@lanthorn/runtime";

/** Where a name comes from, the most believed first: what a host says of itself before what a server says of an address. */
export const NAME_SOURCES = ["dhcp", "mdns", "reverse-dns"] as const;
/** One of `NAME_SOURCES`. */
export type NameSource = (typeof NAME_SOURCES)[number];

interface HostName {
  /** As it was said, without a dot at the end. */
  readonly fullName: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
}

/** What each source calls a host. */
export type HostNames = { readonly [source in NameSource]?: HostName };

/** How much each source is to be trusted: a DHCP name is a claim, a PTR record may be years old. */
export const NAME_CONFIDENCE: Readonly<Record<NameSource, number>> = { dhcp: 0.9, mdns: 0.8, "reverse-dns": 0.6 };

/** What says nothing about one host. */
const EMPTY_NAMES = new Set(["localhost", "localhost.localdomain", "localhost6", "unknown", "(none)", "none", "null", "*"]);

/**
 * Ends of names that mean "here" and tell no two hosts apart: RFC 6762 (local), RFC 8375 (home.arpa), RFC 6761 (test), ICANN's
 * reserved internal, and what home routers and Active Directory guides made common. Public domains stay part of the name.
 */
const LOCAL_ENDS = new Set([
  "local",
  "home.arpa",
  "test",
  "internal",
  "lan",
  "home",
  "localdomain",
  "localnet",
  "intranet",
  "private",
  "corp",
  "fritz.box",
]);

/**
 * Checks a name from the network: hostile bytes must not reach a terminal, a page or a log.
 * @returns The name without dots and zeros at its end, or null for one that says nothing or holds control or invisible characters.
 */
export function cleanName(text: string): string | null {
  let name = cleaned.get(text);
  if (name === undefined) {
    name = clean(text);
    if (cleaned.size >= MAX_CLEANED) cleaned.clear();
    if (text.length <= MAX_KEPT) cleaned.set(text, name);
  }
  return name;
}

/** Hosts say their names again and again. */
const cleaned = new Map<string, string | null>();
const MAX_CLEANED = 1024;
const MAX_KEPT = 256;

function clean(text: string): string | null {
  const name = text.replace(/(?<![.\0\s])[.\0\s]+$/, "").replace(/^[.\s]+/, "");
  if (name === "" || name.length > 253 || /[\p{C}\p{Zl}\p{Zp}\ufffd<>"\\]/u.test(name)) return null;
  return EMPTY_NAMES.has(name.toLowerCase()) || parseIp(name) !== null ? null : name;
}

/** The name people use: `printer` for `printer.local`; the whole of a name in a public domain. */
export function shortName(fullName: string): string {
  const labels = fullName.split(".");
  for (let ends = 1; ends <= 2; ends += 1) if (LOCAL_ENDS.has(labels.slice(-ends).join(".").toLowerCase())) return labels[0] as string;
  return fullName;
}

/** The name of the most believed source, short; empty while there is none. */
export function chooseName(names: HostNames): string {
  const source = NAME_SOURCES.find((name) => names[name] !== undefined);
  return source ? shortName((names[source] as HostName).fullName) : "";
}

/** A source calls a host so. @returns Whether that is another name than before. */
export function setName(host: { names: HostNames }, source: NameSource, fullName: string, seenAt: number): boolean {
  const isAnother = host.names[source]?.fullName !== fullName;
  host.names = { ...host.names, [source]: { fullName, seenAt } };
  return isAnother;
}

/** @param text Names as JSON: what an older version wrote may hold less, and a damaged row anything. */
export function readNames(text: string): HostNames {
  const value =
    parseJson(text) as Record<string, { readonly fullName?: unknown; readonly seenAt?: unknown } | undefined> | null | undefined;
  const entries = NAME_SOURCES.flatMap((source) => {
    const found = value?.[source];
    const fullName = typeof found?.fullName === "string" ? cleanName(found.fullName) : null;
    return fullName !== null && typeof found?.seenAt === "number" ? [[source, { fullName, seenAt: found.seenAt }]] : [];
  });
  return Object.fromEntries(entries) as HostNames;
}
