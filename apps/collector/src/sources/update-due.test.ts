import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { SourceRow } from "./fetch-source.ts";
import { createDueUpdates } from "./update-due.ts";

const source = (id: string, tenant: string, place: string) => ({ id, tenant_id: tenant, kind: "url", place }) as SourceRow;

/** Sources that are due until they were asked; each is asked until the test ends it. */
function start(rows: readonly SourceRow[], update?: (row: SourceRow) => Promise<void>) {
  const due = new Map(rows.map((row) => [row.id, row]));
  const asked = new Map<string, () => void>();
  const clock = createFakeClock(0);
  const stopper = new AbortController();
  const updates = createDueUpdates<SourceRow>({
    clock, lookEveryMs: 1000, look: () => Promise.resolve(), due: () => Promise.resolve([...due.values()]),
    update: update ?? ((row) => new Promise<void>((resolve) => {
      asked.set(row.id, () => {
        asked.delete(row.id);
        due.delete(row.id);
        resolve();
      });
    })),
  });
  return { due, asked, clock, stopper, updates, running: updates.run(stopper.signal) };
}

test("at most four sources are asked at once, one of a tenant and two of a server, in their order", async () => {
  const rows = [
    source("1", "a", "https://slow.example/1"), source("2", "a", "https://fast.example/2"), source("3", "b", "https://slow.example/3"), source("4", "c", "https://SLOW.example/4"),
    ...["d", "e", "f"].map((tenant, index) => source(`${5 + index}`, tenant, `https://${tenant}.example/`)),
  ];
  const { asked, running } = start(rows);
  await expect.poll(() => [...asked.keys()]).toEqual(["1", "3", "5", "6"]);
  asked.get("1")?.();
  await expect.poll(() => [...asked.keys()]).toEqual(["3", "5", "6", "2"]);
  while (asked.size > 0) {
    asked.values().next().value?.();
    await new Promise(setImmediate);
  }
  await running;
});

test("what becomes due meanwhile is asked when it is said, or at the next look", async () => {
  const { due, asked, clock, updates, running } = start([source("1", "a", "https://a.example/")]);
  await expect.poll(() => asked.size).toBe(1);
  due.set("2", source("2", "b", "https://b.example/"));
  updates.wake();
  await expect.poll(() => asked.size).toBe(2);
  due.set("3", source("3", "c", "https://c.example/"));
  await clock.advance(1000);
  await expect.poll(() => [...asked.keys()]).toEqual(["1", "2", "3"]);
  for (const end of asked.values()) end();
  await running;
});

test("when it is stopped, or one throws, nothing more is begun, and those that are being asked end first", async () => {
  const stopped = start([source("1", "a", "https://a.example/"), source("2", "a", "https://a.example/")]);
  await expect.poll(() => stopped.asked.size).toBe(1);
  stopped.stopper.abort();
  stopped.asked.get("1")?.();
  await stopped.running;
  expect(stopped.asked.size).toBe(0);
  const failed = start([source("1", "a", "https://a.example/")], () => Promise.reject(new Error("the database is gone")));
  await expect(failed.running).rejects.toThrow("the database is gone");
});
