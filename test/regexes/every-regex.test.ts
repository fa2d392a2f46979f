import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findRegexes } from "./find-regexes.ts";
import { findSlowText } from "./pump-time.ts";

const { regexes, unknown } = findRegexes(fileURLToPath(new URL("../..", import.meta.url)));

/** Patterns that were in the product and took a second or more for a stranger's text, and textbook ones. */
const SLOW: readonly RegExp[] = [
  /(?:UniFi|U6|UAP)-?\S*.{0,40}(?:AP|Access Point)/i,
  /^\s*(Debian|Ubuntu)(?: GNU\/Linux)? (\d[\w.]*)/m,
  /^Linux (\S+) (\d+\.\d+\.\d+\S*) .*\b(x86_64|i686|aarch64|armv\d\w*|mips\w*)\s*$/s,
  /(?:login|user ?name|password|user|>|#|\$)[: ]*\s*$/i,
  /(?:^|\r\n)0\r\n(?:.*\r\n)*\r\n$/,
  /^220 [^\n]*<[^>\n]*> *<[^>\n]+>\r?\n/,
  /(\d+\.\d+\.\d+(?:p\d+)?)/,
  /\/{(.+?)}/g,
  /\s+$/,
  /(a+)+$/,
  /^(?:a|aa)+$/,
  /^(?:\w+\s?)*$/,
  /x*y*z*x*!/,
  /^.*,.*,.*,.*;$/,
  /(?=.*b)a|c/g,
];

/** Patterns that look alike and are not slow. */
const FAST: readonly RegExp[] = [
  /(?:UniFi|U6|UAP).{0,80}(?:AP|Access Point)/i, /(?<!\s)\s+$/, /^\s+/, /^(?:[a-z]+,)*$/, /"[^"\n]{0,200}"/g, /^(\S+) (\d+\.\d+)/,
];

describe("pumping", () => {
  test.for(SLOW)("finds that %s takes more than its share of time", (regex) => {
    expect(findSlowText({ place: "", pattern: regex.source, flags: regex.flags })).not.toBeNull();
  });

  test.for(FAST)("finds nothing slow in %s", (regex) => {
    expect(findSlowText({ place: "", pattern: regex.source, flags: regex.flags })).toBeNull();
  });
});

describe("the product's regular expressions", () => {
  test("are found in tables of rules, in classes' methods, and where they are made of text", () => {
    const places = new Set(regexes.map(({ place }) => place.split(":")[0]));
    expect(regexes.length).toBeGreaterThan(600);
    expect(places).toContain("packages/fingerprints/src/rules/snmp.ts");
    expect(places).toContain("packages/fingerprints/src/evidence/ssdp.ts");
    expect(places).toContain("apps/probe/src/identify/protocols/telnet.ts");
    expect(places).toContain("apps/collector/src/services/config-versions/mask.ts");
  });

  test("take time in proportion to the text, whatever it is", () => {
    expect(regexes.flatMap((regex) => findSlowText(regex) ?? [])).toEqual([]);
  });

  test("are made of a value in three places: one weighs its patterns before it uses them, the others read our own documents and a table of texts", () => {
    expect(unknown.toSorted()).toEqual([
      "apps/collector/src/documents/examples.ts", "apps/collector/src/services/cve/database/rows/shorten.ts", "packages/linear-regex/src/to-javascript.ts",
    ]);
  });
});
