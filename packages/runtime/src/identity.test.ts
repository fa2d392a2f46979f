import { expect, test } from "vitest";
import { alertIdOf, createId, toInstant } from "./identity.ts";

test("a moment is written as it is, whichever was written before it", () => {
  const moments = [0, 1, 1, 1_700_000_000_123, 0, 1_700_000_000_123];
  expect(moments.map(toInstant)).toEqual(moments.map((at) => new Date(at).toISOString()));
  for (const none of [Number.NaN, Number.NaN, 1e20]) expect(() => toInstant(none)).toThrow(RangeError);
  expect(toInstant(1)).toBe("1970-01-01T00:00:00.001Z");
});

test("an alert's id is of its probe and its incident, and is the same in every version", () => {
  const [probe, incident] = ["01939f6e-2a10-7c3e-8f00-000000000001", "01939f6e-2a10-7c3e-8f00-000000000002"];
  expect(alertIdOf(probe, incident)).toBe("ba53c721-52d4-8565-b977-0f23af167bd9");
  expect(new Set([alertIdOf(probe, incident), alertIdOf(incident, probe), alertIdOf(probe, probe), alertIdOf(`${probe}","`, incident)]).size).toBe(4);
});

test("ids are UUIDv7, each once, in the order in which they were made, of this time", () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, createId);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id.slice(-8))).size).toBeGreaterThan(ids.length - 10);
  const times = ids.map((id) => Number.parseInt(id.replace("-", "").slice(0, 12), 16));
  expect(times[0]).toBeGreaterThanOrEqual(before);
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
});
