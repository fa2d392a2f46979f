import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeRule } from "./change-rule.ts";
import { readRuleList } from "./rule-list.ts";
import { parseRules } from "../rule-set.ts";
import { MAX_RULE_BYTES } from "../text/lines.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const RULE = 'alert tcp any any -> any 80 (msg:"a \\; b"; content:"x"; threshold:type limit, track by_src, count 1, seconds 60; priority:2; sid:1; rev:2;)';

describe("a file of rules", () => {
  test("gives rules that are on and off, with their lines, and no other comment", () => {
    const text = `# Rules of ours\n${RULE}\n\n#alert tcp any any -> any any (sid:2;)\r\n# alert me by mail\nalert udp any any -> \\\n  any 53 (sid:3;)`;
    expect([...readRuleList(bytes(text))].map(({ line, isOn, text: rule }) => [line, isOn, rule?.slice(-7)])).toEqual([[2, true, "rev:2;)"], [4, false, "sid:2;)"], [6, true, "sid:3;)"]]);
  });

  test("with lines of any length gives each but the longest", () => {
    const long = "a".repeat(5 * MAX_RULE_BYTES);
    expect([...readRuleList(bytes(`${long}\n${RULE}\n${long}\\\n${RULE}`))].map(({ line, text }) => [line, text === null])).toEqual([[1, true], [2, false], [3, true]]);
  });

  test("of any bytes is read to its end", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
      for (const { line } of readRuleList(any)) expect(line).toBeGreaterThan(0);
    }));
  });
});

describe("a rule that is changed", () => {
  const changed = (change: Parameters<typeof changeRule>[1]) => parseRules(bytes(changeRule(RULE, change) ?? "")).rules[0];

  test("has another action, priority, threshold or text, and else what it had", () => {
    expect(changed({})).toEqual(parseRules(bytes(RULE)).rules[0]);
    expect(changed({ action: "drop" })).toMatchObject({ action: "drop", message: "a ; b", priority: 2, threshold: { count: 1 } });
    expect(changed({ priority: 1 })).toMatchObject({ priority: 1 });
    expect(changed({ threshold: "type both, track by_dst, count 5, seconds 10" })).toMatchObject({ threshold: { kind: "both", count: 5 } });
    expect(changed({ threshold: null })?.threshold).toBe(null);
    expect(changed({ replace: [{ from: 'content:"x"', to: 'content:"$&"; nocase' }] })?.buffers[0]?.matches).toMatchObject([{ bytes: new Uint8Array([36, 38]) }]);
  });

  test("is none where it was none", () => expect(changeRule("alert tcp", { priority: 1 })).toBe(null));
});
