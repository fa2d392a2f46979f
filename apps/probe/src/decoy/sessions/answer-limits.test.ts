import { expect, test } from "vitest";
import { createAnswerLimits } from "./answer-limits.ts";

test("whoever has a network of addresses gets no more answers than who has one; who has shown that an address is theirs, has shown it of that one", () => {
  const limits = createAnswerLimits();
  const ask = (source: string, nowMs: number) => {
    const { room } = limits.room(source, 40, nowMs);
    if (room > 0) limits.sent(source, 40, 40, nowMs);
    return room;
  };
  const answered = (network: string, nowMs: number) => Array.from({ length: 100 }, (_, host) => ask(`${network}${host + 1}`, nowMs)).filter((room) => room > 0).length;
  expect([answered("2001:db8::", 0), answered("2001:db8:0:1::", 0), answered("192.0.2.", 0)]).toEqual([20, 20, 100]);
  limits.prove("2001:db8:0:2::5", 0);
  expect([ask("2001:db8:0:2::5", 0), ask("2001:db8:0:2::6", 0)]).toEqual([1400, 40]);
  expect(answered("2001:db8::", 1000)).toBe(5);
});
