import { Id } from "@lanthorn/contract";
import { CliError } from "./errors.ts";

/** The end of an id: twelve digits, made at random, that fit in a table. */
export function shortId(id: string): string {
  return id.slice(-12);
}

/**
 * The whole id of what is named by its id, or by the end of it as tables show it.
 * @param read Reads all that it can be; only asked for where the id is not whole.
 * @param help Where the ids are listed.
 * @throws CliError `not-found`.
 */
export async function wholeId(text: string, read: () => Promise<readonly { readonly id: string }[]>, help: string): Promise<string> {
  if (Id.safeParse(text).success) return text;
  const found = /^[\da-f]{4,}$/.test(text) ? (await read()).filter(({ id }) => id.endsWith(text)) : [];
  const [only] = found;
  if (only && found.length === 1) return only.id;
  throw new CliError("not-found", `${only ? `${found.length} ids end` : "no id ends"} with ${JSON.stringify(text)}; see: ${help}`);
}
