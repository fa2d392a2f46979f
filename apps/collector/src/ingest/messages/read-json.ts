import { parseJson } from "@lanthorn/runtime";

/** U+0000 as JSON writes it, behind whole pairs of backslashes. @see RFC 8259 section 7 */
const NUL = /(?<!\\)((?:\\\\)*)\\u0000/g;

/**
 * What a probe's payload says. U+0000 in a text becomes U+FFFD: PostgreSQL has no place for it, and any host on the link can put it into a
 * name that is reported.
 * @returns Undefined for what is no JSON.
 */
export function readJson(payload: Buffer): unknown {
  const text = payload.toString("utf8");
  return parseJson(text.includes(String.raw`\u0000`) ? text.replaceAll(NUL, String.raw`$1\ufffd`) : text);
}
