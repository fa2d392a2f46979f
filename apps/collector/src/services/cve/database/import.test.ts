import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFeedBytes } from "./feeds/feed-bytes.ts";
import { clearLeftovers, currentFile, lockDatabases, nextFile } from "./files.ts";
import { importFeeds } from "./import.ts";
import type { CveImportProgress } from "./import-types.ts";
import { type CveReader, openCveReader } from "./reader.ts";
import { createCveSearch, type CveSearch } from "./search/search-work.ts";
import { apiPage, type CveFolder, createCveFolder, jsonLines, kevCatalog, manySamples } from "./testing/nvd.ts";

let folder: CveFolder;
let reader: CveReader;
beforeEach(() => {
  folder = createCveFolder();
  reader = openCveReader(folder.directory, { log: silentLog });
});
afterEach(() => {
  reader.close();
  folder.remove();
});

const take = (...files: readonly string[]) => importFeeds(folder.wish(...files), () => {});
const search = (text: string, changes: Partial<CveSearch> = {}) =>
  createCveSearch(folder.directory)({ text, cvssMin: null, order: "risk", page: 1, perPage: 20, ...changes });
const idsOf = (text: string, changes: Partial<CveSearch> = {}) => search(text, changes).items.map(({ id }) => id);
const candidateIds = (vendor: string, product: string) => reader.candidates(vendor, product).items.map(({ id }) => id);

const SSH = "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*";
const FIRST = [
  { id: "CVE-2024-6387", description: "A signal handler race in OpenSSH.", score: 8.1, cpes: [SSH, "cpe:2.3:a:openbsd:openssh:9.3:*:*:*:*:*:*:*"] },
  { id: "CVE-2025-10001", description: "A heap overflow in example httpd.", score: 9.8, cpes: ["cpe:2.3:a:example:httpd\\-core:*:*:*:*:*:*:*:*"] },
  { id: "CVE-2025-0003", description: "A race in something without products.", score: 4 },
];

describe("a first import", () => {
  test("answers by id, product and words, where nothing was before", async () => {
    expect([reader.facts(), reader.record("CVE-2024-6387"), reader.candidates("openbsd", "openssh").items, search("race").items]).toEqual([null, null, [], []]);
    const progress: CveImportProgress[] = [];
    const file = folder.write("nvd.json", apiPage(FIRST));
    const result = await importFeeds(folder.wish(file), (one) => progress.push(one));
    expect(result).toMatchObject({ state: "imported", error: null, generation: 1, isFresh: true, before: null, after: { cves: 3, configured: 2 } });
    expect(result.feeds).toMatchObject([{ kind: "nvd-page", records: 3, added: 3, changed: 0, refused: 0, error: null }]);
    expect(progress.map(({ stage }) => stage)).toContain("finishing");
    expect(reader.facts()).toMatchObject({ generation: 1, cves: 3, configured: 2, builtAt: "2026-01-10T00:00:00.000Z" });
    expect(reader.record("CVE-2024-6387")).toMatchObject({
      id: "CVE-2024-6387", isRejected: false, description: "A signal handler race in OpenSSH.", published: "2025-12-01T10:00:00.000Z",
      weaknesses: ["CWE-79"], references: [{ url: "https://example.org/CVE-2024-6387", tags: ["Vendor Advisory"] }],
      metrics: [{ version: "3.1", score: 8.1, isPrimary: true }], kev: null, epss: null, techniques: [], fixes: [],
    });
    expect(reader.record("CVE-2024-6387")?.statements[0]?.nodes[0]?.matches[0]).toEqual({ isVulnerable: true, criteria: SSH, from: null, to: null, order: "general" });
    expect(reader.candidates("OpenBSD", "openssh")).toMatchObject({ next: null, items: [{ id: "CVE-2024-6387", score: 8.1, isKev: false }] });
    expect([candidateIds("example", "httpd\\-core"), candidateIds("example", "httpd-core"), candidateIds("other", "openssh")]).toEqual([["CVE-2025-10001"], ["CVE-2025-10001"], []]);
    expect(readdirSync(folder.directory).toSorted()).toEqual(["current.db", "import.lock"]);
  });

  test("is found by words, by a word that is begun, by ids, by score, in the order of risk", async () => {
    await take(folder.write("nvd.jsonl", jsonLines(FIRST)));
    expect(idsOf("race")).toEqual(["CVE-2024-6387", "CVE-2025-0003"]);
    expect(idsOf("race signal")).toEqual(["CVE-2024-6387"]);
    expect(idsOf("OPENS")).toEqual(["CVE-2024-6387"]);
    expect(idsOf("cve-2025-")).toEqual(["CVE-2025-10001", "CVE-2025-0003"]);
    expect(idsOf("CVE-2025-00")).toEqual(["CVE-2025-0003"]);
    expect(idsOf("race", { cvssMin: 5 })).toEqual(["CVE-2024-6387"]);
    expect(search("race", { perPage: 1, page: 2 })).toMatchObject({ total: 2, items: [{ id: "CVE-2025-0003" }] });
    expect(idsOf("race", { order: "relevance" }).toSorted()).toEqual(["CVE-2024-6387", "CVE-2025-0003"]);
    for (const text of ["", "  ", '"', "NOT", "race OR", "a* ^b {c} :d -e (", "'; drop table cves", "\u0000", "x".repeat(5000), "race ".repeat(500)]) {
      expect(() => search(text)).not.toThrow();
    }
  });
});

describe("the next import", () => {
  beforeEach(async () => {
    await take(folder.write("nvd.jsonl", jsonLines(FIRST)));
  });

  test("takes newer records, leaves what is as new, and withdraws what was rejected", async () => {
    const file = folder.write("changes.json", apiPage([
      { id: "CVE-2024-6387", description: "Never mind the keyword zebra.", modified: "2026-01-02T00:00:00.000", score: 9.9, cpes: ["cpe:2.3:a:example:other:1:*:*:*:*:*:*:*"] },
      { id: "CVE-2025-10001", description: "An old copy.", modified: "2025-12-31T00:00:00.000" },
      { id: "CVE-2025-0003", description: "Rejected reason: none.", modified: "2026-01-03T00:00:00.000", isRejected: true },
      { id: "CVE-2026-0001", description: "Brand new." },
    ]));
    const result = await take(file);
    expect(result).toMatchObject({ state: "imported", isFresh: false, generation: 2, before: { cves: 3 }, after: { cves: 3, configured: 2 } });
    expect(result.feeds).toMatchObject([{ added: 1, changed: 1, older: 1, withdrawn: 1, refused: 0 }]);
    expect([candidateIds("openbsd", "openssh"), candidateIds("example", "other"), candidateIds("example", "httpd-core")])
      .toEqual([[], ["CVE-2024-6387"], ["CVE-2025-10001"]]);
    expect([idsOf("zebra"), idsOf("signal"), idsOf("products"), idsOf("Rejected"), idsOf("brand")]).toEqual([["CVE-2024-6387"], [], [], [], ["CVE-2026-0001"]]);
    expect(reader.record("CVE-2025-0003")).toMatchObject({ isRejected: true, statements: [] });
    expect(reader.record("CVE-2025-10001")?.description).toBe("A heap overflow in example httpd.");
    expect(reader.changedSince(1)).toEqual({ items: ["CVE-2024-6387", "CVE-2025-0003", "CVE-2026-0001"], next: null });
    expect(reader.changedSince(2).items).toEqual([]);
    expect(reader.changedSince(99).items).toHaveLength(4);
    expect((await take(file)).feeds).toMatchObject([{ added: 0, changed: 0, older: 4 }]);
  });

  test("refuses single records that lie, and takes the others", async () => {
    const result = await take(folder.write("lies.jsonl", [
      jsonLines([
        { id: "CVE-2026-1000", modified: "9999-01-01T00:00:00.000" }, { id: "CVE-24-1" }, { id: "CVE-2026-1001" }, { id: "CVE-2026-1001" },
        { id: "CVE-2026-1002", modified: "2026-01-05T00:00:00.000" }, { id: "CVE-2026-1002", modified: "2026-01-04T00:00:00.000" },
      ]), "{\"cve\":\n", "[]\n", jsonLines([{ id: "CVE-2026-0999" }]),
    ].join("")));
    expect(result.feeds).toMatchObject([{ error: null, records: 9, added: 3, older: 2, refused: 4 }]);
    expect(result.feeds[0]?.reasons.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    expect(reader.facts()?.cves).toBe(6);
  });

  const broken: Readonly<Record<string, () => string | Uint8Array>> = {
    "cut off in a page": () => apiPage(FIRST).slice(0, -20),
    "cut off in a line": () => jsonLines(FIRST).slice(0, -40),
    "cut off in gzip": () => gzipSync(jsonLines(manySamples(2000))).subarray(0, 5000),
    "cut off in xz": () => execFileSync("xz", ["-c"], { input: jsonLines(manySamples(2000)) }).subarray(0, 3000),
    "damaged in xz": () => execFileSync("xz", ["-c"], { input: jsonLines(manySamples(2000)) }).fill(0x55, 400, 500),
    "empty": () => "",
    "an empty gzip": () => gzipSync(""),
    "no feed": () => "<html>502 Bad Gateway</html>",
    "another JSON": () => '{"error":"rate limited"}',
    "with fewer records than it says": () => apiPage(FIRST, 2000),
    "mostly nonsense": () => `${jsonLines(manySamples(30))}${'{"cve":{}}\n'.repeat(30)}`,
    "a gzip bomb": () => gzipSync(Buffer.concat([Buffer.from(jsonLines(FIRST)), Buffer.alloc(80 * 1024 * 1024, " ")])),
  };
  for (const [name, content] of Object.entries(broken)) {
    test(`refuses a file that is ${name}, and the last generation answers`, async () => {
      const result = await take(folder.write("broken", content()));
      expect(result).toMatchObject({ state: "refused", error: "none of the feeds could be used" });
      expect(result.feeds).toMatchObject([{ error: expect.stringMatching(/./) }]);
      expect([reader.facts()?.generation, candidateIds("openbsd", "openssh")]).toEqual([1, ["CVE-2024-6387"]]);
      expect(existsSync(nextFile(folder.directory))).toBe(false);
    });
  }

  test("takes the good ones of several feeds, and nothing of a broken one", async () => {
    const [good, bad] = [folder.write("good.jsonl", jsonLines(manySamples(10))), folder.write("bad.jsonl", jsonLines([{ id: "CVE-2026-7777" }]).repeat(3).slice(0, -9))];
    const result = await take(bad, good, `${folder.path}/missing.jsonl`);
    expect(result).toMatchObject({ state: "imported", generation: 2, after: { cves: 12 } });
    expect(result.feeds.map(({ error }) => error === null)).toEqual([false, true, false]);
    expect(reader.record("CVE-2026-7777")).toBeNull();
  });
});

test("a feed that withdraws much, or what is affected, changes nothing until somebody accepts that", async () => {
  await take(folder.write("many.jsonl", jsonLines(manySamples(2000))));
  const later = { modified: "2026-01-05T00:00:00.000" };
  const rejected = folder.write("rejected.jsonl", jsonLines(manySamples(200, { ...later, isRejected: true })));
  expect(await take(rejected)).toMatchObject({ state: "refused", before: { cves: 2000 }, after: { cves: 1800 } });
  const bare = folder.write("bare.jsonl", jsonLines(manySamples(200, { ...later, cpes: [] })));
  expect(await take(bare)).toMatchObject({ state: "refused", feeds: [{ changed: 200, error: "200 of 200 records that have changed say no longer what they affect" }] });
  expect(reader.facts()).toMatchObject({ generation: 1, cves: 2000, configured: 2000 });
  expect(await importFeeds({ ...folder.wish(rejected), acceptsDrop: true }, () => {})).toMatchObject({ state: "imported", generation: 2, after: { cves: 1800 } });
});

test("a small increment that loses what its records affect is refused, one that loses some is counted, and the database says what it had", async () => {
  const later = (day: number) => ({ modified: `2026-01-0${day}T00:00:00.000` });
  const samples = manySamples(2000);
  const bare = (from: number, count: number, day: number) => samples.slice(from, from + count).map((sample) => ({ ...sample, ...later(day), cpes: [] }));
  const same = (from: number, count: number, day: number) => samples.slice(from, from + count).map((sample) => ({ ...sample, ...later(day) }));
  const nvd = (name: string, ...lists: readonly (readonly (typeof samples)[number][])[]) => folder.write(name, jsonLines(lists.flat()));
  await take(nvd("all.jsonl", samples));
  expect(await take(nvd("half.jsonl", bare(0, 25, 3), same(100, 25, 3)))).toMatchObject({ state: "refused", feeds: [{ error: "25 of 50 records that have changed say no longer what they affect" }] });
  expect(reader.facts()).toMatchObject({ generation: 1, configured: 2000, mostConfigured: 2000 });
  for (let part = 0; part < 3; part += 1) expect(await take(nvd(`part-${part}.jsonl`, bare(part * 10, 10, 4), same(100, 50, 4 + part)))).toMatchObject({ state: "imported" });
  expect(reader.facts()).toMatchObject({ generation: 4, cves: 2000, configured: 1970, mostConfigured: 2000 });
  const accepted = nvd("accepted.jsonl", bare(500, 40, 7));
  expect(await importFeeds({ ...folder.wish(accepted), acceptsDrop: true }, () => {})).toMatchObject({ state: "imported" });
  expect(reader.facts()).toMatchObject({ configured: 1930, mostConfigured: 1930 });
});

test("ids out of order and twice leave each record at its newest, in whatever order a feed has them", async () => {
  const samples = manySamples(300);
  const versions = [1, 3, 2].flatMap((day) => samples.map((sample) => ({ ...sample, description: `Day ${day} of it.`, modified: `2026-01-0${day}T00:00:00.000` })));
  // The same order each time, and none that anybody would choose.
  const shuffled = versions.map((sample, index) => [index * 7919 % versions.length, sample] as const).toSorted(([a], [b]) => a - b).map(([, sample]) => sample);
  const result = await take(folder.write("shuffled.jsonl", jsonLines(shuffled)));
  expect(result).toMatchObject({ state: "imported", after: { cves: 300, configured: 300 }, feeds: [{ records: 900, added: 300, refused: 0 }] });
  expect((result.feeds[0]?.changed ?? 0) + (result.feeds[0]?.older ?? 0)).toBe(600);
  expect(new Set(samples.map(({ id }) => reader.record(id)?.description))).toEqual(new Set(["Day 3 of it."]));
  expect(search("day", { perPage: 1000 }).total).toBe(300);
  expect(candidateIds("example", "product7")).toEqual(["CVE-2025-10007", "CVE-2025-10107", "CVE-2025-10207"]);
  expect(await take(folder.write("again.jsonl", jsonLines(shuffled.toReversed())))).toMatchObject({ state: "imported", feeds: [{ added: 0, changed: 0, older: 900 }] });
  expect(await take(folder.write("page.json", apiPage([...samples, ...samples])))).toMatchObject({ state: "imported", feeds: [{ older: 600 }] });
});

test("what other feeds say stands beside each CVE, orders what is found, and is forgotten when a whole feed says it no more", async () => {
  await take(folder.write("nvd.jsonl", jsonLines(FIRST)));
  const kev = (ids: readonly string[]) => folder.write("kev.json", kevCatalog(ids));
  const epss = folder.write("epss.csv.gz", gzipSync("#model_version:v2026.01.01,score_date:2026-01-10T00:00:00+0000\ncve,epss,percentile\nCVE-2025-0003,0.9,0.99\nCVE-2024-6387,0.5,0.95\n"));
  const debian = folder.write("debian.json", JSON.stringify({ openssh: { "CVE-2024-6387": { description: "x", scope: "local", releases: {
    bookworm: { status: "resolved", repositories: { bookworm: "1:9.2p1-2+deb12u3" }, fixed_version: "1:9.2p1-2+deb12u3", urgency: "not yet assigned" },
  } } } }));
  const mappings = folder.write("mappings.csv", "CVE ID,Primary Impact,Secondary Impact,Exploitation Technique,Uncategorized,Phase\nCVE-2024-6387,T1059,,T1190,,Phase 2\n");
  const result = await take(kev(["CVE-2025-0003"]), epss, debian, mappings);
  expect(result.feeds.map(({ kind, error }) => [kind, error])).toEqual([["kev", null], ["epss", null], ["debian", null], ["technique-mappings-csv", null]]);
  expect(reader.record("CVE-2025-0003")).toMatchObject({ kev: { requiredAction: "Update." }, epss: { score: 0.9, percentile: 0.99 } });
  expect(reader.record("CVE-2024-6387")).toMatchObject({
    kev: null, epss: { score: 0.5 }, fixes: [{ distribution: "debian", package: "openssh", release: "bookworm", fixedVersion: "1:9.2p1-2+deb12u3" }],
  });
  expect(reader.record("CVE-2024-6387")?.techniques.map(({ id, provenance }) => [id, provenance]).toSorted()).toEqual([["T1059", "curated"], ["T1190", "curated"]]);
  expect(reader.fixes("debian", "openssh")).toMatchObject([{ id: "CVE-2024-6387", release: "bookworm" }]);
  expect([idsOf("race"), reader.candidates("openbsd", "openssh").items[0]?.epss]).toEqual([["CVE-2025-0003", "CVE-2024-6387"], 0.5]);
  await take(kev(["CVE-2025-10001"]));
  expect([reader.record("CVE-2025-0003")?.kev, idsOf("CVE-20")]).toEqual([null, []]);
  expect([reader.record("CVE-2025-10001")?.kev === null, idsOf("cve-2025-")[0]]).toEqual([false, "CVE-2025-10001"]);
});

test("candidates come in pages, each product's own", async () => {
  await take(folder.write("many.jsonl", jsonLines(manySamples(600, { cpes: ["cpe:2.3:o:example:os:1:*:*:*:*:*:*:*"] }))));
  const ids: string[] = [];
  let after: string | null = null;
  let pages = 0;
  do {
    const page: ReturnType<CveReader["candidates"]> = reader.candidates("example", "os", { after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.next;
    pages += 1;
  } while (after !== null);
  expect([new Set(ids).size, ids.length, pages]).toEqual([600, 600, 5]);
});

test("one import runs at a time, and what a killed one has left is removed", async () => {
  const file = folder.write("nvd.jsonl", jsonLines(FIRST));
  const release = lockDatabases(folder.directory);
  await expect(take(file)).rejects.toMatchObject({ code: "cve-import-failed" });
  writeFileSync(nextFile(folder.directory), "half of a database");
  clearLeftovers(folder.directory);
  expect(existsSync(nextFile(folder.directory))).toBe(true);
  release?.();
  clearLeftovers(folder.directory);
  expect(existsSync(nextFile(folder.directory))).toBe(false);
  writeFileSync(nextFile(folder.directory), "half of a database");
  expect(await take(file)).toMatchObject({ state: "imported" });
});

test("a file that is no database of ours is an empty start, and the one that was open goes on answering", async () => {
  await take(folder.write("nvd.jsonl", jsonLines(FIRST)));
  expect(reader.facts()?.cves).toBe(3);
  writeFileSync(`${folder.path}/other`, readFileSync(currentFile(folder.directory)).fill(0, 0, 4096));
  execFileSync("mv", [`${folder.path}/other`, currentFile(folder.directory)]);
  expect(reader.facts()?.cves).toBe(3);
  expect(await take(folder.write("again.jsonl", jsonLines(FIRST.slice(0, 1))))).toMatchObject({ state: "imported", isFresh: true });
  expect(reader.facts()?.cves).toBe(1);
});

test("reading a file stops at its limits, of octets and of their ratio", async () => {
  const file = folder.write("zeros.gz", gzipSync(Buffer.alloc(70 * 1024 * 1024)));
  expect(await readFeedBytes(file, () => {}, { maxBytes: 1024 * 1024, maxRatio: 1e9 })).toMatchObject({ error: "it unpacks to more than 1 MB" });
  expect((await readFeedBytes(file, () => {}, { maxBytes: 1e12, maxRatio: 200 })).error).toContain("times its size");
  expect((await readFeedBytes(folder.path, () => {})).error).toBe("it is not a file");
  expect((await readFeedBytes(`${folder.path}/none`, () => {})).error).toContain("ENOENT");
});

