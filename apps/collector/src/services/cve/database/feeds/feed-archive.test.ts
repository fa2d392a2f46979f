import { existsSync, readdirSync } from "node:fs";
import { silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { zipOf } from "../../../../archives/testing/zip-archive.ts";
import { importFeeds } from "../import.ts";
import type { CveImport } from "../import-types.ts";
import { type CveReader, openCveReader } from "../reader.ts";
import { type CveFolder, createCveFolder, jsonLines, manySamples } from "../testing/nvd.ts";

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

const take = (bytes: Buffer, format: CveImport["feeds"][number]["format"] = null) => {
  const wish = folder.wish(folder.write("feed.zip", bytes));
  return importFeeds({ ...wish, feeds: wish.feeds.map((feed) => ({ ...feed, format })) }, () => {});
};

/** A record of the CVE list. */
const cve = (number: number): string => JSON.stringify({
  dataType: "CVE_RECORD", dataVersion: "5.1",
  cveMetadata: { cveId: `CVE-2026-${number}`, state: "PUBLISHED", datePublished: "2026-01-01T00:00:00Z", dateUpdated: "2026-01-02T00:00:00Z" },
  containers: { cna: { descriptions: [{ lang: "en", value: `Fault ${number}.` }], affected: [{ vendor: "example", product: "server", versions: [{ version: "1.0", status: "affected" }] }] } },
}, null, 2);
const osv = (number: number, release = "12"): string => JSON.stringify({
  schema_version: "1.7.0", id: `DSA-${number}`, modified: "2026-01-01T00:00:00Z", upstream: [`CVE-2026-${number}`],
  affected: [{ package: { ecosystem: `Debian:${release}`, name: "server" }, ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: `1.${number}-1` }] }] }],
});
const many = (of: (number: number) => string, count = 500) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`cves/2026/1xxx/CVE-2026-${1000 + index}.json`, of(1000 + index)]));

describe("an archive of files with a record each", () => {
  test("is read file by file, without what else is in it", async () => {
    const result = await take(zipOf({ "README.md": "words", "cves/": "", ...many(cve), "cves/deltaLog.json": '[{"fetchTime":"x"}]' }), "cve-list");
    expect(result).toMatchObject({ state: "imported", feeds: [{ kind: "cve-list", added: 500, records: 501, refused: 1, error: null }] });
    expect(reader.record("CVE-2026-1499")?.description).toBe("Fault 1499.");
    expect(readdirSync(folder.directory).toSorted()).toEqual(["current.db", "import.lock"]);
  });

  test("is found in an archive too, as the CVE list's release has it", async () => {
    const result = await take(zipOf({ "cves.zip": zipOf(many(cve)) }));
    expect(result).toMatchObject({ state: "imported", feeds: [{ kind: "cve-list", added: 500 }] });
    expect(readdirSync(folder.directory).toSorted()).toEqual(["current.db", "import.lock"]);
    const inMany = await take(zipOf({ "x.zip": zipOf({ "y.zip": zipOf(many(cve, 3)) }) }));
    expect(inMany.feeds).toMatchObject([{ error: expect.stringContaining("archive in an archive in an archive") as string }]);
  });

  test("is read without the single ones that are broken, and refused where many are", async () => {
    const broken = { "cves/a.json": cve(1).slice(0, -20), "cves/b.json": "{{{", "cves/c.json": "" };
    expect(await take(zipOf({ ...many(cve), ...broken }))).toMatchObject({ state: "imported", feeds: [{ added: 500, refused: 3, error: null }] });
    const halves = zipOf({ ...many(() => "{", 100), ...many(cve, 50) });
    expect(await take(halves)).toMatchObject({ state: "refused", feeds: [{ error: expect.stringContaining("cannot be read") as string }] });
  });

  test("of a distribution's advisories says what fixes what", async () => {
    await take(zipOf(many(cve, 3)));
    expect(await take(zipOf(many(osv)), "osv")).toMatchObject({ state: "imported", feeds: [{ kind: "osv", added: 500, refused: 0 }] });
    expect(reader.record("CVE-2026-1001")?.fixes).toMatchObject([{ distribution: "debian", package: "server", fixedVersion: "1.1001-1" }]);
  });

  test("fixes a CVE by the last of several advisories, in whatever order they come", async () => {
    const advisory = (id: string, ...fixed: readonly string[]) => JSON.stringify({
      schema_version: "1.7.0", id, modified: "2026-01-01T00:00:00Z", upstream: ["CVE-2026-1001"],
      affected: [{ package: { ecosystem: "Debian:12", name: "server" }, ranges: fixed.map((version) => ({ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: version }] })) }],
    });
    await take(zipOf(many(cve, 3)));
    const fixed = async (files: Readonly<Record<string, string>>) => {
      await take(zipOf(files));
      return reader.record("CVE-2026-1001")?.fixes.map(({ fixedVersion }) => fixedVersion);
    };
    expect(await fixed({ "1.json": advisory("DSA-1", "1.9-1"), "2.json": advisory("DSA-2", "1.10-1"), "3.json": advisory("DSA-3", "1.9-1+deb12u1") })).toEqual(["1.10-1"]);
    expect(await fixed({ "1.json": advisory("DSA-1", "1.10-1", "1.9-1") })).toEqual(["1.10-1"]);
    expect(await fixed({ "1.json": advisory("DSA-1", "1.9-1") })).toEqual(["1.9-1"]);
  });

  test("names releases as Debian's tracker does, which stands before it, and is forgotten when it says them no more", async () => {
    const tracker = folder.write("debian.json", JSON.stringify({ server: { "CVE-2026-1001": { releases: { bookworm: { status: "resolved", fixed_version: "2.0-1", urgency: "low" } } } } }));
    const fixes = () => reader.record("CVE-2026-1001")?.fixes.map(({ release, fixedVersion }) => [release, fixedVersion]);
    await take(zipOf(many(cve, 3)));
    await take(zipOf(many(osv, 3)));
    expect(fixes()).toEqual([["bookworm", "1.1001-1"]]);
    await importFeeds(folder.wish(tracker), () => {});
    expect(fixes()).toEqual([["bookworm", "2.0-1"]]);
    await take(zipOf(many((number) => osv(number, "11"), 3)));
    expect(fixes()).toEqual([["bookworm", "2.0-1"], ["bullseye", "1.1001-1"]]);
    await take(zipOf({ "DSA-9.json": osv(9) }));
    expect(fixes()).toEqual([["bookworm", "2.0-1"]]);
  });

  test("stands in the place of what the same source said before, from whatever path, one distribution's for itself", async () => {
    const releases = () => reader.record("CVE-2026-1001")?.fixes.map(({ distribution, release, fixedVersion }) => `${distribution} ${release} ${fixedVersion}`);
    const from = async (name: string, bytes: Buffer | string) => expect(await importFeeds(folder.wish(folder.write(name, bytes)), () => {})).toMatchObject({ state: "imported" });
    const ubuntu = (number: number) => osv(number).replace("Debian:12", "Ubuntu:22.04:LTS");
    await take(zipOf(many(cve, 3)));
    await from("march.zip", zipOf(many(osv, 3)));
    await from("ubuntu.zip", zipOf(many(ubuntu, 3)));
    expect(releases()).toEqual(["debian bookworm 1.1001-1", "ubuntu 22.04 1.1001-1"]);
    await from("april.zip", zipOf(many((number) => osv(number, "11"), 3)));
    expect(releases()).toEqual(["debian bullseye 1.1001-1", "ubuntu 22.04 1.1001-1"]);
    await from("DSA-1001.json", osv(1001, "13"));
    expect(releases()).toEqual(["debian bullseye 1.1001-1", "debian trixie 1.1001-1", "ubuntu 22.04 1.1001-1"]);
    await importFeeds(folder.wish(folder.write("may-11.zip", zipOf(many((number) => osv(number, "11"), 3))), folder.write("may-12.zip", zipOf(many(osv, 3)))), () => {});
    expect(releases()).toEqual(["debian bookworm 1.1001-1", "debian bullseye 1.1001-1", "ubuntu 22.04 1.1001-1"]);
    const tracker = (version: string) => JSON.stringify({ server: { "CVE-2026-1001": { releases: { [version]: { status: "resolved", fixed_version: "2.0-1", urgency: "low" } } } } });
    await from("tracker-1.json", tracker("sid"));
    await from("tracker-2.json", tracker("trixie"));
    expect(releases()?.filter((one) => one.includes(" 2.0"))).toEqual(["debian trixie 2.0-1"]);
  });

  test.each([
    ["cut off", () => zipOf(many(cve)).subarray(0, 60_000), "no whole ZIP archive"],
    ["with an encrypted file", () => zipOf(many(cve, 3), { flags: 1 }), "encrypted"],
    ["packed in another way", () => zipOf(many(cve, 3), { method: 93 }), "method 93"],
    ["that lies about its sizes", () => zipOf(many(cve, 3), { claimed: 10 }), "damaged"],
    ["that lies about its names", () => zipOf({ "cves/CVE-2026-1.json": cve(1) }, { localName: "cves/CVE-2026-2.json" }), "damaged"],
    ["that is a bomb", () => zipOf({ "a.json": "{}" }, { claimed: 100_000_000 }), "times its size"],
    ["without a feed", () => zipOf({ "a.json": "{}", "b.txt": cve(1) }), "None of the files"],
    ["without a file", () => zipOf({}), "damaged"],
    ["of another feed", () => zipOf({ "kev.json": '{"title":"x","count":0,"vulnerabilities":[]}' }), "None of the files"],
  ])("%s is refused with the reason, and the last generation answers", async (_, content, reason) => {
    await importFeeds(folder.wish(folder.write("nvd.jsonl", jsonLines(manySamples(5)))), () => {});
    const result = await take(content(), "cve-list");
    expect(result).toMatchObject({ state: "refused", feeds: [{ error: expect.stringContaining(reason) as string }] });
    expect(reader.facts()).toMatchObject({ generation: 1, cves: 5 });
    expect(existsSync(`${folder.directory}/next.db`)).toBe(false);
  });
});

test("weaknesses lead to techniques with names, tactics and what mitigates them, by CAPEC and CWE as they are published", async () => {
  const file = (name: string, bytes: Buffer | string) => folder.write(name, bytes);
  const cwe = (patterns: string) => zipOf({ "cwec_v4.18.xml": `<?xml version="1.0"?><Weakness_Catalog><Weaknesses><Weakness ID="79" Name="XSS" Status="Stable">${patterns}</Weakness></Weaknesses></Weakness_Catalog>` });
  const capec = (status: string) => JSON.stringify({ type: "bundle", objects: [
    { type: "attack-pattern", name: "Pattern", x_capec_status: status, external_references: [{ source_name: "capec", external_id: "CAPEC-63" }, { source_name: "ATTACK", external_id: "T1059" }] },
  ] });
  const object = (type: string, number: number) => `${type}--00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const attack = (changes: object) => JSON.stringify({ type: "bundle", objects: [
    {
      type: "attack-pattern", id: object("attack-pattern", 1), name: "Interpreter", external_references: [{ source_name: "mitre-attack", external_id: "T1059" }],
      kill_chain_phases: [{ kill_chain_name: "mitre-attack", phase_name: "execution" }], ...changes,
    },
    ...[1, 2].flatMap((number) => [
      { type: "course-of-action", id: object("course-of-action", number), name: `Help ${number}`, revoked: number === 2, external_references: [{ source_name: "mitre-attack", external_id: `M100${number}` }] },
      { type: "relationship", relationship_type: "mitigates", source_ref: object("course-of-action", number), target_ref: object("attack-pattern", 1), description: `So ${number}.` },
    ]),
  ] });
  await importFeeds(folder.wish(
    file("nvd.jsonl", jsonLines(manySamples(3))), file("cwe.zip", cwe('<Related_Attack_Pattern CAPEC_ID="63"/>')), file("capec.json", capec("Draft")), file("attack.json", attack({})),
  ), () => {});
  const found = () => {
    const { techniques = [], mitigations = [] } = reader.record("CVE-2025-10001") ?? {};
    return { techniques, mitigations };
  };
  expect(found()).toEqual({
    techniques: [{ id: "T1059", name: "Interpreter", tactics: ["execution"], provenance: "derived", source: "CAPEC-63" }],
    mitigations: [{ id: "M1001", name: "Help 1", technique: "T1059", text: "So 1." }],
  });
  await importFeeds(folder.wish(file("attack.json", attack({ revoked: true }))), () => {});
  expect(found()).toEqual({ techniques: [], mitigations: [] });
  await importFeeds(folder.wish(file("attack.json", attack({}))), () => {});
  expect(found().techniques).toHaveLength(1);
  await importFeeds(folder.wish(file("cwe.zip", cwe(""))), () => {});
  expect(found()).toEqual({ techniques: [], mitigations: [] });
});

test("an archive of a page of records is as the page", async () => {
  const page = jsonLines(manySamples(40));
  expect(await take(zipOf({ "nvd.jsonl": page }))).toMatchObject({ feeds: [{ kind: "nvd-lines", added: 40, error: null }] });
  expect((await take(zipOf({ "nvd.jsonl": page.slice(0, -30) }))).feeds).toMatchObject([{ error: expect.stringContaining("nvd.jsonl: It is cut off") as string }]);
});
