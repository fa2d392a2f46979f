import type * as z from "zod";

/** What an address holds behind its question mark: texts, by the names of a schema of the contract. */
export type SearchOf<Schema extends z.ZodObject> = { readonly [name in keyof Schema["shape"]]?: string | undefined };

/**
 * @returns What checks an address by a schema of the contract: what the schema refuses or does not know is left out, so that a wrong part
 * spoils nothing else. It is there as undefined, since the router keeps what it is not given anything for.
 */
export function checkSearch<Schema extends z.ZodObject>(schema: Schema): (search: Readonly<Record<string, unknown>>) => SearchOf<Schema> {
  return (search) => {
    const texts = Object.entries(search).filter(([name, value]) => Object.hasOwn(schema.shape, name) && typeof value === "string" && value !== "");
    const wrong = new Set(schema.safeParse(Object.fromEntries(texts)).error?.issues.map(({ path }) => path[0]));
    const none = Object.keys(search).map((name) => [name, undefined]);
    return Object.fromEntries([...none, ...texts.filter(([name]) => !wrong.has(name))]) as SearchOf<Schema>;
  };
}

/** As `checkSearch`, and what an address says in a filter language is the parameters that it means; one that is there too stays as it is. */
export function checkFiltered<Schema extends z.ZodObject<{ readonly filter: z.ZodType }>>(
  schema: Schema, parse: (text: string) => { readonly ok: boolean; readonly filter?: Readonly<Record<string, string | undefined>> },
): (search: Readonly<Record<string, unknown>>) => Omit<SearchOf<Schema>, "filter"> {
  const check = checkSearch(schema);
  return (search) => {
    const { filter: words, ...given } = check(search);
    const present = Object.entries(given).filter(([, text]) => text !== undefined);
    return { ...given, ...(words === undefined ? {} : parse(words).filter), ...Object.fromEntries(present), filter: undefined };
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
