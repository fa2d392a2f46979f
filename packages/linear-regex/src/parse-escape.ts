import { type Cursor, UnsupportedSyntax } from "./cursor.ts";
import type { RegexOptions } from "./options.ts";

const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d, a: 0x07, e: 0x1b };

/**
 * Reads what follows a backslash and means one character: `n`, `x41`, `u0041`, `u{41}`, `012`, `/`; in PCRE `x{41}`.
 * @throws UnsupportedSyntax for a character beyond the Basic Multilingual Plane, or none at all.
 */
export function parseEscapedUnit(cursor: Cursor, syntax: RegexOptions["syntax"]): number {
  const braced = syntax === "pcre" ? cursor.takeMatch(/x\{[0-9A-Fa-f]{1,4}\}/y) : null;
  if (braced !== null) return Number.parseInt(braced.slice(2, -1), 16);
  const hexadecimal = cursor.takeMatch(/x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}/y);
  if (hexadecimal !== null) {
    const unit = Number.parseInt(hexadecimal.replace(/[xu{}]/g, ""), 16);
    if (unit > 0xffff) throw new UnsupportedSyntax("a character beyond U+FFFF");
    return unit;
  }
  const octal = cursor.takeMatch(syntax === "pcre" ? /[0-7]{1,3}/y : /0[0-7]{0,2}/y);
  if (octal !== null) return Number.parseInt(octal, 8);
  const letter = cursor.next();
  const control = CONTROLS[letter];
  if (control !== undefined) return control;
  if (/[A-Za-z0-9]/.test(letter) && !/[jqyliomEFIJLNOQSTUVY]/.test(letter)) throw new UnsupportedSyntax(`\\${letter} is not supported`);
  return letter.charCodeAt(0);
}
