import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createAnswerCache } from "../cache/answer-cache.ts";
import type { Answer } from "../messages/answer.ts";
import { createNameServers } from "./name-servers.ts";

test("a flood of names whose servers are silent takes a part of the lookups, and names resolve without", async () => {
  const waiting: ((answer: Answer | null) => void)[] = [];
  const clock = createFakeClock(0);
  const servers = createNameServers({
    cache: createAnswerCache({ maxBytes: 1_000_000 }), clock, lookups: { find: (_, __, onEnd) => void waiting.push(onEnd), hasRoute: () => false, waiting: 0 },
  });
  let ended = 0;
  const find = (count: number) => {
    for (let index = 0; index < count; index += 1) servers.find([`a.b.c.d.e.f.n${index}.example`], { addresses: true }, () => void (ended += 1));
  };
  find(1000);
  expect([waiting.length, ended]).toEqual([64 * 6, 936]);
  await clock.advance(1000);
  expect(ended).toBe(1000);
  // They count until their lookups end, whoever waits for them.
  find(10);
  expect([waiting.length, ended]).toEqual([64 * 6, 1010]);
  for (const end of waiting.splice(0)) end(null);
  await clock.advance(0);
  find(64);
  expect(waiting.length).toBe(64 * 6);
});

test("of a long chain the question's name and the last three are looked at, each for itself", async () => {
  const asked: string[] = [];
  const servers = createNameServers({
    cache: createAnswerCache({ maxBytes: 1_000_000 }), clock: createFakeClock(0),
    lookups: {
      find(_, { name }, onEnd) {
        asked.push(Buffer.from(name).toString("latin1", 1, 3));
        onEnd(null);
      },
      hasRoute: () => false, waiting: 0,
    },
  });
  const found = await new Promise<readonly unknown[]>((resolve) => {
    servers.find(["n0", "n1", "n2", "n3", "n4", "n5"].map((label) => `${label}.example`), { addresses: false }, resolve);
  });
  expect([asked, found.length]).toEqual([["n0", "n3", "n4", "n5"], 6]);
});
