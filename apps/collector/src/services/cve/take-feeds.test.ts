import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nextFile } from "./database/files.ts";
import { apiPage, type CveFolder, createCveFolder, kevCatalog, manySamples, NOW } from "./database/testing/nvd.ts";
import { type Cve, openCve } from "./open.ts";
import type { TakenFeed } from "./take-feeds.ts";
import { NO_DATABASE } from "./testing/no-database.ts";

const PROGRAM = [process.execPath, fileURLToPath(new URL("../../../dist/main.js", import.meta.url))] as const;
const KEV = kevCatalog(["CVE-2025-10001"]);

let folder: CveFolder;
const opened: Cve[] = [];
beforeEach(() => {
  folder = createCveFolder();
});
afterEach(async () => {
  for (const cve of opened.splice(0)) await cve.close?.();
  folder.remove();
});

function open(): Cve {
  const cve = openCve({ data_dir: folder.path }, { ...NO_DATABASE, clock: createFakeClock(NOW), logger: silentLog, program: PROGRAM, shared: null });
  opened.push(cve);
  return cve;
}

const feed = (name: string, format: TakenFeed["format"], content: string): TakenFeed =>
  ({ name, format, isWhole: true, files: [{ name, path: folder.write(name, content) }] });
const options = { onProgress: () => {}, stopped: new AbortController().signal };

test("a collector without a CVE database finds nothing, and answers as soon as feeds were taken", async () => {
  const { reader, takeFeeds } = open();
  expect([reader.facts(), reader.record("CVE-2025-10001")]).toEqual([null, null]);
  const progress: unknown[] = [];
  expect(await takeFeeds([feed("nvd", "nvd", apiPage(manySamples(100))), feed("kev", "kev", KEV)], { ...options, onProgress: (one) => progress.push(one) })).toEqual([]);
  expect(progress).toContainEqual({ feed: "nvd", records: 100, recordsTotal: null });
  expect(reader.facts()).toMatchObject({ cves: 100, generation: 1, builtAt: "2026-01-10T00:00:00.000Z", feeds: [{ name: "kev" }, { name: "nvd" }] });
  expect(reader.record("CVE-2025-10001")).toMatchObject({ kev: { id: "CVE-2025-10001" } });
});

test("a broken feed is named and the others are taken, and where all are broken all are named", async () => {
  const { reader, takeFeeds } = open();
  const unused = await takeFeeds([feed("nvd", "nvd", apiPage(manySamples(100))), feed("kev", "kev", KEV.slice(0, -20))], options);
  expect(unused).toMatchObject([{ name: "kev" }]);
  expect(reader.facts()).toMatchObject({ cves: 100 });
  expect((await takeFeeds([feed("kev", "kev", "<html>")], options)).map(({ name }) => name)).toEqual(["kev"]);
  expect(reader.facts()).toMatchObject({ generation: 1 });
});

test("feeds that together would lose much of the database are refused, and the last generation goes on answering", async () => {
  const { reader, takeFeeds } = open();
  await takeFeeds([feed("nvd", "nvd", apiPage(manySamples(1500)))], options);
  const withdrawn = apiPage(manySamples(1500, { isRejected: true, modified: "2026-01-05T00:00:00.000" }));
  await expect(takeFeeds([feed("nvd", "nvd", withdrawn)], options)).rejects.toThrow(expect.objectContaining({ code: "cve-import-failed" }));
  expect(reader.facts()).toMatchObject({ cves: 1500, generation: 1 });
});

test("what a killed import has left is removed at the start", async () => {
  await open().takeFeeds([feed("nvd", "nvd", apiPage(manySamples(10)))], options);
  writeFileSync(nextFile(folder.directory), "half a database");
  expect(open().reader.facts()).toMatchObject({ cves: 10 });
  expect(existsSync(nextFile(folder.directory))).toBe(false);
});
