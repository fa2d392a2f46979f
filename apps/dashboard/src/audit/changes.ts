import type { AuditRecord } from "@lanthorn/contract";

/** A field of an object, before and after. */
export interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** @returns The fields that differ, by name; of an object that came or went, all of them. */
export function changesOf({ before, after }: Pick<AuditRecord, "before" | "after">): readonly Change[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].toSorted();
  return names.map((name) => ({ name, before: textOf(before, name), after: textOf(after, name) })).filter((change) => change.before !== change.after);
}

/** What objects are called, the plainest first. */
const NAMES = ["name", "username", "hostname", "title", "url", "prefix", "target", "ip", "value", "filter"] as const;

/** @returns What people call the object of a record; its id where it has no name, and nothing where it has neither. */
export function objectOf({ before, after, target }: Pick<AuditRecord, "before" | "after" | "target">): string {
  const name = NAMES.map((each) => textOf(after, each) || textOf(before, each)).find((text) => text !== "");
  return name ?? target.id;
}

function textOf(of: AuditRecord["before"], name: string): string {
  const value = of !== null && Object.hasOwn(of, name) ? of[name] : undefined;
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
