import { expect, test } from "vitest";
import { changesOf } from "./changes.ts";

test("only what differs is a change, and an object that comes or goes has all its fields", () => {
  expect(changesOf({ before: { name: "Hall", tags: ["a"], id: 1 }, after: { name: "Hall 2", tags: ["a"], id: 1 } })).toEqual([{ name: "name", before: "Hall", after: "Hall 2" }]);
  expect(changesOf({ before: null, after: { role: "admin", email: null } })).toEqual([{ name: "email", before: "", after: "null" }, { name: "role", before: "", after: "admin" }]);
  expect(changesOf({ before: JSON.parse('{"__proto__":"x"}') as Record<string, unknown>, after: null })).toEqual([{ name: "__proto__", before: "x", after: "" }]);
  expect(changesOf({ before: null, after: null })).toEqual([]);
});
