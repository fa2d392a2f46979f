import * as contract from "@lanthorn/contract";
import type * as z from "zod";
import type { Schema } from "./openapi.ts";
import { writeSchema } from "./schema.ts";

/** Fewer values than this read better where they are. */
const MIN_VALUES = 3;

/** Gives schemas the names that they have in the contract. */
export interface Components {
  /** Replaces each part that is a schema of the contract by a `$ref` to it, and remembers which were used. */
  refer<T>(value: T): T;
  /** A `$ref` to a schema that the contract exports under this name. */
  named(name: string): Schema;
  /** Those that were used, by name. */
  used(): Readonly<Record<string, Schema>>;
}

/**
 * Names are found by content: zod knows no names, and what the contract exports is written out the same wherever it is
 * used, so equal text is the same schema. A resource that is added to the contract gets its component without a word here.
 */
export function createComponents(): Components {
  const named = contractSchemas();
  const byText = new Map<string, string>();
  for (const [name, { description: _, ...schema }] of named) {
    const text = JSON.stringify(schema);
    if (isWorthAName(schema) && !byText.has(text)) byText.set(text, name);
  }
  const used = new Map<string, Schema>();

  const refer = (value: unknown, self?: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((member) => refer(member));
    // What a field says of itself stands beside the reference, which OpenAPI 3.1 allows.
    const { description, ...bare } = value as Schema;
    const name = byText.get(JSON.stringify(bare));
    if (name !== undefined && name !== self) return { ...use(name, bare), ...(description === undefined ? {} : { description }) };
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, key === "example" ? member : refer(member)]));
    const list = listName(copy);
    return list === null ? copy : use(list, copy);
  };
  const use = (name: string, schema: Schema): Schema => {
    if (!used.has(name)) {
      used.set(name, {});
      used.set(name, name.endsWith("List") && !named.has(name) ? schema : refer(schema, name) as Schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  return {
    refer: (value) => refer(value) as typeof value,
    named: (name) => use(name, named.get(name) ?? {}),
    used: () => Object.fromEntries([...used].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Every schema that the contract exports and that can be written out, by its name; where it is sent in another shape, that as well. */
function contractSchemas(): ReadonlyMap<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const [name, value] of Object.entries(contract)) {
    if (typeof value !== "object" || !("_zod" in value)) continue;
    const answered = writeSchema(value as z.ZodType, "output");
    const sent = writeSchema(value as z.ZodType, "input");
    if (answered) schemas.set(name, answered);
    if (sent && JSON.stringify(sent) !== JSON.stringify(answered)) schemas.set(answered ? `${name}Input` : name, sent);
  }
  return schemas;
}

function isWorthAName(schema: Schema): boolean {
  if (schema.enum) return schema.enum.length >= MIN_VALUES;
  return schema.anyOf !== undefined || schema.oneOf !== undefined || Object.keys(schema.properties ?? {}).length > 0;
}

/** `DeviceList` for a page of devices, which the contract makes where it is used. */
function listName(value: object): string | null {
  const { properties } = value as Schema;
  const item = properties?.["data"]?.items?.$ref;
  return item !== undefined && properties?.["meta"] !== undefined ? `${item.split("/").at(-1)}List` : null;
}
