/** What a list's category says of who asks for its names. */
import type { Severity } from "@lanthorn/contract/uplink";

/** Of what is for somebody to act on. A blocked name is no compromised device, and advertising is for nobody. */
const SEVERITIES: Readonly<Record<string, Severity>> = { phishing: "low", malware: "high", command_and_control: "critical", c2: "critical" };

/** Techniques of ATT&CK that a category shows by itself. */
const TECHNIQUES: Readonly<Record<string, readonly string[]>> = { command_and_control: ["T1071"], c2: ["T1071"], phishing: ["T1566"] };

/** Categories whose names are reported, as `categoryKey` writes them. */
export const REPORTED_CATEGORIES: readonly string[] = Object.keys(SEVERITIES);

/** @param category As somebody wrote it. @returns In lower case, with `_` between words. */
export function categoryKey(category: string): string {
  return category.toLowerCase().replaceAll(/[ -]/g, "_");
}

/** @returns Null for a category that nobody needs to act on. */
export function severityOf(category: string): Severity | null {
  const key = categoryKey(category);
  return Object.hasOwn(SEVERITIES, key) ? SEVERITIES[key] ?? null : null;
}

/** @returns ATT&CK ids; none for most categories. */
export function techniquesOf(category: string): readonly string[] {
  const key = categoryKey(category);
  return Object.hasOwn(TECHNIQUES, key) ? TECHNIQUES[key] ?? [] : [];
}
