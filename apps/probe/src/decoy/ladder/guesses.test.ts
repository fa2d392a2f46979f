import type { HoneypotCredentials } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createGuesses } from "./guesses.ts";

const guess = (password: string, username = "root") => ({ service: "ftp", username, password, is_bait: false });

function createWatched() {
  const guesses = createGuesses();
  const sent: HoneypotCredentials[] = [];
  let last = 0;
  return {
    guesses, flush(nowMs: number, isTaken = true) {
      sent.length = 0;
      const numbers: number[] = [];
      guesses.flush(nowMs, (number, credentials) => {
        last = number;
        return numbers.push(number) > 0 && sent.push(credentials) > 0;
      });
      if (isTaken) for (const number of numbers) guesses.taken(number);
      return [...sent];
    }, last: () => last,
  };
}

test("each pair is sent once in its incident, and as often as there are incidents", () => {
  const { guesses, flush } = createWatched();
  const [first, second] = [createId(), createId()];
  for (const incident of [first, first, second]) guesses.add(incident, "files2", guess("toor"), true);
  guesses.add(first, "files2", guess("toor", "admin"), true);
  expect(flush(0)).toEqual([{ incident_id: first, decoy: "files2", tried: [guess("toor"), guess("toor", "admin")] }, { incident_id: second, decoy: "files2", tried: [guess("toor")] }]);
  guesses.add(first, "files2", guess("toor"), true);
  expect([flush(1), guesses.size]).toEqual([[], 0]);
});

test("what the daemon did not take is sent again, with what came since; what it took is not kept", () => {
  const { guesses, flush, last } = createWatched();
  const incident = createId();
  guesses.add(incident, "files2", guess("a"), true);
  flush(0, false);
  guesses.add(incident, "files2", guess("b"), true);
  expect(flush(1000, false)).toEqual([]);
  guesses.lost();
  expect(flush(1001, false)).toMatchObject([{ tried: [{ password: "a" }, { password: "b" }] }]);
  guesses.add(incident, "files2", guess("c"), true);
  guesses.taken(last());
  expect([guesses.size, flush(1002)]).toMatchObject([1, [{ tried: [{ password: "c" }] }]]);
});

test("a flood of guesses costs no more memory: 64 of an incident, and so many in all", () => {
  const { guesses, flush } = createWatched();
  const incident = createId();
  for (let number = 0; number < 1000; number += 1) guesses.add(incident, "files2", guess(`p${number}`), true);
  expect(guesses.size).toBe(64);
  for (let number = 0; number < 5000; number += 1) guesses.add(createId(), "files2", guess("p"), true);
  expect(guesses.size).toBe(2048);
  while (flush(0).length > 0) expect(guesses.size).toBeLessThan(2048);
  expect(guesses.size).toBe(0);
});

test("forged sources take no room from who connects: what those tried is sent first, and remembered", () => {
  const { guesses, flush } = createWatched();
  const real = createId();
  guesses.add(real, "files2", guess("real"), true);
  flush(0);
  for (let number = 0; number < 20_000; number += 1) {
    guesses.add(createId(), "files2", guess(`forged${number}`), false);
    if (number % 200 === 0) while (flush(0).length > 0) expect(guesses.size).toBeLessThan(257);
  }
  guesses.add(real, "files2", guess("real"), true);
  guesses.add(real, "files2", guess("another"), true);
  expect(flush(0)[0]?.tried).toEqual([guess("another")]);
});
