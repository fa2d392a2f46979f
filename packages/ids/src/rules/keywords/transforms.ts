/**
 * Transforms of the sticky buffer before them.
 * @see https://docs.suricata.io/en/latest/rules/transforms.html
 */

import { lookUp } from "../text/look-up.ts";
import { parseNumber } from "../text/numbers.ts";
import { readQuoted, splitWords } from "../text/options.ts";
import type { Transform } from "../transform.ts";
import type { Keyword } from "./keyword.ts";
import { flagsOf, readDelimited } from "./pcre.ts";

/** Those without a value. */
const PLAIN: Readonly<Record<string, Transform>> = {
  strip_whitespace: { kind: "strip-whitespace" }, compress_whitespace: { kind: "compress-whitespace" }, to_lowercase: { kind: "to-lowercase" }, to_uppercase: { kind: "to-uppercase" },
  to_md5: { kind: "to-md5" }, to_sha1: { kind: "to-sha1" }, to_sha256: { kind: "to-sha256" }, dotprefix: { kind: "dot-prefix" }, url_decode: { kind: "url-decode" },
  header_lowercase: { kind: "header-lowercase" }, strip_pseudo_headers: { kind: "strip-pseudo-headers" }, domain: { kind: "domain" }, tld: { kind: "top-level-domain" },
};

/** Suricata's own bound of what is unpacked, and what it unpacks where a rule does not say. */
const MAX_UNPACKED_BYTES = 1_048_576;
const DEFAULT_UNPACKED_BYTES = 1024;

function transform(make: (value: string) => Transform | string): Keyword {
  return (draft, value) => {
    if (!draft.sticky) return "no sticky buffer is before it";
    if (draft.sticky.group) return "something is asked of the buffer before it";
    const made = make(value);
    if (typeof made === "string") return made;
    draft.sticky.transforms.push(made);
    return null;
  };
}

function readXor(value: string): Transform | string {
  const text = readQuoted(value)?.text ?? "";
  return /^(?:[0-9a-f]{2}){1,256}$/i.test(text) ? { kind: "xor", key: new Uint8Array(Buffer.from(text, "hex")) } : `${value} is no key`;
}

function readPcre(value: string): Transform | string {
  const text = readQuoted(value)?.text ?? "";
  const parts = text.startsWith("/") ? readDelimited(text) : { source: text, letters: "", captures: [] };
  if (typeof parts === "string") return parts;
  return parts.source === "" || !/^[ismxAEG]*$/.test(parts.letters) ? `cannot read ${value}` : { kind: "pcre", source: parts.source, flags: flagsOf(parts.letters) };
}

const BASE64_MODES: Readonly<Record<string, "rfc4648" | "rfc2045" | "strict">> = { rfc4648: "rfc4648", rfc2045: "rfc2045", strict: "strict" };

function readBase64(value: string): Transform | string {
  const words = value === "" ? [] : splitWords(value);
  const parts = { bytes: 0, offset: 0, mode: "rfc4648" as "rfc4648" | "rfc2045" | "strict" };
  for (const word of words) {
    const [name = "", text = "", extra] = word.split(/\s+/);
    const number = parseNumber(text, 0xffff);
    const mode = lookUp(BASE64_MODES, text);
    if (extra !== undefined) return `cannot read ${word}`;
    if (name === "mode" && mode) parts.mode = mode;
    else if (name === "bytes" && number !== null) parts.bytes = number;
    else if (name === "offset" && number !== null) parts.offset = number;
    else return `cannot read ${word}`;
  }
  return { kind: "from-base64", ...parts };
}

function readUnpack(kind: "gunzip" | "zlib-deflate"): (value: string) => Transform | string {
  return (value) => {
    const size = value === "" ? DEFAULT_UNPACKED_BYTES : parseNumber(/^max-size\s+(\w{1,20})$/.exec(value)?.[1] ?? "", MAX_UNPACKED_BYTES);
    return size ? { kind, maxBytes: size } : `cannot read ${value}`;
  };
}

/** Transforms by name. */
export const TRANSFORM_KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries(Object.entries(PLAIN).map(([name, plain]) => [name, transform((value) => (value === "" ? plain : "it has no value"))])),
  xor: transform(readXor), pcrexform: transform(readPcre), from_base64: transform(readBase64), gunzip: transform(readUnpack("gunzip")), zlib_deflate: transform(readUnpack("zlib-deflate")),
};
