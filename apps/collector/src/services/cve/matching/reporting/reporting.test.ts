import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BeforeCve, type MatchWorld, OPENSSH, openMatchWorld } from "../testing/match-world.ts";
import { noteSuppressed, suppressionChanged } from "./report-store.ts";

const openssh = (number: number, more: Partial<BeforeCve> = {}): BeforeCve => ({ id: `CVE-2024-${1000 + number}`, product: "a:openbsd:openssh", before: "9.8", ...more });
const MANY = Array.from({ length: 12 }, (_, index) => openssh(index, { score: index === 3 ? 9.5 : 5 }));

let world: MatchWorld;
beforeEach(async () => {
  world = await openMatchWorld();
});
afterEach(() => world.stop());

const alerts = async () => (await world.alerts()).map(({ status, severity, count, title }) => ({ status, severity, count, title }));
const found = async () => (await world.events("vuln_found")).map(({ cve_id: id, others }) => `${String(id)} ${String(others)}`);

/** Adds or removes a suppression, as the API does. */
async function suppress(row: { readonly cve_id?: string; readonly device_id?: string; readonly product?: string; readonly expires_at?: string } | null): Promise<void> {
  const { db } = world.gateway;
  const { tenantId: tenant_id } = world.admin;
  await db.transaction().execute(async (trx) => {
    const all = { id: createId(), tenant_id, cve_id: null, device_id: null, product: null, site_id: null, reason: "known", created_by: "u", created_at: "", expires_at: null, ...row };
    if (row === null) await trx.deleteFrom("cve_suppressions").execute();
    else await trx.insertInto("cve_suppressions").values(all).execute();
    await suppressionChanged(trx, all);
  });
}

test("a product of a device has one alert, and the ten gravest of its CVEs an event each", async () => {
  await world.load(MANY, { kev: ["CVE-2024-1007"] });
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }, { port: 2222, ...OPENSSH }]);
  await world.match();
  expect(await alerts()).toEqual([{ status: "open", severity: "critical", count: 12, title: "openbsd:openssh on 10.0.0.1 has 12 known vulnerabilities" }]);
  expect((await found()).slice(0, 2)).toEqual(["CVE-2024-1007 2", "CVE-2024-1003 2"]);
  expect((await found()).length).toBe(10);
  await world.match();
  expect((await found()).length).toBe(10);
  await world.setPorts(id, [{ port: 22, ...OPENSSH }]);
  await world.match();
  expect([(await found()).length, (await alerts())[0]?.status]).toEqual([10, "open"]);
  await world.setPorts(id, []);
  await world.match();
  expect((await alerts()).map(({ status }) => status)).toEqual(["resolved"]);
});

test("devices with equal software are reported at their own ports, and two versions on one device together", async () => {
  await world.load([openssh(1, { score: 9.5 }), openssh(2, { before: "9.1" })]);
  const old = { ...OPENSSH, product_version: "8.0p1", cpe: "cpe:2.3:a:openbsd:openssh:8.0:p1:*:*:*:*:*:*" };
  await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await world.addDevice("10.0.0.2", [{ port: 2222, ...OPENSSH }, { port: 2223, ...OPENSSH }]);
  await world.addDevice("10.0.0.3", [{ port: 24, ...OPENSSH }, { port: 25, ...old }]);
  await world.match();
  const reported = (await world.events("vuln_found")).map(({ ip, cve_id: id, matched_port: port, others }) => `${String(ip)} ${String(id)} ${String(port)} ${String(others)}`);
  expect(reported.toSorted()).toEqual(["10.0.0.1 CVE-2024-1001 22 0", "10.0.0.2 CVE-2024-1001 2222 0", "10.0.0.3 CVE-2024-1001 24 0", "10.0.0.3 CVE-2024-1002 25 0"]);
  expect((await world.alerts()).map(({ device_ip: ip, count }) => `${ip} ${count}`).toSorted()).toEqual(["10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 2"]);
});

test("the alert follows what is open, milder ones too, and nothing that is only possible raises one", async () => {
  await world.load(MANY.slice(0, 4));
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await world.addDevice("10.0.0.2", [{ port: 22, ...OPENSSH, product_version: "", cpe: "" }]);
  await world.match();
  expect(await alerts()).toMatchObject([{ severity: "critical", count: 4 }]);
  await world.load([openssh(3, { isRejected: true, modified: "2026-01-05T00:00:00.000" }), openssh(8)]);
  await world.match();
  expect(await alerts()).toMatchObject([{ status: "open", severity: "medium", count: 4 }]);
  expect((await found()).at(-1)).toBe("CVE-2024-1008 0");
  await world.load([openssh(9, { product: "a:example:other" })], { kev: ["CVE-2024-1008"] });
  await world.match();
  expect(await alerts()).toMatchObject([{ status: "open", severity: "critical", count: 4 }]);
  expect((await world.matches(id)).length).toBe(5);
});

test("what is suppressed raises nothing, ends its alert, and is reported when the suppression ends or expires", async () => {
  await world.load(MANY.slice(0, 2));
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await suppress({ cve_id: "CVE-2024-1000", device_id: id });
  await world.match();
  expect([await found(), await alerts()]).toMatchObject([["CVE-2024-1001 0"], [{ count: 1, title: "openbsd:openssh on 10.0.0.1 has a known vulnerability: CVE-2024-1001" }]]);
  await suppress({ product: "openbsd:openssh", expires_at: new Date(world.clock.now() + 500).toISOString() });
  await world.match();
  expect((await alerts()).map(({ status }) => status)).toEqual(["resolved"]);
  await world.clock.advance(501);
  await world.match();
  expect((await alerts()).map(({ status }) => status)).toEqual(["resolved", "open"]);
  await suppress(null);
  await world.match();
  expect((await alerts()).at(-1)).toMatchObject({ status: "open", count: 2 });
});

test("what a suppression of a whole site concerns is noted part by part, each product of each device, and a killed pass is gone on with", async () => {
  await world.load([openssh(1), { id: "CVE-2024-2000", product: "a:f5:nginx", before: "1.25" }]);
  const nginx = { vendor: "F5", product: "nginx", product_version: "1.22.1" };
  for (let number = 1; number <= 7; number += 1) await world.addDevice(`10.0.0.${number}`, [{ port: 22, ...OPENSSH }, { port: 80, ...nginx }]);
  await world.match();
  expect((await alerts()).filter(({ status }) => status === "open").length).toBe(14);
  const { db } = world.gateway;
  const due = async () => (await db.selectFrom("cve_reports").select(["device_id", "product"]).where("due", "is not", null).execute()).length;
  const all = { id: createId(), tenant_id: world.admin.tenantId, cve_id: null, device_id: null, product: null, site_id: world.admin.siteId, reason: "x", created_by: "u", created_at: "", expires_at: null };
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("cve_suppressions").values(all).execute();
    await suppressionChanged(trx, all);
  });
  expect(await due()).toBe(0);
  const steps: number[] = [];
  while (await noteSuppressed(db, 5)) steps.push(await due());
  expect(steps).toEqual([5, 10, 14]);
  await world.match();
  expect((await alerts()).filter(({ status }) => status === "open").length).toBe(0);
});
