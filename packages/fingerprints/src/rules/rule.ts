import { formatCpe } from "@lanthorn/vulnerability/names";
import type { Claim, ClaimField } from "./claim.ts";

/** Values by field; `$1` stands for a group of the pattern. A `cpe` is `part:vendor:product[:version[:update]]`. */
export type Statement = { readonly [field in ClaimField]?: string };

/** What a text means. */
export interface Rule {
  readonly pattern: RegExp;
  readonly says: Statement;
  /** 0–1; 0.9 unless given. */
  readonly confidence?: number;
  /** Real answers, and everything that must be said of each. They are tests. */
  readonly examples: readonly (readonly [text: string, says: Statement])[];
}

const DEFAULT_CONFIDENCE = 0.9;

/**
 * Longer texts are cut: no rule looks further. It is what SNMP's, LLDP's and DHCP's own fields hold.
 * @see RFC 2579, DisplayString; IEEE 802.1AB-2016 8.5.7; RFC 2132
 */
const MAX_TEXT = 255;

/**
 * @param maxText Of the text, where its field may be longer than 255 letters.
 * @returns What the first rule says that matches; null where none does. A value whose groups took no part is left out.
 */
export function applyRules(rules: readonly Rule[], text: string, maxText = MAX_TEXT): Statement | null {
  const cut = text.slice(0, maxText);
  for (const rule of rules) {
    const match = rule.pattern.exec(cut);
    if (match) return fillIn(rule.says, match);
  }
  return null;
}

/** As `applyRules`, as claims, each with the rule's confidence. */
export function claimsOf(
  rules: readonly Rule[], text: string, { source, maxText = MAX_TEXT }: { readonly source: string; readonly maxText?: number | undefined },
): readonly Claim[] {
  const cut = text.slice(0, maxText);
  for (const rule of rules) {
    const match = rule.pattern.exec(cut);
    if (!match) continue;
    const confidence = rule.confidence ?? DEFAULT_CONFIDENCE;
    return Object.entries(fillIn(rule.says, match)).map(([field, value]) => ({ field: field as ClaimField, value, source, confidence }));
  }
  return [];
}

function fillIn(says: Statement, match: RegExpExecArray): Statement {
  const group = (number: string) => match[Number(number)]?.trim();
  const filled = Object.entries(says).flatMap(([field, template]): [string, string][] => {
    if (field === "cpe" || field === "os_cpe") {
      const parts = template.split(":").map((part) => part.replaceAll(/\$(\d)/g, (_, number: string) => group(number) ?? ""));
      return [[field, formatCpe(parts)]];
    }
    let missing = false;
    const value = template.replaceAll(/\$(\d)/g, (_, number: string) => {
      const text = group(number);
      missing ||= text === undefined || text === "";
      return text ?? "";
    });
    return missing ? [] : [[field, value]];
  });
  return Object.fromEntries(filled) as Statement;
}
