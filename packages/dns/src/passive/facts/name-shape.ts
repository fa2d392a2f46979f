/** What is looked at of a name. */
import { registrableDomain } from "../../names/registrable-domain.ts";

/** Whose a name is, and what it says below that. */
export interface NameShape {
  /** In lower case. */
  readonly name: string;
  readonly domain: string;
  readonly publicSuffix: string | null;
  readonly isPrivateSuffix: boolean;
}

/** Names of the link and of addresses: nobody registered them. RFC 6762 section 3, RFC 3172. */
const NOBODYS: ReadonlySet<string> = new Set(["local", "arpa"]);

/** @returns Null for a single label, a public suffix, the root, and names of the link or of addresses. */
export function shapeOf(text: string): NameShape | null {
  const name = text.toLowerCase();
  const lastDot = name.lastIndexOf(".");
  if (lastDot <= 0 || NOBODYS.has(name.slice(lastDot + 1))) return null;
  const found = registrableDomain(name);
  if (found !== null) return { name, domain: found.domain, publicSuffix: found.suffix, isPrivateSuffix: found.isPrivate };
  // No domain is registered under a name without a public suffix: the last two labels stand for one, as of a site's own names and of labs.
  const dot = name.lastIndexOf(".", lastDot - 1);
  return isPublicSuffix(name) ? null : { name, domain: name.slice(dot + 1), publicSuffix: null, isPrivateSuffix: false };
}

/** A suffix has a registrable domain as soon as a label stands before it. */
function isPublicSuffix(name: string): boolean {
  return registrableDomain(`a.${name}`) !== null;
}

/** @returns The labels before the domain, with their dots; "" where there are none. */
export function belowDomain(name: string, domain: string): string {
  return name.length > domain.length ? name.slice(0, name.length - domain.length - 1) : "";
}

const REVERSED_LABELS = 4;

/** Whether it begins with an address as reverse names and lists of addresses have it: four numbers, or single hexadecimal digits. */
export function isReversedAddress(below: string): boolean {
  let from = 0;
  for (let label = 0; label < REVERSED_LABELS; label += 1) {
    let at = from;
    while (isDigit(below.charCodeAt(at))) at += 1;
    const isHexDigit = at === from && isHexLetter(below.charCodeAt(at)) && below.charCodeAt(at + 1) === DOT;
    if (isHexDigit) at += 1;
    const length = at - from;
    const isEnd = at >= below.length;
    if (length < 1 || length > 3 || (!isEnd && below.charCodeAt(at) !== DOT)) return false;
    if (isEnd) return label === REVERSED_LABELS - 1;
    from = at + 1;
  }
  return true;
}

const DOT = 0x2e;
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
const isHexLetter = (code: number) => code >= 0x61 && code <= 0x66;
