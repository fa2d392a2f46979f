import { expect, test } from "vitest";
import { createRecent } from "./recent.ts";

test("what was used last is kept, as far as there is room", () => {
  const recent = createRecent<string>(10);
  recent.set("a", "first", 4);
  recent.set("b", "second", 4);
  recent.get("a");
  recent.set("c", "third", 4);
  expect([recent.get("a"), recent.get("b"), recent.get("c")]).toEqual(["first", undefined, "third"]);
});

test("a value that replaces another counts in its place, and one that is too large is not kept", () => {
  const recent = createRecent<string>(10);
  recent.set("a", "small", 4);
  recent.set("a", "large", 6);
  recent.set("b", "other", 4);
  recent.set("c", "too large", 11);
  expect([recent.get("a"), recent.get("b"), recent.get("c")]).toEqual(["large", "other", undefined]);
  recent.set("b", "too large", 11);
  expect(recent.get("b")).toBeUndefined();
});
