import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLE_KINDS } from "@lanthorn/contract/uplink";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { USED_BUNDLES } from "../daemon/bundle-kinds.ts";
import { type BundleCollector, startBundleCollector } from "./testing/bundle-collector.ts";
import { blockLists } from "./testing/example-kind.ts";

let dataDir: string;
let collector: BundleCollector;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-kind-"));
  collector = await startBundleCollector(dataDir);
});
afterEach(async () => {
  await collector.close();
  rmSync(dataDir, { recursive: true });
});

describe("the kind of bundle in CONTRIBUTING.md", () => {
  test("is the code that the next test runs", () => {
    const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
    const shown = /```ts\n(import \{ isIP \}.*?)```/s.exec(read("../../../../CONTRIBUTING.md"))?.[1];
    expect(shown?.replace('"../bundles/', '"../').replace('"../errors', '"../../errors')).toBe(read("./testing/example-kind.ts"));
  });

  test("takes lists of addresses, delivered like every other kind, and refuses what is none", async () => {
    const lists = { "bad.txt": "192.0.2.1\n2001:db8::1\n", "worse.txt": "192.0.2.2" };
    await collector.publish(1, lists);
    await collector.fetch();
    expect(await collector.install(blockLists)).toBe(1);
    await collector.publish(2, { ...lists, "worse.txt": "192.0.2.2\nexample.com" });
    await collector.fetch();
    await expect(collector.install(blockLists)).rejects.toMatchObject({ code: "bundle-refused" });
    expect(collector.held()).toEqual([1, lists]);
  });
});

test("every kind that a probe uses is one that a collector publishes, and takes as much of it", () => {
  const limits = Object.fromEntries(Object.entries(BUNDLE_KINDS).map(([name, { maxBytes }]) => [name, maxBytes]));
  expect(USED_BUNDLES.length).toBeGreaterThan(0);
  for (const { name, maxBytes } of USED_BUNDLES) expect([name, limits[name]]).toEqual([name, maxBytes]);
});
