import type { IdsRule, IdsRuleset, IdsStats } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { addRuleset, listRules, listVersions, showIdsStats, suppressAlerts } from "./ids.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const connect = (calls: object) => ({ rest: calls }) as unknown as Connection;
const page = <T>(data: readonly T[], total = data.length) => ({ data, meta: { page: 1, per_page: 100, total, next_cursor: null } });
const rule: IdsRule = {
  ruleset_id: ID, generator_id: 3, signature_id: 7, revision: 1, signature: "ET MALWARE \u001B[2Ja", category: "et-malware", class: "", file: "", severity: "high", action: "alert",
  protocol: "tcp", state: "enabled", published_enabled: true, modified: true, refusal: null, mitre_techniques: [],
};

test("rules are a table, and say how many more there are", async () => {
  const queries: unknown[] = [];
  const answer = await listRules(connect({ listIdsRules: (query: unknown) => Promise.resolve((queries.push(query), page([rule], 9))) }), { sid: "3:7", limit: "1" });
  expect(queries).toEqual([expect.objectContaining({ signature_id: 7, generator_id: 3, per_page: 1 })]);
  expect(formatAnswer(answer, false).split("\n")).toEqual([
    "RULE  STATE              SEVERITY  CATEGORY    SIGNATURE", "3:7   enabled, modified  high      et-malware  ET MALWARE ?[2Ja", "", "1 of 9 rules. More with --limit.",
  ]);
  await expect(listRules(connect({}), { sid: "x", limit: "1" })).rejects.toMatchObject({ code: "bad-option" });
});

test("a suppression names at least one part, and its end", async () => {
  const wishes: unknown[] = [];
  const connection = connect({ createIdsSuppression: (wish: object) => Promise.resolve((wishes.push(wish), { id: ID, signature_id: 7, generator_id: 1, category: null, source: null, destination: null, network: "10.0.0.0/8", device_id: null, hits: 0, expires_at: null, reason: "known" })) });
  await suppressAlerts(connection, { sid: "7", network: "10.0.0.0/8", reason: "known", expires: "1d" }, 0);
  expect(wishes).toEqual([{ signature_id: 7, generator_id: 1, network: "10.0.0.0/8", reason: "known", expires_at: "1970-01-02T00:00:00.000Z" }]);
  await expect(suppressAlerts(connection, { reason: "all" }, 0)).rejects.toMatchObject({ code: "bad-option" });
});

test("the noisiest come with what would silence them", async () => {
  const stats: IdsStats = {
    days: 7, alerts: 100, suppressed: 4, would_block: 0, is_first_week: true,
    noisiest: [{ generator_id: 1, signature_id: 7, signature: "ET SCAN a", category: "c", alerts: 90, suppressed: 4, hosts: 1, share: 0.9, suggestion: { signature_id: 7, generator_id: 1, network: "10.0.0.5", reason: "r" } }],
  };
  const text = formatAnswer(await showIdsStats(connect({ readIdsStats: () => Promise.resolve(stats), readIdsSupport: () => Promise.resolve({ rulesets: [], sites: [], probes: [] }) }), { days: "7" }), false);
  expect(text).toContain("7     90       90.0 %  4           1      ET SCAN a");
  expect(text).toContain("lanthorn ids suppress --sid 1:7 --network 10.0.0.5");
});

test("a rule set comes from one place, and its versions say how they differ", async () => {
  await expect(addRuleset(connect({}), "a", {})).rejects.toMatchObject({ code: "bad-option" });
  const version = { version: 2, is_active: false, is_held: true, note: "it is held back", rules: 5, enabled: 4, refused: 0, added: 0, removed: 6, changed: 0, created_at: "2026-01-01T00:00:00.000Z" };
  const connection = connect({ listIdsRulesets: () => Promise.resolve(page([{ id: ID, name: "open" } as IdsRuleset])), listIdsRulesetVersions: () => Promise.resolve(page([version])) });
  expect(formatAnswer(await listVersions(connection, "open"), false)).toContain("Version 2: it is held back");
  await expect(listVersions(connection, "none")).rejects.toMatchObject({ code: "not-found" });
});
