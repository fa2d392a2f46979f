import type * as z from "zod";

/** What an address holds behind its question mark: texts, by the names of a schema of the contract. */
export type SearchOf<Schema extends z.ZodObject> = { readonly [name in keyof Schema["shape"]]?: string | undefined };

/** @returns What checks an address by a schema of the contract: what the schema refuses is left out, so that a wrong part spoils nothing else. */
export function checkSearch<Schema extends z.ZodObject>(schema: Schema): (search: Readonly<Record<string, unknown>>) => SearchOf<Schema> {
  return (search) => {
    const texts = Object.entries(search).filter(([name, value]) => Object.hasOwn(schema.shape, name) && typeof value === "string" && value !== "");
    const wrong = new Set(schema.safeParse(Object.fromEntries(texts)).error?.issues.map(({ path }) => path[0]));
    return Object.fromEntries(texts.filter(([name]) => !wrong.has(name))) as SearchOf<Schema>;
  };
}

/** Reads what is behind the question mark as plain texts, as the API does. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Writes it; what is undefined or empty is left out. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "");
  const text = new URLSearchParams(kept).toString();
  return text === "" ? "" : `?${text}`;
}
