/**
 * What links and metrics repeat hundreds of thousands of times; each is kept as one control character, of which JSON text has none. The order is
 * part of the file's form: add at the end, and raise the schema's version when anything else changes. The longer ones come first.
 */
const REPEATED: readonly string[] = [
  "https://lists.fedoraproject.org/archives/list/package-announce%40lists.fedoraproject.org/message/",
  "https://exchange.xforce.ibmcloud.com/vulnerabilities/", "http://lists.opensuse.org/opensuse-security-announce/",
  "https://lists.debian.org/debian-lts-announce/", "https://www.debian.org/security/", "https://git.kernel.org/stable/c/",
  "https://access.redhat.com/errata/", "https://security.gentoo.org/glsa/", "http://www.securityfocus.com/", "http://secunia.com/advisories/",
  "http://www.vupen.com/english/advisories/", "https://github.com/", "https://www.", "http://www.", "https://", "http://",
  '"Third Party Advisory"', '"Vendor Advisory"', '"Patch"', '"Exploit"', '"VDB Entry"', '"Mailing List"', '"Broken Link"', '"Issue Tracking"',
  '"CVSS:3.1/AV:', '"CVSS:3.0/AV:', '"nvd@nist.gov"', "/PR:N/UI:", "/S:U/C:", ":N/I:N/A:", ":H/I:H/A:H",
];
const LETTERS = new Map(REPEATED.map((text, index) => [text, String.fromCodePoint(index + 1)]));
const TEXTS = new Map([...LETTERS].map(([text, letter]) => [letter, text]));
const ANY_TEXT = new RegExp(REPEATED.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|"), "g");
const LAST = String.fromCodePoint(REPEATED.length);
const ANY_LETTER = new RegExp(`[\u0001-${LAST}]`, "g");

/** @param json JSON text. @returns A shorter text for the database. */
export function shorten(json: string): string {
  return json.replace(ANY_TEXT, (text) => LETTERS.get(text) ?? text);
}

/** The other way. */
export function lengthen(text: string): string {
  return text.replace(ANY_LETTER, (letter) => TEXTS.get(letter) ?? letter);
}
