import { array, assert, constantFrom, property, uint32Array } from "fast-check";
import { expect, test } from "vitest";
import { KEY_WORDS } from "./flow-keys.ts";
import { createFlowSet } from "./flow-set.ts";

const keys = array(uint32Array({ minLength: KEY_WORDS, maxLength: KEY_WORDS, max: 3 }), { maxLength: 60 });
const textOf = (key: Uint32Array) => key.join(" ");

test("a set has the keys that were added, each once, and says when there was no room for one", () => {
  assert(property(keys, constantFrom(8, 16, 1024), (added, places) => {
    const set = createFlowSet({ places });
    for (const key of added) set.add(key, 0);
    const kept: string[] = [];
    set.forEach((key) => kept.push(textOf(key)));
    const distinct = new Set(added.map(textOf));
    expect(new Set(kept).size).toBe(kept.length);
    expect(kept.every((text) => distinct.has(text))).toBe(true);
    expect(set.isWhole).toBe(kept.length === distinct.size);
    if (distinct.size <= 8) expect(set.isWhole).toBe(true);
  }));
});
