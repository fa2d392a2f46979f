import { silentLog } from "@lanthorn/runtime";
import { createHost, createSoftware, type SoftwareEvidence } from "@lanthorn/vulnerability";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importFeeds } from "../database/import.ts";
import { type CveReader, openCveReader } from "../database/reader.ts";
import { type CveFolder, createCveFolder, kevCatalog, nvdRecord } from "../database/testing/nvd.ts";
import { describeMatches } from "./describe-matches.ts";
import { matchSoftware } from "./match-software.ts";

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

/** A CVE of all versions of a product before one. */
function before(id: string, product: string, version: string, score = 5): string {
  const { cve } = nvdRecord({ id, score }) as { readonly cve: object };
  const match = { vulnerable: true, criteria: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`, versionEndExcluding: version };
  return JSON.stringify({ cve: { ...cve, configurations: [{ nodes: [{ operator: "OR", negate: false, cpeMatch: [match] }] }] } });
}

async function load(...lines: readonly string[]): Promise<void> {
  const tracker = JSON.stringify({ openssh: {
    "CVE-2024-0001": { releases: { bookworm: { status: "resolved", fixed_version: "1:9.2p1-2+deb12u3", urgency: "low" } } },
    "CVE-2024-0002": { releases: { bookworm: { status: "resolved", fixed_version: "0", urgency: "low" }, trixie: { status: "resolved", fixed_version: "0", urgency: "low" } } },
    "CVE-2024-0003": { releases: { bookworm: { status: "open", urgency: "low" }, trixie: { status: "resolved", fixed_version: "1:9.8p1-1", urgency: "low" } } },
    "CVE-2024-0004": { releases: { trixie: { status: "resolved", fixed_version: "1:9.8p1-1", urgency: "low" } } },
  } });
  const epss = "#model_version:v2025.03.14,score_date:2026-01-09T00:00:00+0000\ncve,epss,percentile\nCVE-2024-0002,0.9,0.99\nCVE-2024-0003,0.1,0.5\n";
  const result = await importFeeds(folder.wish(
    folder.write("nvd.jsonl", `${lines.join("\n")}\n`), folder.write("kev.json", kevCatalog(["CVE-2024-0003"])), folder.write("epss.csv", epss), folder.write("tracker.json", tracker),
  ), () => {});
  expect(result.feeds.map(({ error }) => error)).toEqual([null, null, null, null]);
}

const OPENSSH = ["CVE-2024-0001", "CVE-2024-0002", "CVE-2024-0003", "CVE-2024-0004"].map((id, index) => before(id, "openbsd:openssh", "9.8", index === 3 ? 9 : 7));
const software = (evidence: Partial<SoftwareEvidence>, cpes: readonly string[] = []) => createSoftware({
  vendor: "openbsd", product: "openssh", version: "9.2p1", edition: "", distribution: "", package_version: "", cpe: "", source: "test", ...evidence,
}, createHost(cpes));

test("what is known to be exploited stands first, then what is likely to be, then what is graver", async () => {
  await load(...OPENSSH, before("CVE-2024-0005", "openbsd:openssh", "9.0"), before("CVE-2024-0006", "example:openssh", "9.8"));
  const matches = matchSoftware(reader, software({}));
  expect(matches.map(({ id }) => id)).toEqual(["CVE-2024-0003", "CVE-2024-0002", "CVE-2024-0004", "CVE-2024-0001"]);
  expect(matches[0]).toMatchObject({
    isKev: true, epss: 0.1, score: 7, confidence: "confirmed", status: "open", isCounted: true, range: "< 9.8",
    cpe: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", remedies: [{ product: "openbsd:openssh", fixed: ["9.8"], lastAffected: [] }],
  });
});

test("a distribution's build is judged by what the distribution says of its release", async () => {
  await load(...OPENSSH);
  const of = (version: string) => Object.fromEntries(matchSoftware(reader, software({ distribution: "debian", package_version: version }))
    .map(({ id, status, confidence, isCounted }) => [id.slice(-1), `${status} ${confidence} ${isCounted}`]));
  expect(of("1:9.2p1-2+deb12u3")).toEqual({
    1: "patched-by-distribution confirmed false", 2: "patched-by-distribution confirmed false", 3: "open confirmed true", 4: "open possible false",
  });
  expect(of("1:9.2p1-2+deb12u2")).toMatchObject({ 1: "open confirmed true" });
  const patched = matchSoftware(reader, software({ distribution: "debian", package_version: "1:9.2p1-2+deb12u3" })).find(({ id }) => id === "CVE-2024-0001");
  expect(patched?.remedies).toEqual([
    { product: "debian bookworm openssh", fixed: ["1:9.2p1-2+deb12u3"], lastAffected: [] }, { product: "openbsd:openssh", fixed: ["9.8"], lastAffected: [] },
  ]);
});

test("a build of an unknown release is patched only where no release of the distribution ever had the flaw", async () => {
  await load(...OPENSSH);
  const of = (host: readonly string[]) => Object.fromEntries(matchSoftware(reader, software({ distribution: "debian" }, host)).map(({ id, status, confidence }) => [id.slice(-1), `${status} ${confidence}`]));
  const expected = { 1: "open possible", 2: "patched-by-distribution confirmed", 3: "open possible", 4: "open possible" };
  expect(of([])).toEqual(expected);
  expect(of(["cpe:2.3:o:debian:debian_linux:12:*:*:*:*:*:*:*"])).toMatchObject({ 1: "open possible", 2: "patched-by-distribution confirmed", 3: "open confirmed" });
});

test("software without a version is never more than possible, and the maker's own entry is only likely", async () => {
  await load(...OPENSSH);
  expect(new Set(matchSoftware(reader, software({ version: "" })).map(({ confidence, isCounted }) => `${confidence} ${isCounted}`))).toEqual(new Set(["possible false"]));
  const record = {
    dataType: "CVE_RECORD", dataVersion: "5.1",
    cveMetadata: { cveId: "CVE-2025-0001", state: "PUBLISHED", datePublished: "2025-01-01T00:00:00Z", dateUpdated: "2025-01-02T00:00:00Z" },
    containers: { cna: {
      providerMetadata: { orgId: "x", shortName: "openbsd" }, descriptions: [{ lang: "en", value: "A fault." }],
      affected: [{ vendor: "openbsd", product: "openssh", cpes: ["cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*"], versions: [{ version: "0", lessThan: "9.9", status: "affected", versionType: "custom" }] }],
    } },
  };
  expect(await importFeeds(folder.wish(folder.write("list.json", JSON.stringify(record))), () => {})).toMatchObject({ state: "imported" });
  expect(matchSoftware(reader, software({})).find(({ id }) => id === "CVE-2025-0001")).toMatchObject({ confidence: "likely", isCounted: true });
});

test("all pages of a product with many CVEs are judged", async () => {
  await load(...Array.from({ length: 400 }, (_, index) => before(`CVE-2024-${1000 + index}`, "example:server", "2.0")));
  expect(matchSoftware(reader, software({ vendor: "example", product: "server", version: "1.0" })).length).toBe(400);
  expect(matchSoftware(reader, software({ vendor: "example", product: "server", version: "2.0" }))).toEqual([]);
});

test("the table has no control characters of a feed in it, and says how many count", async () => {
  await load(...OPENSSH);
  const [match] = matchSoftware(reader, software({}));
  const text = match === undefined ? "" : describeMatches([{ ...match, range: "< \u001B[2J9.8" }]);
  expect(text).toContain("< ?[2J9.8");
  expect(text).toContain("1 in all: 1 affected");
  expect(describeMatches([])).toBe("No known CVE concerns it.");
});
