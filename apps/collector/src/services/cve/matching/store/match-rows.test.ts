import { createHash } from "node:crypto";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../../../testing/gateway.ts";
import {
  addSoftware, assignmentsOf, endAssignments, endJudgments, findSoftware, type JudgmentRow, judgmentsAfter, noteReports, putAssignments, putJudgments, putMatchedCves,
  setJudged, type SoftwareRow,
} from "./match-rows.ts";

const AT = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-02T00:00:00.000Z";
let gateway: TestGateway;
let place: { readonly tenantId: string; readonly deviceId: string };
beforeEach(async () => {
  gateway = await startTestGateway({ services: () => [] });
  const tenant = await gateway.createTenant("admin");
  place = { tenantId: tenant.tenantId, deviceId: await gateway.createDevice(tenant, { ip: "10.0.0.5" }) };
});
afterEach(() => gateway.stop());

const write = (work: Parameters<ReturnType<TestGateway["db"]["transaction"]>["execute"]>[0]) => gateway.db.transaction().execute(work);

function software(product: string): SoftwareRow {
  const fingerprint = createHash("sha256").update(product).digest("hex");
  return { id: createId(), fingerprint, evidence: "{}", product, lineage: "", generation: 0, basis: "", judged_at: AT, is_reported: 1 };
}

function judgment(softwareId: string, cveId: string, more: Partial<JudgmentRow> = {}): JudgmentRow {
  return {
    software_id: softwareId, cve_id: cveId, cpe: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", version_range: "< 9.8", confidence: "confirmed", status: "open", is_counted: 1,
    reasons: "[]", remedies: "[]", since: AT, until: null, ...more,
  };
}

test("software that is there already keeps its id, and says by what it was judged", async () => {
  const [one, again] = [software("openbsd:openssh"), software("openbsd:openssh")];
  await write((trx) => addSoftware(trx, [one]));
  await write((trx) => addSoftware(trx, [again]));
  expect(await findSoftware(gateway.db, [one.fingerprint, "none"])).toEqual([{ id: one.id, fingerprint: one.fingerprint, product: one.product }]);
  await write((trx) => setJudged(trx, [{ id: one.id, lineage: "a", generation: 7, basis: "b", judged_at: LATER }]));
  expect(await gateway.db.selectFrom("judged_software").selectAll().execute()).toEqual([{ ...one, lineage: "a", generation: 7, basis: "b", judged_at: LATER }]);
});

test("a judgment that ends and holds again keeps when it held first, and goes with its software", async () => {
  const one = software("openbsd:openssh");
  await write(async (trx) => {
    await addSoftware(trx, [one]);
    await putJudgments(trx, [judgment(one.id, "CVE-2024-0001"), judgment(one.id, "CVE-2024-0002")]);
  });
  await write((trx) => endJudgments(trx, [{ software_id: one.id, cve_id: "CVE-2024-0001" }], LATER));
  const of = async () => (await judgmentsAfter(gateway.db, one.id, { after: "", limit: 10 })).map(({ since, until, status }) => [since, until, status]);
  expect(await of()).toEqual([[AT, LATER, "open"], [AT, null, "open"]]);
  await write((trx) => putJudgments(trx, [judgment(one.id, "CVE-2024-0001", { since: LATER, status: "patched-by-distribution" })]));
  expect(await of()).toEqual([[AT, null, "patched-by-distribution"], [AT, null, "open"]]);
  await gateway.db.deleteFrom("judged_software").execute();
  expect(await of()).toEqual([]);
});

test("what runs on a device is written once, and what is to be reported of it has one row a product", async () => {
  const one = software("openbsd:openssh");
  const { tenantId: tenant_id, deviceId: device_id } = place;
  const row = {
    id: createId(), tenant_id, device_id, service_key: "tcp/22", port: 22, protocol: "tcp", service: "ssh", software_id: one.id, product: one.product, since: AT, until: null,
  };
  await write(async (trx) => {
    await addSoftware(trx, [one]);
    await putAssignments(trx, [row]);
  });
  await write((trx) => endAssignments(trx, [row.id], LATER));
  expect(await assignmentsOf(gateway.db, [device_id])).toEqual([]);
  await write((trx) => putAssignments(trx, [{ ...row, id: createId(), since: LATER }]));
  expect(await assignmentsOf(gateway.db, [device_id])).toEqual([row]);
  for (const due of ["1", "2"]) await write((trx) => noteReports(trx, [{ device_id, tenant_id, product: one.product, due }]));
  const reports = () => gateway.db.selectFrom("cve_reports").selectAll().execute();
  expect(await reports()).toEqual([{ device_id, tenant_id, product: one.product, due: "2", look_at: null, cves: "[]", severity: null }]);
  await gateway.db.deleteFrom("devices").where("id", "=", device_id).execute();
  expect([await reports(), await gateway.db.selectFrom("service_software").selectAll().execute()]).toEqual([[], []]);
});

test("what is shown of a CVE takes the newest", async () => {
  const row = {
    cve_id: "CVE-2024-6387", description: "A race.", severity: "high", score: 8.1, published: "2024-07-01", is_kev: 0, epss: 0.2, risk: 1_020_000_081, number: 2_024_000_006_387,
    links: "[]", techniques: '["T1190"]',
  };
  await write((trx) => putMatchedCves(trx, [{ ...row, epss: null }]));
  await write((trx) => putMatchedCves(trx, [row]));
  expect(await gateway.db.selectFrom("matched_cves").selectAll().execute()).toEqual([row]);
});
