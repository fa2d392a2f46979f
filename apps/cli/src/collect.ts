import { type Query, readAll } from "@lanthorn/client";
import type { List } from "@lanthorn/contract";

/** A list to its end, in one array. */
export async function collect<T>(readPage: (query: Query) => Promise<List<T>>, query: Query = {}): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of readAll(readPage, query)) all.push(one);
  return all;
}
