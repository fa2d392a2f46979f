import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importFeeds } from "../database/import.ts";
import { apiPage, type CveFolder, createCveFolder, manySamples, NOW } from "../database/testing/nvd.ts";
import { type Cve, openCve } from "../open.ts";
import { NO_DATABASE } from "../testing/no-database.ts";

interface Replica {
  readonly folder: CveFolder;
  readonly cve: Cve;
  /** Builds its own database anew, at a later time for each `at`. */
  build(at: number, count: number): Promise<void>;
  facts(): readonly [at: number, cves: number] | null;
}

let shared = "";
const replicas: Replica[] = [];
beforeEach(() => {
  shared = join(mkdtempSync(join(tmpdir(), "cve-shared-")), "cve-database");
});
afterEach(async () => {
  for (const { cve, folder } of replicas.splice(0)) {
    await cve.close?.();
    folder.remove();
  }
  rmSync(join(shared, ".."), { recursive: true, force: true });
});

function open(): Replica {
  const folder = createCveFolder();
  const cve = openCve({ data_dir: folder.path }, { ...NO_DATABASE, clock: createFakeClock(NOW), logger: silentLog, program: [process.execPath], shared });
  const replica: Replica = {
    folder, cve,
    async build(at, count) {
      const file = folder.write("nvd.json", apiPage(manySamples(count)));
      expect(await importFeeds({ ...folder.wish(file), now: NOW + at }, () => {})).toMatchObject({ state: "imported" });
    },
    facts() {
      const facts = cve.loaded();
      return facts === null ? null : [Date.parse(facts.builtAt) - NOW, facts.entries];
    },
  };
  replicas.push(replica);
  return replica;
}

test("what one collector has built the others take, each the newest, whoever built it", async () => {
  const [one, two, three] = [open(), open(), open()];
  for (const { cve } of [one, two]) await cve.refresh();
  expect([one.facts(), two.facts()]).toEqual([null, null]);
  await one.build(1000, 10);
  for (const { cve } of [one, two, three]) await cve.refresh();
  expect([two.facts(), three.facts()]).toEqual([[1000, 10], [1000, 10]]);
  expect(readFileSync(join(two.folder.directory, "current.db")).equals(readFileSync(join(one.folder.directory, "current.db")))).toBe(true);
  // The leader has changed: the next one builds upon what it took.
  await two.build(2000, 15);
  for (const { cve } of [one, two, three, one]) await cve.refresh();
  expect([one.facts(), three.facts(), one.cve.reader.facts()?.generation]).toEqual([[2000, 15], [2000, 15], 2]);
  for (let at = 3; at < 7; at += 1) {
    await three.build(at * 1000, 20);
    await three.cve.refresh();
  }
  expect(readdirSync(shared).filter((name) => name.endsWith(".db"))).toHaveLength(2);
  expect(readdirSync(shared)).toHaveLength(3);
});

test("one that is built is not replaced meanwhile, and many calls at once copy once", async () => {
  const [one, two] = [open(), open()];
  await one.build(1000, 10);
  await Promise.all([one.cve.refresh(), one.cve.refresh(), one.cve.refresh()]);
  expect(readdirSync(shared)).toHaveLength(2);
  await Promise.all([two.build(2000, 5), two.cve.refresh()]);
  await two.cve.refresh();
  await one.cve.refresh();
  expect([one.facts(), two.facts()]).toEqual([[2000, 5], [2000, 5]]);
});

test("what is damaged is not taken, another version's neither, and the own one goes on answering", async () => {
  const [one, two] = [open(), open()];
  await two.build(500, 3);
  await one.build(1000, 10);
  await one.cve.refresh();
  const name = readdirSync(shared).find((file) => file.endsWith(".db")) ?? "";
  const whole = readFileSync(join(shared, name));
  for (const bytes of [whole.subarray(0, -4096), Buffer.from(whole).fill(1, 9000, 9010)]) {
    writeFileSync(join(shared, name), bytes);
    await expect(two.cve.refresh()).rejects.toMatchObject({ code: "cve-import-failed" });
    expect([two.facts(), readdirSync(two.folder.directory).toSorted()]).toEqual([[500, 3], ["current.db", "import.lock"]]);
  }
  writeFileSync(join(shared, name), whole);
  const manifest = JSON.parse(readFileSync(join(shared, "current.json"), "utf8")) as object;
  writeFileSync(join(shared, "current.json"), JSON.stringify({ ...manifest, schema: 999 }));
  await two.cve.refresh();
  expect(two.facts()).toEqual([500, 3]);
  for (const text of ["", "{", JSON.stringify({ ...manifest, file: "../../etc/passwd" }), JSON.stringify({ ...manifest, schema: 1 })]) {
    writeFileSync(join(shared, "current.json"), text);
    await two.cve.refresh();
    expect(JSON.parse(readFileSync(join(shared, "current.json"), "utf8"))).toMatchObject({ builtAt: new Date(NOW + 500).toISOString() });
  }
  await one.cve.refresh();
  await two.cve.refresh();
  expect(two.facts()).toEqual([1000, 10]);
});

test("a folder that cannot be used is said, and the own one goes on answering", async () => {
  writeFileSync(shared, "a file");
  const one = open();
  await one.build(1000, 10);
  await expect(one.cve.refresh()).rejects.toMatchObject({ code: "cve-import-failed" });
  expect(one.facts()).toEqual([1000, 10]);
});
