import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createListReader, createNameSetBuilder, type NameSet, openNameSet } from "@lanthorn/dns";
import { createSeededNames } from "./dns-seeded-names.ts";

const NAMES = 1_000_000;
const QUERIES = 200_000;
const ROUNDS = 7;
const PIECE_LENGTH = 65_536;

/**
 * Builds a set of a million seeded names from the text of a list, writes it, loads it, and asks it for names that it has, names below those and
 * names that it has not, a third of each, as the bytes of a message. A JavaScript `Map` of the same names is asked the same.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new Error("dns-names takes no arguments");
  const list = new TextEncoder().encode(createSeededNames(1, NAMES).join("\n"));
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-names-"));
  try {
    const file = join(folder, "names");
    const startedAt = performance.now();
    writeFileSync(file, build(list));
    const buildSeconds = secondsSince(startedAt);
    const loadedAt = performance.now();
    const bytes = readFileSync(file);
    const set = openNameSet(bytes);
    const loadSeconds = secondsSince(loadedAt);
    if ("fault" in set) throw new Error(set.fault);
    const queries = queriesOf(createSeededNames(1, NAMES));
    console.log(`${set.size} names in ${bytes.length} bytes`);
    const lookups = measureSet(set, queries);
    const map = measureMap(createSeededNames(1, NAMES), queries);
    console.log(JSON.stringify({
      bench: "dns-names", names: set.size, bytes: bytes.length, build_seconds: buildSeconds, load_seconds: loadSeconds, lookup_ns: lookups.all, hit_ns: lookups.hits,
      miss_ns: lookups.misses, peers: { map },
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function build(list: Uint8Array): Uint8Array {
  const lists = [{ id: "seeded", name: "Seeded", category: "malware", kind: "filter" }] as const;
  const builder = createNameSetBuilder({ lists, hashKey: [0x1234567, 0x7654321], day: 20_000, expectedNames: 0, before: null });
  const reader = createListReader("domains", { mayRewrite: false, origin: null }, (rule) => builder.add(0, { ...rule, scope: "both" }));
  for (let at = 0; at < list.length; at += PIECE_LENGTH) reader.push(list.subarray(at, at + PIECE_LENGTH));
  reader.end();
  return Buffer.concat(builder.finish());
}

interface Query {
  readonly wire: Uint8Array;
  readonly text: string;
  readonly isHit: boolean;
}

function queriesOf(names: readonly string[]): readonly Query[] {
  return Array.from({ length: QUERIES }, (_, index) => {
    const name = names[(index * 7919) % names.length] as string;
    const kind = index % 3;
    // Built from bytes, as the decoder of messages builds it: a text in one piece.
    const text = Buffer.from(kind === 0 ? name : kind === 1 ? `www.${name}` : `un${name}`).toString("latin1");
    const wire = Buffer.from([...text.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]), 0]);
    return { wire, text, isHit: kind < 2 };
  });
}

function measureSet(set: NameSet, queries: readonly Query[]): { readonly all: number; readonly hits: number; readonly misses: number } {
  const wrong = queries.filter(({ wire, isHit }) => set.find(wire).length > 0 !== isHit);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${queries.length} names are answered wrong: ${wrong[0]?.text}`);
  const find = ({ wire }: Query) => set.find(wire).length;
  return { all: measure(queries, find), hits: measure(queries.filter(({ isHit }) => isHit), find), misses: measure(queries.filter(({ isHit }) => !isHit), find) };
}

function measureMap(names: readonly string[], queries: readonly Query[]): { readonly bytes: number; readonly lookup_ns: number } {
  const before = process.memoryUsage().heapUsed;
  const map = new Map(names.map((name) => [name, { list: 0, day: 20_000 }]));
  const bytes = process.memoryUsage().heapUsed - before;
  const lookup = measure(queries, ({ text }) => {
    for (let at = 0; at >= 0; at = text.indexOf(".", at) + 1 || -1) if (map.has(text.slice(at))) return 1;
    return 0;
  });
  return { bytes, lookup_ns: lookup };
}

/** @returns Nanoseconds of the median round. */
function measure(queries: readonly Query[], find: (query: Query) => number): number {
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

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
