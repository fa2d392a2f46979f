import * as z from "zod";

/** `00:1b:21:aa:bb:07`, `00-1B-21-AA-BB-07`, or `001b.21aa.bb07`: as Linux, Windows and switches print it. */
const FORMS = [/^[\da-f]{2}(?::[\da-f]{2}){5}$/i, /^[\da-f]{2}(?:-[\da-f]{2}){5}$/i, /^[\da-f]{4}(?:\.[\da-f]{4}){2}$/i] as const;

/**
 * Reads a MAC address in any of the three forms that people and devices write, in upper or lower case.
 * @returns The form that is stored, six lower-case pairs with colons; null for any other text.
 * @see IEEE 802-2014 8.1: hyphens or colons between octets
 */
export function parseMac(text: string): string | null {
  const trimmed = text.trim();
  if (!FORMS.some((form) => form.test(trimmed))) return null;
  return trimmed.toLowerCase().replaceAll(/[:.-]/g, "").replaceAll(/..(?!$)/g, "$&:");
}

/** The three forms in one expression, for the documents; `parseMac` is what reads them. */
const ANY_FORM = new RegExp(`^\\s*(?:${FORMS.map(({ source }) => source.slice(1, -1)).join("|")})\\s*$`, "i");

/** A MAC address as a request gives it: read by `parseMac`, so that every endpoint takes the same forms. */
export const MacInput = z.string().max(64)
  .regex(ANY_FORM, "must be a MAC address, as 00:1b:21:aa:bb:07, 00-1b-21-aa-bb-07 or 001b.21aa.bb07")
  .transform((text) => parseMac(text) ?? text)
  .meta({ examples: ["00:1b:21:aa:bb:07"] });
