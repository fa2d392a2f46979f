import type * as z from "zod";

/** A schema, and what each of its fields means. */
export type FieldTexts = readonly [schema: z.ZodObject, texts: Readonly<Record<string, string>>];

/**
 * What the fields of a schema mean, for the documents. Schemas of REST say it themselves; those that a probe uses too have it
 * here, so that a probe does not carry the texts.
 */
export function describeFields<T extends z.ZodObject>(schema: T, texts: Readonly<Record<keyof T["shape"], string>>): FieldTexts {
  return [schema, texts];
}
