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
    return schema as Schema;
  } catch {
    return null;
  }
}

type Writable = { -readonly [K in keyof Schema]: Schema[K] };

function simplify({ _zod: { def } }: z.core.$ZodTypes, schema: Writable): void {
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
  return pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\]){0,64}\]|[a-z]/g, (part) => {
    if (part.startsWith("[")) return part.replaceAll(/([a-z])-([a-z])/g, (range) => `${range}${range.toUpperCase()}`);
    return part.startsWith("\\") ? part : `[${part}${part.toUpperCase()}]`;
  });
}
