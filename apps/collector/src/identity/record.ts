import type { Selectable } from "kysely";
import type { Schema } from "../db/schema.ts";

/** The tables whose rows hang on a device and are its own, each with the columns that tell its rows of one device apart. */
export const PART_KEYS = {
  interfaces: ["mac"],
  addresses: ["mac", "ip"],
  ports: ["port", "protocol"],
  evidence: ["field", "source", "value"],
  device_keys: ["key"],
  port_looks: ["scope_id"],
  device_software: ["source", "product"],
} as const satisfies Partial<{ readonly [T in keyof Schema]: readonly (keyof Schema[T])[] }>;

/** A table whose rows belong to a device. */
export type PartTable = keyof typeof PART_KEYS;
/** In the order of `PART_KEYS`, which is the order of inserts. */
export const PART_TABLES = Object.keys(PART_KEYS) as readonly PartTable[];

/** A row of a part, without the device that it hangs on, which is the record's. */
export type PartRow<T extends PartTable> = Omit<Selectable<Schema[T]>, "device_id">;

type Parts = { readonly [T in PartTable]: readonly PartRow<T>[] };

/**
 * Everything that makes a device what it is, as it lies in the database, but for what is made of its name anew. Its history is not here:
 * that only ever changes hands.
 */
export interface DeviceRecord extends Parts {
  readonly device: Omit<Selectable<Schema["devices"]>, "hostname_key">;
}

/** What a row is called among the rows of its device. */
export function partKey<T extends PartTable>(table: T, row: PartRow<T>): string {
  return JSON.stringify(PART_KEYS[table].map((column) => (row as Record<string, unknown>)[column]));
}

/** Whether two rows say the same. */
export function isSameRow(a: object, b: object): boolean {
  const [one, two] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  const names = Object.keys(one);
  return names.length === Object.keys(two).length && names.every((name) => one[name] === two[name]);
}
