import { expect, test } from "vitest";
import type { Pcre } from "../rules/buffer-match.ts";
import { createCompiledExpressions } from "./compiled-expressions.ts";

const FLAGS = { ignoreCase: false, dotAll: false, multiline: false, extended: false, anchored: false, dollarEndOnly: false, ungreedy: false };

function pcre(source: string): Pcre {
  return { kind: "pcre", source, isNegated: false, isRelative: false, flags: FLAGS, captures: [] };
}

test("no more than the bound are kept, and those in use stay longest", () => {
  const compiled = createCompiledExpressions(8);
  const often = pcre("often");
  const kept = compiled.of(often);
  const others = Array.from({ length: 100 }, (_, index) => pcre(`a${index}`));
  const first = others.map((match) => {
    const expression = compiled.of(match);
    expect(compiled.of(often)).toBe(kept);
    return expression;
  });
  expect(compiled.size()).toBe(8);
  for (const index of [95, 96, 97, 98, 99]) expect(compiled.of(others[index] as Pcre)).toBe(first[index]);
  expect(compiled.of(others[0] as Pcre)).not.toBe(first[0]);
});

test("large ones push out others, and the last stays whatever it has", () => {
  const compiled = createCompiledExpressions(100, 1000);
  for (let index = 0; index < 50; index += 1) compiled.of(pcre(`a{10}${index}`));
  expect(compiled.size()).toBeGreaterThan(40);
  compiled.of(pcre("(?:ab){450}"));
  expect(compiled.size()).toBeLessThan(15);
  const huge = pcre("(?:ab){900}");
  const expression = compiled.of(huge);
  expect([compiled.size(), compiled.of(huge) === expression]).toEqual([1, true]);
});

test("what cannot be run is kept too", () => {
  const compiled = createCompiledExpressions();
  const match = pcre("(?R)");
  expect([compiled.of(match), compiled.of(match), compiled.size()]).toEqual([null, null, 1]);
});
