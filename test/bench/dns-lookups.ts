import { createListReader, createNameSetBuilder, type NameSet } from "@lanthorn/dns";

const QUERIES = 200_000;
const ROUNDS = 7;
const PIECE_LENGTH = 65_536;

/** A name that is asked for, as the bytes of a message and as text. */
export interface Query {
  readonly wire: Uint8Array;
  readonly text: string;
  readonly isHit: boolean;
}

/** @returns Names that are in the set, names below those, and names that are not, a third of each. */
export function queriesOf(names: readonly string[]): readonly Query[] {
  return Array.from({ length: QUERIES }, (_, index) => {
    const name = names[(index * 7919) % names.length] as string;
    const kind = index % 3;
    // Built from bytes, as the decoder of messages builds it: a text in one piece.
    const text = Buffer.from(kind === 0 ? name : kind === 1 ? `www.${name}` : `un${name}`).toString("latin1");
    const wire = Buffer.from([...text.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]), 0]);
    return { wire, text, isHit: kind < 2 };
  });
}

/** @returns Nanoseconds of a look-up. @throws Error where one is answered wrong. */
export function measureSet(set: NameSet, queries: readonly Query[]): { readonly all: number; readonly hits: number; readonly misses: number } {
  const wrong = queries.filter(({ wire, isHit }) => set.find(wire).length > 0 !== isHit);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${queries.length} names are answered wrong: ${wrong[0]?.text}`);
  const find = ({ wire }: Query) => set.find(wire).length;
  return { all: measure(queries, find), hits: measure(queries.filter(({ isHit }) => isHit), find), misses: measure(queries.filter(({ isHit }) => !isHit), find) };
}

/** @returns Nanoseconds of the median round. */
export function measure(queries: readonly Query[], find: (query: Query) => number): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    let found = 0;
    for (const query of queries) found += find(query);
    const nanoseconds = ((performance.now() - startedAt) * 1e6) / queries.length;
    if (found > queries.length * 5) throw new Error("names are found too often");
    return nanoseconds;
  });
  return Math.round(rounds.toSorted((a, b) => a - b)[ROUNDS >> 1] as number);
}

/** @returns The set of a list of domains, as a file. */
export function buildSet(list: Uint8Array): Uint8Array {
  const lists = [{ id: "seeded", name: "Seeded", category: "malware", kind: "filter" }] as const;
  const builder = createNameSetBuilder({ lists, hashKey: [0x1234567, 0x7654321], day: 20_000, expectedNames: 0, before: null });
  const reader = createListReader("domains", { mayRewrite: false, origin: null }, (rule) => builder.add(0, { ...rule, scope: "both" }));
  for (let at = 0; at < list.length; at += PIECE_LENGTH) reader.push(list.subarray(at, at + PIECE_LENGTH));
  reader.end();
  return Buffer.concat(builder.finish());
}
