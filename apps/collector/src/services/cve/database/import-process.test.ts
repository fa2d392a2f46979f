import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inProcess } from "../../../jobs/process.ts";
import { nextFile } from "./files.ts";
import { cveImportTask } from "./import-task.ts";
import type { CveImportProgress } from "./import-types.ts";
import { openCveReader } from "./reader.ts";
import { createSearchThread } from "./search/search-thread.ts";
import { type CveFolder, createCveFolder, jsonLines, manySamples } from "./testing/nvd.ts";

const PROGRAM = [process.execPath, fileURLToPath(new URL("../../../../dist/main.js", import.meta.url))] as const;
const never = new AbortController().signal;
const MANY = 12_000;

let folder: CveFolder;
beforeEach(() => {
  folder = createCveFolder();
});
afterEach(() => folder.remove());

const later = { modified: "2026-01-05T00:00:00.000" };

/** An import in a process that is killed at the first progress of a later stage. @returns How it ended. */
async function killAt(isTime: (progress: CveImportProgress) => boolean, file: string): Promise<string | null> {
  const [program, ...args] = PROGRAM;
  const child = spawn(program, [...args, cveImportTask.command], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write(`${JSON.stringify(folder.wish(file))}\n`);
  createInterface(child.stdout).on("line", (line) => {
    const { progress } = JSON.parse(line) as { readonly progress?: CveImportProgress };
    if (progress && isTime(progress)) child.kill("SIGKILL");
  });
  return new Promise((resolve) => void child.on("close", (_, signal) => resolve(signal)));
}

test("readers and searches are answered over imports in another process, each from one generation or the next", async () => {
  const first = folder.write("first.jsonl", jsonLines(manySamples(5000, { description: "The first word." })));
  const progress: CveImportProgress[] = [];
  expect(await inProcess(PROGRAM, cveImportTask)(folder.wish(first), never, (one) => progress.push(one))).toMatchObject({ state: "imported", generation: 1 });
  expect(progress.at(-1)).toMatchObject({ stage: "finishing" });
  expect(progress.filter(({ records }) => records > 0).length).toBeGreaterThan(1);

  const reader = openCveReader(folder.directory, { log: silentLog });
  const searches = createSearchThread(folder.directory, { clock: systemClock, log: silentLog });
  try {
    const second = folder.write("second.jsonl", jsonLines(manySamples(5000, { description: "The second word.", ...later })));
    const over = new AbortController();
    const importing = inProcess(PROGRAM, cveImportTask)(folder.wish(second), never).finally(() => over.abort());
    const seen = new Set<string>();
    for (let turn = 0; !over.signal.aborted || turn === 0; turn += 1) {
      const { generation } = reader.facts() ?? { generation: 0 };
      const text = reader.record("CVE-2025-12345")?.description ?? "";
      seen.add(`${generation} ${text}`);
      const [one, two] = [await searches.search(query("first")), await searches.search(query("second"))];
      seen.add(`found ${one.total} ${two.total}`);
    }
    await importing;
    seen.add(`${reader.facts()?.generation} ${reader.record("CVE-2025-12345")?.description}`);
    expect((await searches.search(query("second"))).total).toBe(5000);
    const allowed = new Set(["1 The first word.", "2 The second word.", "found 5000 0", "found 0 5000", "found 5000 5000", "1 The second word."]);
    expect([...seen].filter((one) => !allowed.has(one))).toEqual([]);
    expect(seen).toContain("2 The second word.");
  } finally {
    reader.close();
    await searches.close();
  }
});

const query = (text: string) => ({ text, cvssMin: null, order: "risk" as const, page: 1, perPage: 10 });

test("one that is killed changes nothing, and the next one takes all", async () => {
  const small = folder.write("small.jsonl", jsonLines(manySamples(100)));
  const many = folder.write("many.jsonl", jsonLines(manySamples(MANY, later)));
  const run = inProcess(PROGRAM, cveImportTask);
  await run(folder.wish(small), never);
  const reader = openCveReader(folder.directory, { log: silentLog });
  try {
    expect(await killAt(({ records }) => records >= MANY / 3, many)).toBe("SIGKILL");
    expect(existsSync(nextFile(folder.directory))).toBe(true);
    expect(reader.facts()).toMatchObject({ generation: 1, cves: 100 });
    expect(await killAt(({ stage }) => stage === "finishing", many)).toBe("SIGKILL");
    expect([1, 2]).toContain(reader.facts()?.generation);
    expect(await run(folder.wish(many), never)).toMatchObject({ state: "imported", after: { cves: MANY } });
    expect(reader.facts()?.cves).toBe(MANY);
    expect(readdirSync(folder.directory).toSorted()).toEqual(["current.db", "import.lock"]);
  } finally {
    reader.close();
  }
});

test("one that is aborted leaves nothing, nor one that may write no more", async () => {
  const file = folder.write("many.jsonl", jsonLines(manySamples(MANY)));
  const aborter = new AbortController();
  await expect(inProcess(PROGRAM, cveImportTask)(folder.wish(file), aborter.signal, () => aborter.abort())).rejects.toMatchObject({ code: "cve-import-failed" });
  expect(readdirSync(folder.directory)).toEqual(["import.lock"]);
  // As a disk that is full in the middle: the database is larger than this.
  await expect(inProcess(["prlimit", "--fsize=2000000", ...PROGRAM], cveImportTask)(folder.wish(file), never)).rejects.toMatchObject({ code: "cve-import-failed" });
  expect(readdirSync(folder.directory)).toEqual(["import.lock"]);
});

const SUBSET = fileURLToPath(new URL("../../../../../../../shared/data/cve/subset.jsonl.xz", import.meta.url));

test("real records come in and are found", async ({ skip }) => {
  if (!existsSync(SUBSET)) skip("no shared data");
  const result = await inProcess(PROGRAM, cveImportTask)({ ...folder.wish(SUBSET), now: Date.UTC(2100, 0, 1) }, never);
  const reader = openCveReader(folder.directory, { log: silentLog });
  try {
    console.log(`the CVE database took ${result.feeds[0]?.records} real records, ${result.after?.configured} of them with what they affect, in ${result.bytes} bytes`);
    expect(result).toMatchObject({ state: "imported", error: null });
    expect(result.feeds).toMatchObject([{ kind: "nvd-lines", refused: 0, error: null }]);
    expect(reader.candidates("openbsd", "openssh").items.length).toBeGreaterThan(20);
    expect(reader.record("CVE-2024-6387")?.metrics[0]?.score).toBe(8.1);
  } finally {
    reader.close();
  }
});

test("the command imports files, says what became of each, and prints JSON", () => {
  const [program, ...args] = PROGRAM;
  const configuration = folder.write("collector.toml", `data_dir = "${folder.path}/data"\n`);
  const good = folder.write("good.jsonl", jsonLines(manySamples(10)));
  const run = (...more: readonly string[]) => execFileSync(program, [...args, "feeds", "import", "--config", configuration, ...more], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  expect(run(good)).toBe([
    "good.jsonl (nvd-lines): 10 records: 10 new, 0 changed, 0 known already",
    `The CVE database has 10 CVEs now, 10 of them with the products that they affect, in ${Math.round(statSync(`${folder.path}/data/cve/current.db`).size / 1e6)} MB.\n`,
  ].join("\n"));
  expect(JSON.parse(run("--json", good))).toMatchObject({ state: "imported", generation: 2, feeds: [{ older: 10 }] });
  writeFileSync(good, readFileSync(good).subarray(0, -10));
  expect(() => run(good)).toThrow(/Command failed/);
});
