import { FIELD_TEXTS } from "@lanthorn/contract";
import * as z from "zod";
import type { Schema } from "./openapi.ts";

/** What is sent to the collector is the input of its schema, what it answers the output: defaults are optional only when sent. */
export type Direction = "input" | "output";

/** Formats that say all that zod's long pattern beside them says. */
const TELLING_FORMATS: ReadonlySet<string> = new Set(["uuid", "date-time", "date", "email", "ipv4", "ipv6", "uri"]);

/**
 * A zod type as JSON Schema 2020-12. Not by zod-openapi's own generator, which drops the format of addresses and writes a
 * pattern's flags as part of the pattern.
 * @returns Null for a type that JSON cannot say.
 */
export function writeSchema(type: z.ZodType, direction: Direction): Schema | null {
  try {
    const schema = z.toJSONSchema(type, {
      io: direction, unrepresentable: "any", reused: "inline",
      override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema as Writable),
    });
    delete schema.$schema;
    return withTexts(schema) as Schema;
  } catch {
    return null;
  }
}

type Writable = { -readonly [K in keyof Schema]: Schema[K] };

const TEXTS: ReadonlyMap<z.core.$ZodType, Readonly<Record<string, string>>> = new Map(FIELD_TEXTS);
/** Holds the texts of an object's fields until its properties are written: before, those of one schema are one value. */
const TEXTS_KEY = "x-field-texts";

function textsOf(type: z.core.$ZodType): Readonly<Record<string, string>> | undefined {
  const { _zod: { parent } } = type;
  return TEXTS.get(type) ?? (parent && textsOf(parent));
}

function withTexts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => withTexts(member));
  const { [TEXTS_KEY]: texts, ...schema } = value as Schema & { readonly [TEXTS_KEY]?: Readonly<Record<string, string>> };
  const written = Object.fromEntries(Object.entries(schema).map(([key, member]) => [key, withTexts(member)])) as Schema;
  if (texts === undefined) return written;
  const properties = Object.entries(written.properties ?? {}).map(([name, property]) => [name, { description: texts[name], ...property }]);
  return { ...written, properties: Object.fromEntries(properties) as Record<string, Schema> };
}

function simplify(type: z.core.$ZodTypes, schema: Writable): void {
  const { _zod: { def } } = type;
  const texts = def.type === "object" ? textsOf(type) : undefined;
  if (texts) Object.assign(schema, { [TEXTS_KEY]: texts });
  if (schema.format !== undefined && schema.pattern !== undefined) {
    if (TELLING_FORMATS.has(schema.format)) delete schema.pattern;
    // One of zod's own, which others do not know.
    else delete schema.format;
  }
  // Anything, or null: that is anything.
  if (schema.anyOf?.some((choice) => Object.keys(choice).length === 0)) delete schema.anyOf;
  // Every whole number that JavaScript has.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // An answer may get more fields later, which a client is to expect: only what is strict says that it is closed.
  if (def.type === "object" && def.catchall === undefined) delete schema.additionalProperties;
  if (schema.pattern !== undefined && ignoresCase(def.checks)) schema.pattern = inAnyCase(schema.pattern);
}

function ignoresCase(checks: readonly z.core.$ZodCheck[] = []): boolean {
  return checks.some(({ _zod: { def } }) => (def as { readonly pattern?: RegExp }).pattern?.ignoreCase === true);
}

/** JSON Schema's patterns have no flags: `a-f` in a class becomes `a-fA-F`, a letter outside of one a class of both. */
function inAnyCase(pattern: string): string {
  return pattern.replaceAll(/\\.|\[(?:\\.|[^[\]\\]){0,64}\]|[a-z]/g, (part) => {
    if (part.startsWith("[")) return part.replaceAll(/([a-z])-([a-z])/g, (range) => `${range}${range.toUpperCase()}`);
    return part.startsWith("\\") ? part : `[${part}${part.toUpperCase()}]`;
  });
}
