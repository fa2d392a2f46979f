import { AuditRecord, ConfigDiff, ConfigVersion, ConfigVersionContent, listEnvelope } from "@lanthorn/contract";
import { createId, type FakeClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestGateway, TestTenant } from "../../testing/gateway.ts";
import { type ConfigVersionsStack, startConfigVersions } from "./testing/stack.ts";

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let deviceId: string;
let path: ConfigVersionsStack["path"];
let upload: ConfigVersionsStack["upload"];
let diff: ConfigVersionsStack["diff"];
beforeEach(async () => {
  ({ clock, gateway, tenant, deviceId, path, upload, diff } = await startConfigVersions());
});
afterEach(() => gateway.stop());

const SECRET = "wrap-ropes-27";
const configuration = (vlan: number, secret = SECRET) => [
  "! Last configuration change at 10:00:01 UTC", "hostname sw1", `snmp-server community ${secret} RO`, "interface Gi0/1",
  ` switchport access vlan ${vlan}`, "end", "",
].join("\r\n");
const list =
  async (query = "") => listEnvelope(ConfigVersion).parse((await gateway.call("GET", path(`/versions${query}`), tenant.token)).body);

describe("a configuration", () => {
  test("is kept once for as long as it says the same, whatever time it says", async () => {
    const first = await upload(configuration(10), { changed_by: "jo", captured_at: "2026-11-19T23:00:00+01:00" });
    expect([first.status, ConfigVersion.parse(first.body)]).toMatchObject([
      201, { version: 1, lines: 6, lines_added: 6, changed_by: "jo", captured_at: "2026-11-19T22:00:00.000Z" },
    ]);
    const again = await upload(configuration(10).replace("10:00:01", "11:11:11").replaceAll("\r\n", "\n"));
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await upload(configuration(20))).status).toBe(201);
    expect((await list()).data.map(({ version, lines_added: added, lines_removed: removed }) => [version, added, removed])).toEqual([
      [2, 1, 1], [1, 6, 0],
    ]);
  });

  test("lies sealed, and shows its secrets to who may reveal them, each time audited", async () => {
    const { id } = ConfigVersion.parse((await upload(configuration(10))).body);
    const [row] = await gateway.reads.selectFrom("config_versions").selectAll().execute();
    expect(row?.content_sealed).not.toContain("hostname");
    const shown = ConfigVersionContent.parse((await gateway.call("GET", path(`/versions/${id}`), tenant.token)).body);
    expect(shown.content).toBe(configuration(10).replaceAll("\r\n", "\n").replace(`${SECRET} RO`, "[secret]"));
    expect(
      ConfigVersionContent.parse((await gateway.call("POST", path(`/versions/${id}/reveal`), tenant.token)).body).content,
    ).toContain(SECRET);
    const operator = await gateway.createUser(tenant, "operator");
    expect((await gateway.call("POST", path(`/versions/${id}/reveal`), operator.token)).error).toMatchObject({
      details: { required: "vault:reveal" },
    });
    expect((await gateway.call("GET", path(`/versions/${id}`), operator.token)).status).toBe(200);
    await gateway.call("DELETE", path(`/versions/${id}`), tenant.token);
    const { data } = listEnvelope(AuditRecord).parse((await gateway.call("GET", "/api/v1/audit", tenant.token)).body);
    expect(data.map(({ action }) => action)).toEqual(["config_version.delete", "config_version.reveal", "config_version.create"]);
    expect(JSON.stringify(data)).not.toContain(SECRET);
  });

  test("that changed is published once and raises an alert; the first one does not", async () => {
    await upload(configuration(10));
    await upload(configuration(20), { changed_by: "jo" });
    const events = await gateway.reads.selectFrom("events").select(["type", "data", "device_id", "site_id"])
      .where("type", "=", "config_changed").execute();
    expect(events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as unknown }))).toEqual([{
      type: "config_changed", device_id: deviceId, site_id: tenant.siteId,
      data: { ip: "10.0.0.2", hostname: "sw1", previous_version: 1, version: 2, lines_added: 1, lines_removed: 1, changed_by: "jo" },
    }]);
    const { body } = await gateway.call("GET", "/api/v1/alerts", tenant.token);
    expect((body as { readonly data: unknown }).data).toMatchObject([{ source: "config", type: "config_changed", device_id: deviceId }]);
  });

  test("of a device that is not the tenant's is neither taken nor shown", async () => {
    const other = await gateway.createTenant("admin");
    const { id } = ConfigVersion.parse((await upload(configuration(10))).body);
    await upload(configuration(20));
    for (const [method, at, body] of [
      ["POST", "/versions", { content: "x" }], ["GET", "/versions", undefined], ["GET", `/versions/${id}`, undefined],
      ["POST", `/versions/${id}/reveal`, undefined], ["DELETE", `/versions/${id}`, undefined], ["GET", "/diff", undefined],
      ["POST", "/diff/reveal", {}],
    ] as const) expect([at, (await gateway.call(method, path(at), other.token, body)).status]).toEqual([at, 404]);
    expect((await gateway.call("POST", `/api/v1/cmod/devices/${createId()}/versions`, tenant.token, { content: "x" })).status).toBe(404);
  });

  test("is refused when it is none, or too large", async () => {
    for (const body of [
      {}, { content: "" }, { content: 1 }, { content: "x".repeat(524_289) }, { content: "x", captured_at: "yesterday" },
    ]) {
      expect((await gateway.call("POST", path("/versions"), tenant.token, body)).status).toBe(400);
    }
    expect((await upload("x".repeat(524_288))).status).toBe(201);
  });

  test("uploaded many times at once has versions without holes", async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((vlan) => upload(configuration(vlan))));
    const kept = answers.filter(({ status }) => status === 201).length;
    expect((await list()).data.map(({ version }) => version)).toEqual(Array.from({ length: kept }, (_, index) => kept - index));
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });
});

describe("a difference", () => {
  test("is in the unified format, between the newest two or any two", async () => {
    for (const vlan of [10, 20, 30]) await upload(configuration(vlan));
    const newest = await diff();
    expect([newest.from, newest.to, newest.lines_added, newest.lines_removed]).toEqual([2, 3, 1, 1]);
    expect(newest.diff.split("\n")).toEqual([
      "--- version 2\t2026-11-20T00:00:00.000Z", "+++ version 3\t2026-11-20T00:00:00.000Z", "@@ -2,5 +2,5 @@", " hostname sw1",
      " snmp-server community [secret]", " interface Gi0/1", "- switchport access vlan 20", "+ switchport access vlan 30", " end", "",
    ]);
    expect((await diff("?from=1&to=3")).diff).toContain("- switchport access vlan 10\n+ switchport access vlan 30");
    expect((await diff("?from=3&to=1")).diff).toContain("+ switchport access vlan 10");
    expect((await diff("?from=2&to=2")).diff).toBe("");
    expect((await gateway.call("GET", path("/diff?to=1"), tenant.token)).status).toBe(400);
    expect((await gateway.call("GET", path("/diff?to=9"), tenant.token)).status).toBe(404);
  });

  test("of a secret is seen, and the secret is not, but by who may reveal it", async () => {
    await upload(configuration(10, SECRET));
    await upload(configuration(10, `${SECRET}-2`));
    const hidden = await diff();
    expect(hidden.diff).toContain("-snmp-server community [secret]\n+snmp-server community [secret]");
    expect(hidden.diff).not.toContain(SECRET);
    const revealed = await gateway.call("POST", path("/diff/reveal"), tenant.token, {});
    expect(ConfigDiff.parse(revealed.body).diff).toContain(`-snmp-server community ${SECRET} RO\n+snmp-server community ${SECRET}-2 RO`);
  });
});

describe("retention", () => {
  test("keeps so many versions of a device, with their numbers", async () => {
    for (let vlan = 1; vlan <= 8; vlan += 1) await upload(configuration(vlan));
    const page = await list("?per_page=3");
    expect([page.data.map(({ version }) => version), page.meta.total]).toEqual([[8, 7, 6], 5]);
    expect((await list(`?per_page=3&cursor=${page.meta.next_cursor}`)).data.map(({ version }) => version)).toEqual([5, 4]);
  });

  test("forgets old versions but for a device's newest, and those of devices that are gone", async () => {
    await upload(configuration(10));
    await upload(configuration(20));
    const other = await gateway.createDevice(tenant, { ip: "10.0.0.3" });
    await gateway.call("POST", `/api/v1/cmod/devices/${other}/versions`, tenant.token, { content: "hostname sw2" });
    await gateway.call("DELETE", `/api/v1/devices/${other}`, tenant.token);
    clock.jump(31 * 86_400_000);
    await clock.leap(3_600_000);
    await gateway.reads.selectFrom("config_versions").select("id").execute();
    const left = await gateway.db.selectFrom("config_versions").select(["device_id", "version"]).execute();
    expect(left).toEqual([{ device_id: deviceId, version: 2 }]);
  });
});
