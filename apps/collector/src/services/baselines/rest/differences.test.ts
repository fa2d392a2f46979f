import { type Alert, BaselineAcceptance, BaselineDifference, listEnvelope } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { differenceEvent } from "../differences/events.ts";
import { type BaselineWorld, MADE_AT, openBaselineWorld } from "../testing/baseline-world.ts";

let world: BaselineWorld;
beforeEach(async () => {
  world = await openBaselineWorld();
});
afterEach(() => world.gateway.stop());

const list = async (query = "") => listEnvelope(BaselineDifference).parse((await world.call("GET", `/differences${query}`)).body);
const accept = (id: string, body: object = {}) => world.call("POST", `/differences/${id}/accept`, { reason: "it is right", ...body });
const acceptances = async (query = "") => listEnvelope(BaselineAcceptance).parse((await world.call("GET", `/acceptances${query}`)).body);
const pathsOf = ({ error }: { readonly error: { readonly details: unknown } }) => (error.details as { readonly path: string }[]).map(({ path }) => path);
const soon = () => toInstant(Date.now() + 3_600_000);
const compareAt = async (id: string) =>
  (await world.gateway.db.selectFrom("baselines").select("compare_at").where("id", "=", id).executeTakeFirstOrThrow()).compare_at;

describe("differences", () => {
  test("are listed the newest first, the open ones unless others are asked for, in pages", async () => {
    const ids = [];
    for (const key of ["tcp/1", "tcp/2", "tcp/3"]) ids.push(await world.addDifference({ key }));
    await world.addDifference({ key: "tcp/4", state: "ended", ended_at: MADE_AT });
    await world.addDifference({ key: "tcp/5", state: "pending" });
    const first = await list("?per_page=2");
    const second = await list(`?per_page=2&cursor=${first.meta.next_cursor}`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed());
    expect([first.meta.total, second.meta.next_cursor]).toEqual([3, null]);
    expect((await list("?state=ended,pending")).data.map(({ key }) => key)).toEqual(["tcp/5", "tcp/4"]);
  });

  test("are narrowed, and named by the device or the site that they are of", async () => {
    await world.addDifference();
    await world.addDifference({
      baseline_id: world.siteBaseline, device_id: null, kind: "gateway", key: "10.0.0.1", outcome: "changed", expected: "a", observed: "b", severity: "high",
    });
    const keys = async (query: string) => (await list(query)).data.map(({ name, key }) => `${name} ${key}`);
    expect(await keys("")).toEqual(["site 10.0.0.1", "nas tcp/4444"]);
    expect(await keys(`?device_id=${world.deviceId}`)).toEqual(["nas tcp/4444"]);
    expect(await keys(`?baseline_id=${world.siteBaseline}&site_id=${world.admin.siteId}`)).toEqual(["site 10.0.0.1"]);
    expect(await keys("?kind=gateway,dns_server&outcome=changed")).toEqual(["site 10.0.0.1"]);
    expect(await keys("?outcome=gone")).toEqual([]);
    expect((await world.call("GET", `/differences?site_id=${createId()}`)).status).toBe(404);
    expect((await world.call("GET", "/differences?state=good")).status).toBe(400);
  });

  test("are read one by one, before and after", async () => {
    const id = await world.addDifference({ kind: "service", key: "tcp/22", outcome: "changed", expected: "ssh OpenSSH 9.2p1", observed: "ssh Dropbear", expected_at: MADE_AT });
    expect(BaselineDifference.parse((await world.call("GET", `/differences/${id}`)).body)).toMatchObject({
      id, name: "nas", expected: "ssh OpenSSH 9.2p1", observed: "ssh Dropbear", expected_at: MADE_AT, state: "open", ended_at: null,
    });
    expect((await world.call("GET", `/differences/${createId()}`)).status).toBe(404);
  });

  test("of a device that was deleted are still listed", async () => {
    const id = await world.addDifference();
    await world.gateway.db.deleteFrom("devices").where("id", "=", world.deviceId).execute();
    expect((await list()).data).toMatchObject([{ id, device_id: world.deviceId, name: world.deviceId }]);
  });
});

describe("to accept a difference", () => {
  test("ends it and its alert at once, for the device, with author, reason and end", async () => {
    const id = await world.addDifference();
    const row = await world.gateway.db.selectFrom("baseline_differences").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    await world.gateway.append(world.admin, [{ ...differenceEvent(row, { ip: "10.0.0.5", mac: "" }, { at: MADE_AT, baselineAt: MADE_AT }) }]);
    const alerts = async () => ((await world.gateway.get("/api/v1/alerts", world.admin.token)).body as { readonly data: readonly Alert[] }).data;
    expect(await alerts()).toMatchObject([{ status: "open" }]);
    const until = soon();
    const made = BaselineAcceptance.parse((await accept(id, { expires_at: until })).body);
    expect(made).toMatchObject({
      site_id: world.admin.siteId, device_id: world.deviceId, tag: null, name: "nas", kind: "port", key: "tcp/4444", outcome: "appeared", observed: "open",
      reason: "it is right", created_by: world.admin.username, expires_at: until,
    });
    expect(await world.difference(id)).toMatchObject({ state: "accepted", acceptance_id: made.id });
    expect(await alerts()).toMatchObject([{ status: "resolved" }]);
    const ended = await world.gateway.db.selectFrom("events").select("data").where("type", "=", "baseline_diff_alert").orderBy("seq", "desc").executeTakeFirstOrThrow();
    expect(JSON.parse(ended.data)).toMatchObject({ state: "ended", difference_id: id, kind: "new_port", port: 4444 });
    expect([await compareAt(world.deviceBaseline) < "2100", await compareAt(world.siteBaseline)]).toEqual([true, "2100-01-01T00:00:00.000Z"]);
    expect(await world.audited()).toEqual(["baseline_acceptance.create"]);
    expect((await acceptances()).data).toEqual([made]);
  });

  test("that was not reported yet publishes nothing", async () => {
    await accept(await world.addDifference({ state: "pending" }));
    expect(await world.gateway.db.selectFrom("events").select("type").where("type", "=", "baseline_diff_alert").execute()).toEqual([]);
  });

  test("for a group or a site has the others compared anew", async () => {
    expect((await accept(await world.addDifference(), { for: "group", tag: "storage" })).body)
      .toMatchObject({ site_id: null, device_id: null, tag: "storage", name: null });
    expect(await compareAt(world.siteBaseline) < "2100").toBe(true);
    const id = await world.addDifference({ device_id: null, baseline_id: world.siteBaseline, kind: "gateway", key: "10.0.0.1", outcome: "appeared" });
    expect(pathsOf(await accept(id))).toEqual(["for"]);
    expect((await accept(id, { for: "site" })).body).toMatchObject({ site_id: world.admin.siteId, device_id: null, tag: null });
  });

  test.each([
    ["a tag that the device does not have", { for: "group", tag: "web" }, "tag"], ["a group without a tag", { for: "group" }, "tag"],
    ["a tag without a group", { tag: "storage" }, "tag"], ["no reason", { reason: " " }, "reason"],
    ["an end that is past", { expires_at: "2020-01-01T00:00:00.000Z" }, "expires_at"],
  ])("is refused with %s", async (_, body, path) => {
    const id = await world.addDifference();
    const answer = await accept(id, body);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
    expect([(await world.difference(id)).state, await world.audited()]).toEqual(["open", []]);
  });

  test("is refused where it has ended or was accepted, and where there are too many", async () => {
    expect((await accept(await world.addDifference({ state: "ended" }))).error.code).toBe("CONFLICT");
    const id = await world.addDifference();
    await accept(id);
    expect((await accept(id)).error.code).toBe("CONFLICT");
    const rows = Array.from({ length: 10_000 }, (_, index) => ({
      id: createId(), tenant_id: world.admin.tenantId, site_id: null, device_id: null, tag: `tag ${index}`, kind: "port", key: "tcp/1", outcome: "appeared",
      observed: "open", reason: "x", created_by: "x", created_at: MADE_AT, expires_at: index === 0 ? MADE_AT : null,
    }));
    for (let at = 0; at < rows.length; at += 500) await world.gateway.db.insertInto("baseline_acceptances").values(rows.slice(at, at + 500)).execute();
    const another = await world.addDifference({ key: "tcp/7" });
    expect((await accept(another)).error.code).toBe("CONFLICT");
    await world.call("DELETE", `/acceptances/${rows[1]?.id}`);
    expect((await accept(another)).status).toBe(201);
    // What has expired is forgotten.
    expect(await world.gateway.db.selectFrom("baseline_acceptances").select("id").where("id", "=", rows[0]?.id ?? "").execute()).toEqual([]);
  });
});

describe("acceptances", () => {
  test("are listed by site with those for all sites, and taken back", async () => {
    const mine = BaselineAcceptance.parse((await accept(await world.addDifference())).body);
    const groups = BaselineAcceptance.parse((await accept(await world.addDifference({ key: "tcp/9" }), { for: "group", tag: "storage" })).body);
    const elsewhere = createId();
    await world.gateway.db.insertInto("sites").values({ id: elsewhere, tenant_id: world.admin.tenantId, name: "b", probe_configuration: "{}", created_at: MADE_AT }).execute();
    const ids = async (query: string) => (await acceptances(query)).data.map(({ id }) => id);
    expect(await ids(`?site_id=${world.admin.siteId}`)).toEqual([mine.id, groups.id]);
    expect(await ids(`?site_id=${elsewhere}`)).toEqual([groups.id]);
    await world.gateway.db.updateTable("baselines").set({ compare_at: "2100-01-01T00:00:00.000Z" }).execute();
    expect((await world.call("DELETE", `/acceptances/${mine.id}`)).status).toBe(204);
    expect(await compareAt(world.deviceBaseline) < "2100").toBe(true);
    expect((await world.call("DELETE", `/acceptances/${mine.id}`)).status).toBe(404);
    expect(await ids("")).toEqual([groups.id]);
    expect((await world.audited()).at(-1)).toBe("baseline_acceptance.delete");
  });
});

describe("of another tenant, or without the right", () => {
  test("nothing is there", async () => {
    const id = await world.addDifference();
    const made = BaselineAcceptance.parse((await accept(id)).body);
    const open = await world.addDifference({ key: "tcp/9" });
    const stranger = await world.gateway.createTenant("admin");
    for (const [method, path, body] of [
      ["GET", `/differences/${id}`], ["POST", `/differences/${open}/accept`, { reason: "x" }], ["DELETE", `/acceptances/${made.id}`],
      ["GET", `/differences?site_id=${world.admin.siteId}`],
    ] as const) {
      expect([path, (await world.call(method, path, body, stranger.token)).status]).toEqual([path, 404]);
    }
    for (const path of ["/differences?state=open,accepted", `/differences?device_id=${world.deviceId}`, "/acceptances"]) {
      expect((await world.call("GET", path, undefined, stranger.token)).body).toMatchObject({ data: [], meta: { total: 0 } });
    }
    expect([(await world.difference(open)).state, (await acceptances()).data]).toEqual(["open", [made]]);
  });

  test("a viewer reads, and an operator accepts", async () => {
    const id = await world.addDifference();
    const [viewer, operator] = [await world.gateway.createUser(world.admin, "viewer"), await world.gateway.createUser(world.admin, "operator")];
    expect((await world.call("GET", `/differences/${id}`, undefined, viewer.token)).status).toBe(200);
    expect((await world.call("POST", `/differences/${id}/accept`, { reason: "x" }, viewer.token)).status).toBe(403);
    expect((await world.call("POST", `/differences/${id}/accept`, { reason: "x" }, operator.token)).status).toBe(201);
  });
});
