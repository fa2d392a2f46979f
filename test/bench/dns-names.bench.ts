import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNameSet } from "@lanthorn/dns";
import { buildSet, measure, measureSet, queriesOf, type Query } from "./dns-lookups.ts";
import { createSeededNames } from "./dns-seeded-names.ts";

const NAMES = 1_000_000;

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
    writeFileSync(file, buildSet(list));
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

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
