import { expect, test } from "vitest";
import { createCompiledRules } from "./compiled-rules.ts";

function createRules(count: number) {
  return Array.from({ length: count }, () => {
    const rule = { wasUsed: true, isCompiled: true, forget: () => { rule.isCompiled = false; } };
    return rule;
  });
}

test("no more than the bound are compiled, and those in use stay longest", () => {
  const compiled = createCompiledRules(8);
  const [often, ...others] = createRules(100);
  for (const rule of [often, ...others]) {
    if (!rule) continue;
    compiled.add(rule);
    rule.wasUsed = rule === often;
    if (often) often.wasUsed = true;
  }
  expect(others.filter(({ isCompiled }) => isCompiled)).toHaveLength(7);
  expect(others.slice(-6).every(({ isCompiled }) => isCompiled)).toBe(true);
  expect(often?.isCompiled).toBe(true);
});

test("where all were used the oldest goes", () => {
  const compiled = createCompiledRules(2);
  const [first, second, third] = createRules(3);
  for (const rule of [first, second, third]) if (rule) compiled.add(rule);
  expect([first?.isCompiled, second?.isCompiled, third?.isCompiled]).toEqual([false, true, true]);
});
