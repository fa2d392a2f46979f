import type { ListRule } from "../lists/list-rule.ts";
import type { HashKey } from "./name-hash.ts";
import { encodeNameSet, type ListFacts } from "./name-set-file.ts";
import { countLabels } from "./name-key.ts";
import type { NameSet } from "./name-set.ts";
import { createNameTable, RECORD_HEADER, type RecordPlace } from "./name-table.ts";
import { createRuleTable } from "./rule-table.ts";

/** What a set is built from. */
export interface NameSetOptions {
  /** Rules name their list by its place here. Zones of RPZ stand in the order in which they are asked. */
  readonly lists: readonly ListFacts[];
  /** Random. */
  readonly hashKey: HashKey;
  /** Days since 1970, up to 65535: names that were not in the set before are first seen today. */
  readonly day: number;
  /** A guess at how many names there will be; zero costs a few copies more. */
  readonly expectedNames: number;
  /** The set before this one, whose days are kept; or null. */
  readonly before: Pick<NameSet, "firstSeenDay"> | null;
}

/** Takes the rules of all lists, one list after the other. */
export interface NameSetBuilder {
  /**
   * @param firstSeenDay Days since 1970 of a name that is not in the set yet; by `before` and `day` where it is left out.
   * @returns False where there is no room: too many names, or too many different rules. Then the rule is left out.
   */
  add(list: number, rule: ListRule, firstSeenDay?: number): boolean;
  /** Names and networks so far. */
  readonly size: () => number;
  /** @returns The file in pieces; the builder is used up. */
  finish(): readonly Uint8Array[];
}

/** Needs about the size of the file and, while its table grows, once more a fifth of it. */
export function createNameSetBuilder(options: NameSetOptions): NameSetBuilder {
  const table = createNameTable(options.hashKey, options.expectedNames);
  const rules = createRuleTable();
  const lengths = { ipv4: new Set<number>(), ipv6: new Set<number>() };
  const labelCounts = new Set<number>();

  return {
    size: table.size,
    add(list, rule, firstSeenDay) {
      const number = rules.ruleOf(list, rule);
      if (number < 0) return false;
      const place = table.place(rule.key);
      if (place === null) return false;
      const { record, isNew } = place;
      if (isNew) writeDay(record, firstSeenDay ?? options.before?.firstSeenDay(rule.key) ?? options.day);
      const set = rules.extend(readSet(record.page, record.at), number);
      if (set < 0) return false;
      writeSet(record, set);
      if (rule.key[0] === 0) (rule.key.length === 6 ? lengths.ipv4 : lengths.ipv6).add(rule.key[1] as number);
      else if (isNew) labelCounts.add(countLabels(rule.key));
      return true;
    },
    finish() {
      const longestFirst = (of: ReadonlySet<number>) => [...of].toSorted((a, b) => b - a);
      return encodeNameSet(table.pack(), {
        hashKey: options.hashKey, names: table.size(), rules: rules.store(),
        facts: { lists: options.lists, builtDay: options.day, labelCounts: [...labelCounts], ipv4Lengths: longestFirst(lengths.ipv4), ipv6Lengths: longestFirst(lengths.ipv6) },
      });
    },
  };
}

function writeDay({ page, at }: RecordPlace, day: number): void {
  page[at + 1] = day;
  page[at + 2] = day >>> 8;
}

function writeSet({ page, at }: RecordPlace, set: number): void {
  for (let byte = 0; byte < 3; byte += 1) page[at + RECORD_HEADER - 3 + byte] = set >>> (8 * byte);
}

/** The number of the set of rules of the record at `at`. */
function readSet(page: Uint8Array, at: number): number {
  return (page[at + 3] as number) | ((page[at + 4] as number) << 8) | ((page[at + 5] as number) << 16);
}
