import { BaselineTemplate, BaselineWindow, listEnvelope } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_TEMPLATE_CHARACTERS } from "../store/templates.ts";
import { type BaselineWorld, MADE_AT, openBaselineWorld } from "../testing/baseline-world.ts";

let world: BaselineWorld;
beforeEach(async () => {
  world = await openBaselineWorld();
});
afterEach(() => world.gateway.stop());

const FACTS = [{ kind: "port", key: "tcp/443", value: "open" }, { kind: "service", key: "tcp/443", value: "https nginx" }];
const create = (body: object = {}) => world.call("POST", "/templates", { name: "Web servers", tag: "web", facts: FACTS, ...body });
const made = async (body: object = {}) => BaselineTemplate.parse((await create(body)).body);
const templates = async (query = "") => listEnvelope(BaselineTemplate).parse((await world.call("GET", `/templates${query}`)).body);
const hours = (count: number) => toInstant(Date.now() + count * 3_600_000);
const createWindow = (body: object = {}) =>
  world.call("POST", "/windows", { site_id: world.admin.siteId, begins_at: hours(0), ends_at: hours(2), reason: "new switches", ...body });
const windows = async (query = "") => listEnvelope(BaselineWindow).parse((await world.call("GET", `/windows${query}`)).body);
const pathsOf = ({ error }: { readonly error: { readonly details: unknown } }) => (error.details as { readonly path: string }[]).map(({ path }) => path);
const isDue = async (id: string) =>
  (await world.gateway.db.selectFrom("baselines").select("compare_at").where("id", "=", id).executeTakeFirstOrThrow()).compare_at < "2100";

describe("a template", () => {
  test("is made from facts, listed, changed and deleted, and has devices compared anew each time", async () => {
    const one = await made();
    expect(one).toMatchObject({ name: "Web servers", tag: "web", site_id: null, facts: FACTS, created_by: world.admin.username });
    expect(await isDue(world.deviceBaseline)).toBe(true);
    const two = await made({ name: "Here", site_id: world.admin.siteId });
    const first = await templates("?per_page=1");
    expect([first.data, (await templates(`?per_page=1&cursor=${first.meta.next_cursor}`)).data]).toEqual([[one], [two]]);
    const changed = BaselineTemplate.parse((await world.call("PUT", `/templates/${one.id}`, { tag: "www", facts: [] })).body);
    expect(changed).toMatchObject({ name: "Web servers", tag: "www", facts: [] });
    expect(BaselineTemplate.parse((await world.call("GET", `/templates/${one.id}`)).body)).toEqual(changed);
    expect(BaselineTemplate.parse((await world.call("PUT", `/templates/${one.id}`, changed)).body)).toEqual(changed);
    expect((await world.call("DELETE", `/templates/${one.id}`)).status).toBe(204);
    expect((await world.call("GET", `/templates/${one.id}`)).status).toBe(404);
    expect(await world.audited()).toEqual([
      "baseline_template.create", "baseline_template.create", "baseline_template.update", "baseline_template.delete",
    ]);
  });

  test("is made of the ports and services of a device that is as all should be", async () => {
    expect((await create({ facts: undefined, from_device_id: world.deviceId })).error.code).toBe("CONFLICT");
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    await world.addFact(world.deviceBaseline, "service", "tcp/22", "ssh OpenSSH 9.2p1");
    await world.addFact(world.deviceBaseline, "host_key", "tcp/22", "SHA256:x");
    expect((await made({ facts: undefined, from_device_id: world.deviceId })).facts).toEqual([
      { kind: "port", key: "tcp/22", value: "open" }, { kind: "service", key: "tcp/22", value: "ssh OpenSSH 9.2p1" },
    ]);
    expect((await create({ name: "b", facts: undefined, from_device_id: createId() })).status).toBe(404);
    const rows = Array.from({ length: 500 }, (_, index) => ({ ...FACTS[0], key: `udp/${index + 1}` }));
    for (const { key } of rows) await world.addFact(world.deviceBaseline, "port", key, "open");
    expect((await create({ name: "c", facts: undefined, from_device_id: world.deviceId })).error.code).toBe("CONFLICT");
  });

  test("has facts only as far as all templates of the tenant may have", async () => {
    const many = Array.from({ length: 500 }, (_, index) => ({ kind: "service", key: `tcp/${index + 1}`, value: "x".repeat(255) }));
    const { id } = await made({ facts: many });
    const large = await world.gateway.db.selectFrom("baseline_templates").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const room = Math.floor(MAX_TEMPLATE_CHARACTERS / large.facts.length) - 1;
    for (let index = 0; index < room; index += 1) await world.gateway.db.insertInto("baseline_templates").values({ ...large, id: createId(), name: String(index) }).execute();
    const other = await world.gateway.createTenant("admin");
    expect((await create({ name: "b", facts: many })).error.code).toBe("CONFLICT");
    expect((await world.call("POST", "/templates", { name: "b", tag: "b", facts: many }, other.token)).status).toBe(201);
    const small = await made({ name: "b" });
    expect((await world.call("PUT", `/templates/${small.id}`, { facts: many })).error.code).toBe("CONFLICT");
    expect((await world.call("PUT", `/templates/${id}`, { facts: many })).status).toBe(200);
    expect((await create({ name: "c", facts: [{ ...FACTS[1], value: "x".repeat(256) }] })).error.code).toBe("BAD_REQUEST");
  });

  test("has a name of its own", async () => {
    await made();
    const other = await made({ name: "Mail servers" });
    expect((await create()).error.code).toBe("CONFLICT");
    expect((await world.call("PUT", `/templates/${other.id}`, { name: "Web servers" })).error.code).toBe("CONFLICT");
    expect((await templates()).meta.total).toBe(2);
  });

  test.each([
    [{ facts: undefined }, ""], [{ from_device_id: createId() }, ""], [{ tag: "" }, "tag"], [{ facts: [{ kind: "gateway", key: "10.0.0.1", value: "x" }] }, "facts.0.kind"],
    [{ facts: [{ kind: "port", key: "443", value: "open" }] }, "facts.0.key"], [{ facts: [...FACTS, FACTS[0]] }, "facts.2.key"],
  ])("is refused for %j", async (body, path) => {
    const answer = await create(body);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
  });

  test("is one of a thousand at most, and of a site that there is", async () => {
    expect((await create({ site_id: createId() })).status).toBe(404);
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      id: createId(), tenant_id: world.admin.tenantId, site_id: null, name: `t${index}`, tag: "x", facts: "[]", created_by: "x", created_at: MADE_AT,
      updated_at: MADE_AT,
    }));
    for (let at = 0; at < rows.length; at += 500) await world.gateway.db.insertInto("baseline_templates").values(rows.slice(at, at + 500)).execute();
    expect((await create()).error.code).toBe("CONFLICT");
    await world.call("DELETE", `/templates/${rows[0]?.id}`);
    expect((await create()).status).toBe(201);
  });
});

describe("a maintenance window", () => {
  test("is for a site, a device or a tag, is listed until it is over, and deleted", async () => {
    const site = BaselineWindow.parse((await createWindow()).body);
    expect(site).toMatchObject({ name: "site", site_id: world.admin.siteId, device_id: null, tag: null, effect: "hold", reason: "new switches", created_by: world.admin.username });
    const device = BaselineWindow.parse((await createWindow({ device_id: world.deviceId, effect: "learn" })).body);
    const tag = BaselineWindow.parse((await createWindow({ tag: "storage", begins_at: hours(5), ends_at: hours(6) })).body);
    expect(device.name).toBe("nas");
    expect((await windows(`?site_id=${world.admin.siteId}`)).data).toEqual([site, device, tag]);
    await world.gateway.db.updateTable("baseline_windows").set({ ends_at: MADE_AT }).where("id", "=", site.id).execute();
    expect((await windows("?per_page=1")).data).toEqual([device]);
    expect(await isDue(world.deviceBaseline)).toBe(true);
    await world.gateway.db.updateTable("baselines").set({ compare_at: "2100-01-01T00:00:00.000Z" }).execute();
    expect((await world.call("DELETE", `/windows/${device.id}`)).status).toBe(204);
    expect([await isDue(world.deviceBaseline), (await world.call("DELETE", `/windows/${device.id}`)).status]).toEqual([true, 404]);
    expect((await world.audited()).at(-1)).toBe("baseline_window.delete");
  });

  test("is refused with a wrong time, device or site", async () => {
    expect(pathsOf(await createWindow({ ends_at: hours(-1), begins_at: hours(-2) }))).toEqual(["ends_at"]);
    expect(pathsOf(await createWindow({ ends_at: hours(367 * 24) }))).toEqual(["ends_at"]);
    expect(pathsOf(await createWindow({ begins_at: hours(3) }))).toEqual(["ends_at"]);
    expect(pathsOf(await createWindow({ device_id: world.deviceId, tag: "x" }))).toEqual(["tag"]);
    expect((await createWindow({ site_id: createId() })).status).toBe(404);
    expect((await createWindow({ device_id: createId() })).status).toBe(404);
    expect(await world.audited()).toEqual([]);
  });

  test("is one of a thousand at most, of which those that are over do not count", async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      id: createId(), tenant_id: world.admin.tenantId, site_id: world.admin.siteId, device_id: null, tag: `t${index}`, begins_at: MADE_AT, ends_at: hours(1),
      effect: "hold", reason: "x", created_by: "x", created_at: MADE_AT,
    }));
    for (let at = 0; at < rows.length; at += 500) await world.gateway.db.insertInto("baseline_windows").values(rows.slice(at, at + 500)).execute();
    expect((await createWindow()).error.code).toBe("CONFLICT");
    await world.gateway.db.updateTable("baseline_windows").set({ ends_at: MADE_AT }).where("id", "=", rows[0]?.id ?? "").execute();
    expect((await createWindow()).status).toBe(201);
    expect(await world.gateway.db.selectFrom("baseline_windows").select("id").where("id", "=", rows[0]?.id ?? "").execute()).toEqual([]);
  });
});

describe("of another tenant, or without the right", () => {
  test("nothing is there", async () => {
    const template = await made();
    const window = BaselineWindow.parse((await createWindow()).body);
    const stranger = await world.gateway.createTenant("admin");
    for (const [method, path, body] of [
      ["GET", `/templates/${template.id}`], ["PUT", `/templates/${template.id}`, {}], ["DELETE", `/templates/${template.id}`], ["DELETE", `/windows/${window.id}`],
      ["POST", "/templates", { name: "x", tag: "x", facts: [], site_id: world.admin.siteId }],
      ["POST", "/templates", { name: "x", tag: "x", from_device_id: world.deviceId }],
      ["POST", "/windows", { site_id: world.admin.siteId, begins_at: hours(0), ends_at: hours(1), reason: "x" }],
      ["POST", "/windows", { site_id: stranger.siteId, device_id: world.deviceId, begins_at: hours(0), ends_at: hours(1), reason: "x" }],
    ] as const) {
      expect([method, path, (await world.call(method, path, body, stranger.token)).status]).toEqual([method, path, 404]);
    }
    for (const path of ["/templates", "/windows"]) expect((await world.call("GET", path, undefined, stranger.token)).body).toMatchObject({ data: [] });
    // A name is free for each tenant.
    expect((await world.call("POST", "/templates", { name: template.name, tag: "x", facts: [] }, stranger.token)).status).toBe(201);
    expect([(await templates()).data, (await windows()).data]).toEqual([[template], [window]]);
  });

  test("a viewer changes nothing, and an operator makes windows", async () => {
    const [viewer, operator] = [await world.gateway.createUser(world.admin, "viewer"), await world.gateway.createUser(world.admin, "operator")];
    const wish = { site_id: world.admin.siteId, begins_at: hours(0), ends_at: hours(1), reason: "x" };
    expect((await world.call("POST", "/templates", { name: "x", tag: "x", facts: [] }, viewer.token)).status).toBe(403);
    expect((await world.call("POST", "/windows", wish, viewer.token)).status).toBe(403);
    expect((await world.call("POST", "/windows", wish, operator.token)).status).toBe(201);
  });
});
