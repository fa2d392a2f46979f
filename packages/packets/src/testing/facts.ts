import { formatIp, formatMac } from "../addresses.ts";

/** Values by field name, one for each time that the field appears. A field that does not appear is left out. */
export type Facts = Readonly<Record<string, readonly string[]>>;

/** Adds values to a field, as text; null is no value. */
export type Add = (field: string, ...values: readonly (string | number | boolean | Uint8Array | null)[]) => void;

/** Starts with no fields; a field without a value is not added. For tests only. */
export function collectFacts(): { readonly facts: Facts; readonly add: Add } {
  const facts: Record<string, string[]> = {};
  return {
    facts,
    add(field, ...values) {
      for (const value of values) if (value !== null) (facts[field] ??= []).push(toText(value));
    },
  };
}

function toText(value: string | number | boolean | Uint8Array): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (!(value instanceof Uint8Array)) return String(value);
  if (value.length === 4 || value.length === 16) return formatIp(value);
  return value.length === 6 ? formatMac(value) : Buffer.from(value).toString("hex");
}
