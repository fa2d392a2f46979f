import { describe, expect, test } from "vitest";
import { archive, ruleText } from "../testing/rules.ts";
import { buildBundle } from "./build-bundle.ts";
import { compareRules } from "./diff.ts";
import { createEffective, textOf } from "./effective.ts";
import { FileRefused } from "../../../sources/file-refused.ts";
import { openContent, readPublished } from "./read-rules.ts";
import type { Override } from "./records.ts";
import { searchRules } from "./search.ts";

const SITE = "01939f6e-2a10-7c3e-8f00-000000000031";
const read = (files: Readonly<Record<string, string>>) => openContent(readPublished(archive(files), "rules.tar.gz").content);
const override = (change: Partial<Override>): Override => ({ id: "o", site_id: null, kind: "signature", value: "1:1", state: null, change: {}, ...change });
const PUBLISHED = {
  "rules/emerging-malware.rules": `${ruleText(1, "ET MALWARE a", "classtype:trojan-activity; metadata:deployment Perimeter, mitre_technique_id T1071; ")}\n# ${ruleText(2)}\nalert tcp any any -> any any (msg:"ET MALWARE l"; lua:a.lua; sid:3;)\n`,
  "rules/emerging-info.rules": `${ruleText(4, "ET INFO b")}\nnot a rule\n`,
  "classification.config": "config classification: trojan-activity,A Trojan,1\n", "threshold.config": "suppress gen_id 1, sig_id 4\n", "LICENSE": "x",
};

describe("a rule set", () => {
  test("is read with what is off, what cannot be run, and what is no rule", () => {
    const { rules, unreadable, thresholds } = read(PUBLISHED);
    expect(rules.map(({ sid, category, isOn, refusal }) => [sid, category, isOn, refusal?.keyword ?? null])).toEqual([
      [4, "et-info", true, null], [1, "et-malware", true, null], [2, "et-malware", false, null], [3, "et-malware", true, "lua"],
    ]);
    expect(rules[1]).toMatchObject({ className: "trojan-activity", severity: "high", techniques: ["T1071"], file: "emerging-malware" });
    expect(unreadable).toMatchObject([{ file: "emerging-info", line: 2 }]);
    expect(thresholds).toContain("suppress");
    expect(readPublished(archive(PUBLISHED), "a").counts).toEqual({ rules: 4, enabled: 3, refused: 1 });
  });

  test("names rules whose expressions cannot be run: they would never match", () => {
    const texts = [ruleText(1, "a", 'pcre:"/a(b/"; '), ruleText(2, "b", 'pcre:"/a(b)/"; '), ruleText(3, "c", 'file.data; pcrexform:"a{3"; content:"x"; '), ruleText(4, "d", 'file.data; pcrexform:"(a"; content:"x"; ')];
    expect(read({ "a.rules": texts.join("\n") }).rules.map(({ sid, refusal }) => [sid, refusal?.keyword ?? null])).toEqual([[1, "pcre"], [2, null], [3, null], [4, "pcrexform"]]);
  });

  test("keeps of a number the higher revision, and the bytes of its text", () => {
    const [first, second] = [ruleText(1).replace("rev:1", "rev:2"), ruleText(1)];
    expect(read({ "a.rules": `${first}\n${second}` }).rules.map(({ revision }) => revision)).toEqual([2]);
    expect(read({ "a.rules": `${second}\n${first}` }).rules.map(({ revision }) => revision)).toEqual([2]);
    const text = Buffer.from(ruleText(1, "ET MALWARE ü")).toString("latin1");
    expect(read({ "a.rules": Buffer.from(text, "latin1").toString() }).rules[0]).toMatchObject({ message: "ET MALWARE ü", text });
  });

  test("without a rule is refused", () => expect(() => read({ "a.rules": "# nothing\n" })).toThrow(FileRefused));

  test("differs by what was added, removed, changed and newly refused", () => {
    const before = read({ "a.rules": [1, 2, 3].map((sid) => ruleText(sid)).join("\n") });
    const after = read({ "a.rules": `#${ruleText(1)}\n${ruleText(3)}\n${ruleText(4)}\nalert tcp any any -> any any (lua:a.lua; sid:5;)` });
    const { counts, differences } = compareRules(before, after);
    expect(counts).toEqual({ added: 2, removed: 1, changed: 1, newly_refused: 1 });
    expect(differences.map(({ change, signature_id: sid }) => [sid, change])).toEqual([[1, "changed"], [2, "removed"], [4, "added"], [5, "added"], [5, "newly_refused"]]);
    expect(compareRules(after, after).differences).toEqual([]);
  });
});

describe("overrides", () => {
  const { rules } = read(PUBLISHED);
  const on = (list: readonly Override[], siteId: string | null = null) => rules.filter((record) => createEffective(list, siteId)(record).isOn).map(({ sid }) => sid);

  test.each<[string, readonly Override[], readonly number[]]>([
    ["nothing", [], [4, 1, 3]], ["a category", [override({ kind: "category", value: "et-info", state: "disabled" })], [1, 3]],
    ["a class", [override({ kind: "category", value: "trojan-activity", state: "disabled" })], [4, 3]],
    ["a file", [override({ kind: "category", value: "emerging-malware", state: "enabled" })], [4, 1, 2, 3]],
    ["metadata", [override({ kind: "metadata", value: "deployment perimeter", state: "disabled" })], [4, 3]],
    ["a number over its category", [override({ state: "enabled" }), override({ kind: "category", value: "et-malware", state: "disabled" })], [4, 1]],
    ["the newer over the older", [override({ state: "disabled" }), override({ state: "enabled" })], [4, 1, 3]],
    ["another site's", [override({ state: "disabled", site_id: "other" })], [4, 1, 3]],
  ])("are followed: %s", (_, list, expected) => expect(on(list)).toEqual(expected));

  test("of a site win over those of all sites", () => {
    const list = [override({ state: "disabled", site_id: SITE }), override({ state: "enabled" })];
    expect([on(list), on(list, SITE)]).toEqual([[4, 1, 3], [4, 3]]);
  });

  test("change what rules say, and leave a rule that cannot follow as it was", () => {
    const changed = (...list: readonly Override[]) => textOf(createEffective(list, null)(rules[1] as (typeof rules)[number]));
    expect(changed(override({ change: { action: "drop", priority: 7 } })).text).toMatch(/^drop tcp .*priority:7;\)$/);
    const { text, faults } = changed(override({ change: { replace: [{ from: 'content:"x1"', to: "lua:a" }] } }), override({ id: "p", change: { priority: 7 } }));
    expect([text.includes("content:\"x1\""), text.includes("priority:7"), faults]).toEqual([true, true, [{ overrideId: "o", rule: "1:1", reason: expect.stringContaining("lua") as string }]]);
    expect(changed(override({ change: { replace: [{ from: "sid:1", to: "sid:99" }] } })).faults).toMatchObject([{ reason: "it changes the rule's number" }]);
  });
});

describe("a bundle", () => {
  const order = { siteId: SITE, builtAt: "2026-01-01T00:00:00.000Z", overrides: [override({ kind: "category", value: "et-info", state: "disabled" })], suppressions: [], addresses: {} };

  test("has what is enabled and can be run, once, with the files beside it", () => {
    const built = buildBundle([read(PUBLISHED), read({ "local.rules": ruleText(1, "OUR RULE a") })], order);
    expect(built).toMatchObject({ rules: 1, refused: 1, faults: [] });
    expect([...built.files.keys()]).toEqual(["ids.json", "suppressions.json", "classification.config", "threshold.config", "rules/our-rule.rules"]);
  });

  test("of many rules changes one part where one rule changes", () => {
    const texts = Array.from({ length: 600 }, (_, index) => ruleText(index + 1));
    const partsOf = (rules: readonly string[]) => buildBundle([read({ "a.rules": rules.join("\n") })], order).files;
    const [before, after] = [partsOf(texts), partsOf(texts.with(7, ruleText(8, "ET MALWARE other")))];
    expect(before.size).toBe(18);
    expect([...after].filter(([path, bytes]) => !Buffer.from(bytes).equals(Buffer.from(before.get(path) ?? ""))).map(([path]) => path)).toEqual(["rules/et-malware-08.rules"]);
  });
});

test("rules are found by number, text, category, state and technique, a page at a time", () => {
  const sets = [{ rulesetId: SITE, content: read(PUBLISHED) }];
  const none = { siteId: null, signatureId: null, generatorId: null, text: null, category: null, state: null, technique: null, from: 0, limit: 10 };
  const found = (search: Partial<typeof none> | object) => {
    const { rules, total } = searchRules(sets, [override({ value: "1:4", change: { priority: 1 } })], { ...none, ...search });
    return [rules.map(({ signature_id: sid }) => sid), total];
  };
  expect(found({})).toEqual([[4, 1, 2, 3], 4]);
  expect(found({ from: 1, limit: 2 })).toEqual([[1, 2], 4]);
  expect([found({ signatureId: 3 }), found({ text: "lua" }), found({ category: "et-info" }), found({ technique: "t1071" }), found({ technique: "t107" })])
    .toEqual([[[3], 1], [[3], 1], [[4], 1], [[1], 1], [[], 0]]);
  expect([found({ state: "enabled" }), found({ state: "disabled" }), found({ state: "refused" }), found({ state: "modified" })]).toEqual([[[4, 1], 2], [[2], 1], [[3], 1], [[4], 1]]);
});
