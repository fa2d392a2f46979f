import type { DnsQueryLevel } from "@lanthorn/contract/uplink";
import type { Verdict } from "@lanthorn/dns";
import { DNS_TYPE } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createCounts } from "../resolver.ts";
import { MAX_QUERY_ROWS, type ReportedQueries } from "./messages.ts";
import { createQueryTally } from "./query-tally.ts";

const rule = { listName: "Ads" };
const BLOCKED = { action: "block", rule, observed: null } as unknown as Verdict;
const OBSERVED = { action: "allow", rule: null, observed: rule } as unknown as Verdict;
const query = (name: string) => ({ name, type: DNS_TYPE.a, atMs: 1000 });

function tallyOf(level: DnsQueryLevel | (() => DnsQueryLevel)) {
  const counts = createCounts();
  const tally = createQueryTally(typeof level === "function" ? level : () => level, counts, 0);
  const sent: { readonly number: number; readonly queries: ReportedQueries }[] = [];
  const flush = (isTaken = true) => tally.flush(30_000, (number, queries) => {
    if (isTaken) sent.push({ number, queries });
    return isTaken;
  });
  const ask = (name: string, verdict: Verdict | null, address = "10.0.0.7") => {
    counts.queries += 1;
    if (verdict === BLOCKED) counts.blocked += 1;
    tally.answered(query(name), verdict, address);
  };
  return { tally, counts, sent, flush, ask };
}

test.each([
  ["off", null], ["counts", []], ["blocked", [["bad.example", "blocked", "Ads"], ["odd.example", "observed", "Ads"]]],
  ["all", [["good.example", "resolved", ""], ["bad.example", "blocked", "Ads"], ["odd.example", "observed", "Ads"]]],
] as const)("with %s no more is reported than that", (level, rows) => {
  const { sent, flush, ask } = tallyOf(level);
  for (const [name, verdict] of [["Good.example", null], ["bad.example", BLOCKED], ["odd.example", OBSERVED]] as const) ask(name, verdict);
  ask("own.example", BLOCKED, "127.0.0.1");
  flush();
  expect(sent.map(({ queries }) => [queries.queries, queries.blocked, queries.rows.map(({ name, action, list }) => [name, action, list])])).toEqual(rows === null ? [] : [[4, 2, rows]]);
});

test("queries that are alike are one row; what is not taken goes again, and nothing goes twice", () => {
  const { tally, sent, flush, ask } = tallyOf("all");
  for (let left = 3; left > 0; left -= 1) ask("a.example", null);
  flush(false);
  ask("b.example", null, "fe80::1%eth0");
  flush();
  tally.lost();
  flush();
  expect(sent.map(({ number, queries }) => [number, queries.queries, queries.rows.map(({ name, times }) => [name, times])])).toEqual([[1, 3, [["a.example", 3]]], [1, 3, [["a.example", 3]]]]);
  tally.taken(7);
  flush();
  expect(sent).toHaveLength(2);
  tally.taken(1);
  flush();
  expect(sent[2]).toMatchObject({ number: 2, queries: { queries: 1, rows: [{ client_ip: "fe80::1", name: "b.example" }] } });
  tally.taken(2);
  flush();
  expect(sent).toHaveLength(3);
});

test("whoever asks for one name after the other is held in bounded memory, and the rest is counted", () => {
  const { tally, sent, flush, ask } = tallyOf("all");
  for (let number = 0; number < 10_000; number += 1) ask(`n${number}.example`, null);
  expect(tally.size).toBeLessThanOrEqual(2000);
  let rows = 0;
  for (let turn = 0; tally.size > 0; turn += 1) {
    flush();
    expect(sent[turn]?.queries.rows.length).toBeLessThanOrEqual(MAX_QUERY_ROWS);
    rows += sent[turn]?.queries.rows.length ?? 0;
    tally.taken(turn + 1);
  }
  expect(rows + sent.reduce((sum, { queries }) => sum + queries.left_out, 0)).toBe(10_000);
  expect(sent.reduce((sum, one) => sum + one.queries.queries, 0)).toBe(10_000);
});

test("a level that falls holds for what waits and what is on its way, too; what is asked while it is off is never reported", () => {
  let level: DnsQueryLevel = "all";
  const { tally, sent, flush, ask } = tallyOf(() => level);
  const last = () => ({ level: sent.at(-1)?.queries.level, queries: sent.at(-1)?.queries.queries, names: sent.at(-1)?.queries.rows.map(({ name }) => name) });
  for (const [name, verdict] of [["good.example", null], ["bad.example", BLOCKED]] as const) ask(name, verdict);
  flush(false);
  ask("late.example", null);
  level = "blocked";
  flush();
  expect(last()).toEqual({ level: "blocked", queries: 2, names: ["bad.example"] });
  tally.taken(1);
  flush();
  expect(last()).toEqual({ level: "blocked", queries: 1, names: [] });
  tally.lost();
  ask("bad.example", BLOCKED);
  level = "off";
  flush();
  ask("bad.example", BLOCKED);
  expect([sent.length, tally.size]).toEqual([2, 0]);
  flush();
  level = "all";
  ask("good.example", null);
  flush();
  expect([sent.length, last()]).toEqual([3, { level: "all", queries: 1, names: ["good.example"] }]);
});
