import { rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BeforeCve, type MatchWorld, OPENSSH, openMatchWorld } from "./testing/match-world.ts";

const DEBIAN = {
  ...OPENSSH, distribution: "debian", package_version: "1:9.2p1-2+deb12u3",
};
const NGINX = { vendor: "F5", product: "nginx", product_version: "1.22.1" };
const LATER = { modified: "2026-01-05T00:00:00.000" };
const openssh = (number: number, more: Partial<BeforeCve> = {}): BeforeCve => ({ id: `CVE-2024-000${number}`, product: "a:openbsd:openssh", before: "9.8", ...more });

let world: MatchWorld;
beforeEach(async () => {
  world = await openMatchWorld();
});
afterEach(() => world.stop());

const software = () => world.gateway.db.selectFrom("judged_software").selectAll().execute();
const waiting = async () => (await world.gateway.db.selectFrom("software_changes").selectAll().execute()).length;

test("changes wait for a CVE database, and equal evidence of many devices is judged once", async () => {
  const devices = [await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }, { port: 80, ...NGINX }]), await world.addDevice("10.0.0.2", [{ port: 2222, ...OPENSSH }])];
  await world.match();
  expect([await waiting(), await software()]).toEqual([2, []]);
  await world.load([openssh(1), openssh(2, { before: "9.0" }), { id: "CVE-2024-0009", product: "a:f5:nginx", before: "1.25" }]);
  await world.match();
  expect(await waiting()).toBe(0);
  expect((await software()).map(({ product, generation, is_reported: reported }) => `${product} ${generation} ${reported}`).toSorted()).toEqual(["f5:nginx 1 1", "openbsd:openssh 1 1"]);
  expect(await world.matches(devices[0] ?? "")).toEqual(["22 CVE-2024-0001 confirmed open 1", "80 CVE-2024-0009 confirmed open 1"]);
  expect(await world.matches(devices[1] ?? "")).toEqual(["2222 CVE-2024-0001 confirmed open 1"]);
  const shown = await world.gateway.db.selectFrom("matched_cves").selectAll().orderBy("cve_id").execute();
  expect(shown.map(({ cve_id: id, score, severity, links }) => [id, score, severity, links])).toEqual([
    ["CVE-2024-0001", 5, "medium", '["https://example.org/CVE-2024-0001"]'], ["CVE-2024-0009", 5, "medium", '["https://example.org/CVE-2024-0009"]'],
  ]);
});

test("a match is resolved when its software is updated or its port is closed, and keeps when it was first seen", async () => {
  await world.load([openssh(1)]);
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await world.match();
  const since = async () => (await world.gateway.db.selectFrom("service_software").select(["since", "until"]).orderBy("since").execute());
  const [first] = await since();
  await world.clock.advance(10);
  await world.setPorts(id, [{ port: 22, ...OPENSSH, product_version: "9.9p1", cpe: "cpe:2.3:a:openbsd:openssh:9.9:p1:*:*:*:*:*:*" }]);
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed open 1 ended"]);
  await world.setPorts(id, []);
  await world.match();
  expect((await since()).filter(({ until }) => until === null)).toEqual([]);
  await world.setPorts(id, [{ port: 22, ...OPENSSH }]);
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed open 1"]);
  expect((await since())[0]).toEqual({ since: first?.since, until: null });
});

test("a newer database judges what its changed CVEs name or named, and nothing else", async () => {
  await world.load([openssh(1), openssh(2), { id: "CVE-2024-0009", product: "a:f5:nginx", before: "1.25" }]);
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }, { port: 80, ...NGINX }]);
  await world.match();
  const judged = new Map((await software()).map((row) => [row.product, row.judged_at]));
  await world.clock.advance(10);
  await world.load([openssh(1, { ...LATER, isRejected: true }), openssh(2, { ...LATER, product: "a:example:other" }), openssh(3)], { kev: ["CVE-2024-0009"] });
  await world.match();
  expect(await world.matches(id)).toEqual([
    "22 CVE-2024-0001 confirmed open 1 ended", "22 CVE-2024-0002 confirmed open 1 ended", "22 CVE-2024-0003 confirmed open 1", "80 CVE-2024-0009 confirmed open 1",
  ]);
  expect((await software()).map(({ generation }) => generation)).toEqual([2, 2]);
  expect([...judged.values()].length).toBe(2);
  expect(await world.gateway.db.selectFrom("matched_cves").select("is_kev").where("cve_id", "=", "CVE-2024-0009").execute()).toEqual([{ is_kev: 1 }]);
});

test("a distribution's build is judged anew when the distribution says something else of it", async () => {
  const tracker = (version: string) => ({ openssh: { "CVE-2024-0001": { releases: { bookworm: { status: "resolved", fixed_version: version, urgency: "low" } } } } });
  await world.load([openssh(1)], { debian: tracker("1:9.2p1-2+deb12u4") });
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...DEBIAN }]);
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed open 1"]);
  await world.load([openssh(9, { product: "a:example:other" })], { debian: tracker("1:9.2p1-2+deb12u3") });
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed patched-by-distribution 0"]);
});

test("platform conditions are judged by what the host is, and software that names no product has no matches", async () => {
  await world.load([openssh(1, { platform: "cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*" })]);
  const [windows, linux, unknown] = [
    await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }, { port: 99, product: "something" }]), await world.addDevice("10.0.0.2", [{ port: 22, ...OPENSSH }]),
    await world.addDevice("10.0.0.3", [{ port: 22, ...OPENSSH }]),
  ];
  for (const [id, guess] of [[windows, "Windows 10"], [linux, "Linux 6.1"]] as const) {
    await world.gateway.db.updateTable("devices").set({ os_guess: guess }).where("id", "=", id).execute();
  }
  await world.match();
  expect([await world.matches(windows), await world.matches(linux), await world.matches(unknown)]).toEqual([
    ["22 CVE-2024-0001 confirmed open 1"], [], ["22 CVE-2024-0001 possible open 0"],
  ]);
});

test("a database that is begun afresh judges all, and one that is broken changes nothing", async () => {
  await world.load([openssh(1)]);
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await world.match();
  const lineage = (await software())[0]?.lineage;
  const file = `${world.folder.directory}/current.db`;
  rmSync(file);
  writeFileSync(file, "no database");
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed open 1"]);
  rmSync(file);
  await world.load([openssh(2)]);
  await world.match();
  expect(await world.matches(id)).toEqual(["22 CVE-2024-0001 confirmed open 1 ended", "22 CVE-2024-0002 confirmed open 1"]);
  expect((await software())[0]?.lineage).not.toBe(lineage);
});

test("what ended long ago is forgotten, with software that runs nowhere and CVEs that concern nothing", async () => {
  await world.load([openssh(1)]);
  const id = await world.addDevice("10.0.0.1", [{ port: 22, ...OPENSSH }]);
  await world.match();
  await world.setPorts(id, []);
  await world.match();
  const forget = world.cve.retention?.[0];
  await forget?.run();
  expect((await world.matches(id)).length).toBe(1);
  await world.gateway.db.updateTable("service_software").set({ until: "2025-10-11T00:00:00.000Z" }).execute();
  await forget?.run();
  const counts = async () => Promise.all((["service_software", "judged_software", "cve_judgments", "matched_cves"] as const).map(async (table) =>
    (await world.gateway.db.selectFrom(table).selectAll().execute()).length));
  expect(await counts()).toEqual([0, 0, 0, 0]);
});
