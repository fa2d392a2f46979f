import type { CveDetails, CveFound, List } from "@lanthorn/contract";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { importFeeds } from "./database/import.ts";
import { type CveFolder, createCveFolder, NOW, nvdRecord } from "./database/testing/nvd.ts";
import { openCve } from "./open.ts";

let folder: CveFolder;
let gateway: TestGateway;
let token: string;
beforeEach(async () => {
  folder = createCveFolder();
  gateway = await startTestGateway({ modules: (parts) => [openCve({ data_dir: folder.path }, { ...parts, clock: createFakeClock(NOW), logger: silentLog, program: [process.execPath], lease: null, shared: null })] });
  ({ token } = await gateway.createTenant("viewer"));
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

const call = (path: string) => gateway.call("GET", `/api/v1/cve/${path}`, token);
const search = async (query: string) => {
  const { status, body } = await call(`search?${query}`);
  const { data, meta } = body as List<CveFound>;
  return { status, ids: data.map(({ cve_id: id }) => id), meta };
};

async function load(): Promise<void> {
  const openssh = {
    operator: "OR", negate: false,
    cpeMatch: [{ vulnerable: true, criteria: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", versionStartIncluding: "8.5", versionEndExcluding: "9.8" }],
  };
  const race = nvdRecord({ id: "CVE-2024-6387", description: "A race in sshd of OpenSSH.", score: 8.1, weakness: "CWE-362" }) as { readonly cve: object };
  const lines = [
    { cve: { ...race.cve, configurations: [{ nodes: [openssh] }] } }, nvdRecord({ id: "CVE-2024-0002", description: "Another race.", score: 9.9 }),
    nvdRecord({ id: "CVE-2024-0003", isRejected: true }),
  ];
  const kev = JSON.stringify({ count: 1, vulnerabilities: [{
    cveID: "CVE-2024-6387", vendorProject: "OpenBSD", product: "OpenSSH", vulnerabilityName: "OpenSSH race", dateAdded: "2024-07-02", shortDescription: "A race.",
    requiredAction: "Apply updates.", dueDate: "2024-07-23", knownRansomwareCampaignUse: "Known", notes: "", cwes: [],
  }] });
  const tracker = JSON.stringify({ openssh: { "CVE-2024-6387": { releases: { bookworm: { status: "resolved", fixed_version: "1:9.2p1-2+deb12u3", urgency: "low" } } } } });
  const epss = "#model_version:v2025.03.14,score_date:2026-01-09T00:00:00+0000\ncve,epss,percentile\nCVE-2024-6387,0.5,0.98\n";
  const [technique, mitigation] = ["attack-pattern--00000000-0000-4000-8000-000000000001", "course-of-action--00000000-0000-4000-8000-000000000001"];
  const attack = JSON.stringify({ type: "bundle", objects: [
    { type: "relationship", relationship_type: "mitigates", source_ref: mitigation, target_ref: technique, description: "Update it often.(Citation: Example)" },
    { type: "course-of-action", id: mitigation, name: "Update Software", external_references: [{ source_name: "mitre-attack", external_id: "M1051" }] },
    {
      type: "attack-pattern", id: technique, name: "Exploitation for Privilege Escalation", external_references: [{ source_name: "mitre-attack", external_id: "T1068" }],
      kill_chain_phases: [{ kill_chain_name: "mitre-attack", phase_name: "privilege-escalation" }],
    },
  ] });
  const capec = '<Attack_Pattern_Catalog><Attack_Pattern ID="26" Name="Races" Status="Draft"><Related_Weakness CWE_ID="362"/>'
    + '<Taxonomy_Mapping Taxonomy_Name="ATTACK"><Entry_ID>1068</Entry_ID></Taxonomy_Mapping></Attack_Pattern></Attack_Pattern_Catalog>';
  const { feeds } = await importFeeds(folder.wish(
    folder.write("nvd.jsonl", lines.map((line) => `${JSON.stringify(line)}\n`).join("")), folder.write("kev.json", kev), folder.write("tracker.json", tracker),
    folder.write("epss.csv", epss), folder.write("attack.json", attack), folder.write("capec.xml", capec),
  ), () => {});
  expect(feeds.map(({ error }) => error)).toEqual([null, null, null, null, null, null]);
}

test("while nothing was loaded nothing is found, and what was loaded is found at once", async () => {
  expect(await search("q=race")).toEqual({ status: 200, ids: [], meta: { page: 1, per_page: 100, total: 0, next_cursor: null } });
  expect((await call("CVE-2024-6387")).status).toBe(404);
  await load();
  expect(await search("q=race")).toMatchObject({ ids: ["CVE-2024-6387", "CVE-2024-0002"], meta: { total: 2 } });
  expect(await search("q=race&cvss_min=9")).toMatchObject({ ids: ["CVE-2024-0002"] });
  expect(await search("q=race&per_page=1&page=2")).toMatchObject({ ids: ["CVE-2024-0002"], meta: { page: 2, per_page: 1, total: 2 } });
  expect(await search("q=cve-2024-63")).toMatchObject({ ids: ["CVE-2024-6387"] });
  expect(await search("q=")).toMatchObject({ status: 200, ids: [] });
  for (const query of ["q=race&cvss_min=11", "q=race&page=0", "q=race&per_page=101"]) expect([query, (await call(`search?${query}`)).status]).toEqual([query, 400]);
});

test("a CVE has its ratings, what it affects, and what to do about it", async () => {
  await load();
  const { status, body } = await call("cve-2024-6387");
  expect([status, body as CveDetails]).toEqual([200, {
    cve_id: "CVE-2024-6387", description: "A race in sshd of OpenSSH.", severity: "high", cvss_score: 8.1, published: "2025-12-01", known_exploited: true, epss: 0.5,
    rejected: false, last_modified: "2026-01-01T00:00:00.000Z", epss_percentile: 0.98,
    cvss: [{ version: "3.1", vector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L", score: 8.1, severity: "high", source: "nvd@nist.gov" }],
    weaknesses: ["CWE-362"], kev: { name: "OpenSSH race", added_on: "2024-07-02", due_on: "2024-07-23", ransomware: true },
    references: [{ url: "https://example.org/CVE-2024-6387", tags: ["Vendor Advisory"] }],
    affected: [{ cpe: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", range: ">= 8.5 and < 9.8", vulnerable: true }],
    mitre_techniques: [
      { technique_id: "T1068", name: "Exploitation for Privilege Escalation", tactics: ["privilege-escalation"], provenance: "derived", source: "CAPEC-26" },
    ],
    affected_devices: [], affected_devices_total: 0,
    remediation: {
      fixed_versions: [{ product: "openbsd:openssh", fixed: ["9.8"], last_affected: [] }],
      packages: [{ distribution: "debian", release: "bookworm", package: "openssh", status: "fixed", fixed_version: "1:9.2p1-2+deb12u3" }],
      required_action: "Apply updates.", vendor_advisories: ["https://example.org/CVE-2024-6387"],
      mitigations: [{ mitigation_id: "M1051", name: "Update Software", technique_id: "T1068", description: "Update it often." }],
    },
  }]);
  expect((await call("CVE-2024-0003")).body).toMatchObject({ rejected: true, affected: [] });
  for (const id of ["CVE-2024-9999", "nothing", "CVE-2024-6387%00"]) expect([id, [400, 404].includes((await call(id)).status)]).toEqual([id, true]);
});
