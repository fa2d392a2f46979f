import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, health, ids, returned, rogue, silent } from "./testing/bench.ts";

let bench: AlertsBench;
beforeEach(async () => void (bench = await createAlertsBench()));
afterEach(() => bench.server.stop());

describe("what is muted", () => {
  test.each([
    ["its source", { source: "rogue" }], ["its type", { type: "rogue_dhcp" }], ["its subject", { subject: "02:00:00:00:00:66" }],
    ["what its subject begins with", { subject: "02:00:*" }],
  ])("by %s is counted and shown but not published, until the mute ends", async (_, what) => {
    const { id } = await bench.mute({ ...what, reason: "known" });
    await bench.append([rogue(), rogue()]);
    expect(await bench.single()).toMatchObject({ count: 2, muted: true, notified: false });
    expect(await bench.published()).toEqual([]);
    expect((await bench.post(`/mutes/${id}`, undefined, bench.tenant, "DELETE")).status).toBe(204);
    await bench.append([rogue()]);
    expect(await bench.single()).toMatchObject({ count: 3, muted: false, notified: true });
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp"]);
  });

  test("is read by its Location, and listed in pages", async () => {
    const { id } = await bench.mute({ source: "rogue" });
    const second = await bench.mute({ source: "ids" });
    const get = (path: string, token = bench.tenant.token) => bench.server.get(`/api/v1/alerts/mutes${path}`, token);
    expect((await get(`/${id}`)).body).toMatchObject({ id, source: "rogue" });
    expect((await get(`/${id}`, (await bench.server.createTenant()).token)).status).toBe(404);
    expect((await get("?per_page=1")).body).toMatchObject({ data: [{ id }], meta: { page: 1, per_page: 1, total: 2, next_cursor: id } });
    expect((await get(`?per_page=1&cursor=${id}`)).body).toMatchObject({ data: [{ id: second.id }], meta: { next_cursor: null } });
    expect((await get("")).body).toMatchObject({ meta: { per_page: 100 } });
    expect((await get("?per_page=1001")).status).toBe(400);
  });

  test("ends by itself; an alert that was published before is also published as resolved", async () => {
    const probeId = createId();
    await bench.append([health("raised", probeId)]);
    await bench.mute({ source: "health" });
    await bench.append([health("cleared", probeId), silent(probeId), returned(probeId)]);
    expect(await bench.published()).toEqual(["alert_created probe_health", "alert_resolved probe_health"]);
    await bench.clock.leap(3_600_000);
    expect((await bench.server.get("/api/v1/alerts/mutes", bench.tenant.token)).body).toMatchObject({ data: [], meta: { total: 0 } });
    await bench.append([silent(probeId)]);
    expect(await bench.published()).toHaveLength(3);
  });

  test.each([
    { source: "ids" }, { type: "rogue" }, { subject: "02:00" }, { source: "rogue", type: "arp_spoofing" },
  ])("is not what %o does not match", async (what) => {
    await bench.mute(what);
    await bench.append([rogue()]);
    expect(await bench.single()).toMatchObject({ muted: false, notified: true });
  });

  test("at one site is not so at another, and every change is audited", async () => {
    const { id } = await bench.mute({ site_id: bench.tenant.siteId });
    await bench.append([rogue(), { ...rogue(), siteId: null }]);
    expect((await bench.list("?sort=count")).data.map(({ site_id, muted }) => [site_id !== null, muted])).toEqual(expect.arrayContaining([
      [true, true], [false, false],
    ]));
    await bench.post(`/mutes/${id}`, undefined, bench.tenant, "DELETE");
    expect((await bench.server.db.selectFrom("audit").select(["action", "target_id", "actor_name"]).orderBy("id").execute())).toEqual([
      { action: "alert_mute.create", target_id: id, actor_name: bench.tenant.username },
      { action: "alert_mute.delete", target_id: id, actor_name: bench.tenant.username },
    ]);
  });

  test.each([
    [{}, 400], [{ source: "x" }, 400], [{ source: "ids", colour: "red" }, 400],
    [{ source: "ids", expires_at: "2026-05-31T00:00:00.000Z" }, 400],
    [{ source: "ids", expires_at: "2028-01-01T00:00:00.000Z" }, 400], [{ source: "ids", expires_at: "tomorrow" }, 400],
    [{ site_id: createId() }, 404],
  ])("cannot be changed by %j", async (what, status) => {
    expect((await bench.post("/mutes", { expires_at: "2026-06-02T00:00:00.000Z", ...what })).status).toBe(status);
  });
});

describe("a person", () => {
  test("acknowledges: the alert stays, counts on, and is not published again", async () => {
    await bench.append([rogue()]);
    const { id } = await bench.single();
    expect((await bench.post(`/${id}/acknowledge`)).body).toMatchObject({
      status: "acknowledged", acknowledged_by: bench.tenant.username, acknowledged_at: bench.now(),
    });
    expect((await bench.post(`/${id}/acknowledge`)).status).toBe(200);
    await bench.append([rogue()]);
    expect(await bench.single()).toMatchObject({ status: "acknowledged", count: 2 });
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp"]);
    expect((await bench.server.db.selectFrom("audit").select(["action", "target_id", "before", "after"]).execute())).toEqual([
      { action: "alert.acknowledge", target_id: id, before: '{"status":"open"}', after: '{"status":"acknowledged"}' },
    ]);
  });

  test("resolves: the same again is a new alert, and what is resolved cannot be acknowledged", async () => {
    await bench.append([rogue()]);
    const { id } = await bench.single();
    expect((await bench.post(`/${id}/resolve`)).body).toMatchObject({
      status: "resolved", resolved_by: bench.tenant.username, resolved_at: bench.now(),
    });
    expect((await bench.post(`/${id}/resolve`)).status).toBe(200);
    expect((await bench.post(`/${id}/acknowledge`)).error.code).toBe("CONFLICT");
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp", "alert_resolved rogue_dhcp"]);
    await bench.append([rogue()]);
    expect((await bench.list("?status=open")).data.map((alert) => alert.id)).not.toContain(id);
    expect((await bench.list()).meta.total).toBe(2);
    expect((await bench.server.db.selectFrom("audit").select("action").execute()).length).toBe(1);
  });

  test("of another tenant sees and changes nothing; without the scope neither", async () => {
    await bench.append([rogue()]);
    const { id } = await bench.single();
    const { id: muteId } = await bench.mute({ source: "dns" });
    const other = await bench.server.createTenant("admin");
    expect((await bench.list("", other)).data).toEqual([]);
    expect((await bench.list("?search=192", other)).meta.total).toBe(0);
    expect((await bench.server.get(`/api/v1/alerts?site_id=${bench.tenant.siteId}`, other.token)).status).toBe(404);
    for (const path of [`/${id}`]) expect((await bench.server.get(`/api/v1/alerts${path}`, other.token)).status).toBe(404);
    for (const path of [`/${id}/acknowledge`, `/${id}/resolve`]) expect((await bench.post(path, undefined, other)).status).toBe(404);
    expect((await bench.post(`/mutes/${muteId}`, undefined, other, "DELETE")).status).toBe(404);
    expect((await bench.server.get("/api/v1/alerts/mutes", other.token)).body).toMatchObject({ data: [] });
    await bench.post("/mutes", { source: "rogue", expires_at: "2026-06-02T00:00:00.000Z" }, other);
    expect(await bench.single()).toMatchObject({ muted: false });
    const viewer = await bench.server.createTenant("viewer");
    for (const path of [`/${id}/acknowledge`, `/${id}/resolve`, "/mutes"]) {
      expect((await bench.post(path, { source: "ids", expires_at: "2026-06-02T00:00:00.000Z" }, viewer)).status).toBe(403);
    }
  });
});

describe("the list", () => {
  const types = async (query: string) => (await bench.list(query)).data.map(({ type }) => type);

  test("of the tenant has those of no site too", async () => {
    await bench.append([{ type: "backup_failed", siteId: null, data: { backup_id: createId(), reason: "no space" } }]);
    expect(await types("?source=ids,health")).toEqual(["backup_failed"]);
    await bench.append([{ type: "backup_completed", siteId: null, data: { backup_id: createId(), size_bytes: 1, duration_seconds: 1 } }]);
    expect(await bench.single()).toMatchObject({ status: "resolved", resolved_by: "backup_completed", site_id: null });
  });

  test("finds by source, severity, type, device, period and text", async () => {
    const deviceId = await bench.server.createDevice(bench.tenant, { ip: "192.0.2.9" });
    await bench.append([rogue()]);
    await bench.clock.leap(3_600_000);
    await bench.append([{ ...ids(), deviceId }]);
    await bench.clock.leap(3_600_000);
    expect(await types("?source=ids,rogue&sort=first_seen")).toEqual(["rogue_dhcp", "ids_alert"]);
    expect(await types("?severity=medium,low")).toEqual(["ids_alert"]);
    expect(await types("?type=rogue_dhcp")).toEqual(["rogue_dhcp"]);
    expect(await types("?type=!rogue_dhcp")).toEqual(["ids_alert"]);
    expect(await types(`?device_id=!${deviceId}`)).toEqual(["rogue_dhcp"]);
    expect(await types(`?filter=${encodeURIComponent("severity:<high -status:resolved source:ids,rogue")}`)).toEqual(["ids_alert"]);
    expect(await types(`?type=ids_alert&filter=${encodeURIComponent("seen:>90m")}`)).toEqual([]);
    expect(await types(`?device_id=${deviceId}`)).toEqual(["ids_alert"]);
    expect(await types("?since=90m")).toEqual(["ids_alert"]);
    expect(await types("?until=90m")).toEqual(["rogue_dhcp"]);
    expect(await types("?search=dhcp")).toEqual(["rogue_dhcp"]);
    expect(await types("?search=100%25%20SURE_")).toEqual(["ids_alert"]);
    expect(await types("?search=100_")).toEqual([]);
    expect(await types("?search=192.0.2.66")).toEqual(["rogue_dhcp"]);
    expect(await types("?search=2%27%20or%201%3D1--")).toEqual([]);
  });

  test.each([
    "severity", "-severity", "count", "-count", "first_seen", "-last_seen",
  ])("sorted by %s is read to its end by its cursor, each once", async (sort) => {
    const severities = ["low", "critical", "info", "low", "medium", "high"] as const;
    for (const [index, severity] of severities.entries()) {
      await bench.append(Array.from({ length: index % 3 + 1 }, () => ids({ severity, source_ip: `192.0.2.${index}` })));
    }
    const whole = (await bench.list(`?sort=${sort}`)).data.map(({ id }) => id);
    const parts: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { data, meta } = await bench.list(`?sort=${sort}&per_page=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      parts.push(...data.map(({ id }) => id));
      cursor = meta.next_cursor;
    }
    expect(parts).toEqual(whole);
    expect(new Set(parts).size).toBe(6);
    const ranks = (await bench.list(`?sort=${sort}`)).data
      .map(({ severity }) => ["info", "low", "medium", "high", "critical"].indexOf(severity));
    if (sort === "severity") expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  });

  test.each([
    "?source=x", "?filter=severity:loud", "?severity=high&filter=severity:high", "?severity=grave", "?status=open;", "?since=yesterday", "?sort=title", "?cursor=x", "?device_id=1", "?per_page=0",
  ])("answers 400 for %s", async (query) => {
    expect((await bench.server.get(`/api/v1/alerts${query}`, bench.tenant.token)).error.code).toBe("BAD_REQUEST");
  });
});
