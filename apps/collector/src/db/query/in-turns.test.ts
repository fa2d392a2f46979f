import { expect, test } from "vitest";
import { inTurns } from "./in-turns.ts";

test("however many items there are, others have their turn after some thousands", async () => {
  let isOver = false;
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const sizes: number[] = [];
  for await (const piece of inTurns(Array.from({ length: 52_000 }, (_, index) => index))) sizes.push(piece.length);
  isOver = true;
  expect([sizes.length, Math.max(...sizes), sizes.reduce((sum, size) => sum + size, 0)]).toEqual([11, 5000, 52_000]);
  expect(turns).toBeGreaterThanOrEqual(10);
});
