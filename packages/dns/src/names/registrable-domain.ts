/** The part of a name that somebody registered. @see https://publicsuffix.org/list/ */
import { parse } from "tldts";

/** `isPrivate`: below a suffix of a private operator (`github.io`, `dyndns.org`), where each name belongs to somebody else. */
export interface RegistrableDomain {
  /** Lower case, without a dot at the end: `example.co.uk`. */
  readonly domain: string;
  /** `co.uk` */
  readonly suffix: string;
  readonly isPrivate: boolean;
}

/**
 * @param name As the decoder writes it, in any letter case.
 * @returns Null for a public suffix itself, for a name whose last label is no public suffix (`printer.lan`), and for an address.
 */
export function registrableDomain(name: string): RegistrableDomain | null {
  const { domain, publicSuffix, isIcann, isPrivate } = parse(name.toLowerCase(), { allowPrivateDomains: true, extractHostname: false, validateHostname: false, mixedInputs: false });
  if (!domain || !publicSuffix || !(isIcann || isPrivate)) return null;
  return { domain, suffix: publicSuffix, isPrivate: isPrivate === true };
}
