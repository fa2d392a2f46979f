import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestCa } from "../identity/testing/collector.ts";
import { createBundleWatch } from "./bundle-watch.ts";
import { type BundleCollector, NAME, startBundleCollector } from "./testing/bundle-collector.ts";

let dataDir: string;
let collector: BundleCollector;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-bundles-"));
  collector = await startBundleCollector(dataDir);
});
afterEach(async () => {
  await collector.close();
  rmSync(dataDir, { recursive: true });
});

describe("the watch over bundles", () => {
  const clock = createFakeClock();
  const open = () => createBundleWatch({
    names: [NAME], dataDir, clock, random: () => 0, log: silentLog, fetch: collector.fetch, install: async () => collector.install(),
  });
  const version = (number: number) => [{ name: NAME, version: number }];

  test("fetches what is announced, says why it could not, tries again, and refuses an older one", async () => {
    const watch = open();
    watch.announced([{ name: "unknown", version: 3 }]);
    await collector.publish(2, { "a.rules": "two" }, { by: await createTestCa() });
    watch.announced(version(2));
    await expect.poll(() => watch.state()[0]?.error).toContain("signature");
    expect(watch.state()).toMatchObject([{ name: NAME, version: null }]);
    await collector.publish(2, { "a.rules": "two" });
    await expect.poll(async () => {
      await clock.advance(5000);
      return watch.state();
    }).toEqual([{ name: NAME, version: 2, error: null }]);
    const times = collector.requests.length;
    watch.announced(version(2));
    watch.announced(version(1));
    await expect.poll(() => watch.state()[0]?.error).toContain("older");
    expect([watch.state()[0]?.version, collector.requests.length]).toEqual([2, times]);
    await watch.close();
  });

  test("goes back to the version before when one fails in use, says so after a restart too, and takes the next", async () => {
    const first = open();
    for (const number of [1, 2]) {
      await collector.publish(number, { "a.rules": String(number) });
      first.announced(version(number));
      await expect.poll(() => first.state()).toEqual([{ name: NAME, version: number, error: null }]);
    }
    first.failed(NAME, "it took\nall memory");
    const back = [{ name: NAME, version: 1, error: "version 2 failed in use: it took all memory" }];
    expect([first.state(), collector.held()]).toEqual([back, [1, { "a.rules": "1" }]]);
    await first.close();
    const times = collector.requests.length;
    const second = open();
    second.announced(version(2));
    await clock.advance(3_600_000);
    expect([second.state(), collector.requests.length]).toEqual([back, times]);
    await collector.publish(3, { "a.rules": "3" });
    second.announced(version(3));
    await expect.poll(() => second.state()).toEqual([{ name: NAME, version: 3, error: null }]);
    expect(collector.held()).toEqual([3, { "a.rules": "3" }]);
    await second.close();
  });

  test("has none where the first one fails in use, and does not take it again", async () => {
    const watch = open();
    await collector.publish(1, { "a.rules": "1" });
    watch.announced(version(1));
    await expect.poll(() => watch.state()[0]?.version).toBe(1);
    watch.failed(NAME, "broken");
    watch.announced([]);
    const times = collector.requests.length;
    watch.announced(version(1));
    await clock.advance(3_600_000);
    expect([watch.state(), collector.held(), collector.requests.length]).toEqual([[{ name: NAME, version: null, error: "version 1 failed in use: broken" }], [0, {}], times]);
    await watch.close();
  });
});
