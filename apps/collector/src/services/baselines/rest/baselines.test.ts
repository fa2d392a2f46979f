import { Baseline, BaselineFact, listEnvelope } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BaselineWorld, MADE_AT, openBaselineWorld } from "../testing/baseline-world.ts";

let world: BaselineWorld;
beforeEach(async () => {
  world = await openBaselineWorld();
});
afterEach(() => world.gateway.stop());

const list = async (query = "") => listEnvelope(Baseline).parse((await world.call("GET", query)).body);
const read = async (id = world.deviceBaseline) => Baseline.parse((await world.call("GET", `/${id}`)).body);
const factsOf = async (id = world.deviceBaseline, query = "") => listEnvelope(BaselineFact).parse((await world.call("GET", `/${id}/facts${query}`)).body);
const edit = (id: string, body: object) => world.call("POST", `/${id}/facts`, { reason: "it is so", ...body });
const pathsOf = ({ error }: { readonly error: { readonly details: unknown } }) => (error.details as { readonly path: string }[]).map(({ path }) => path);
const stored = (id: string) => world.gateway.db.selectFrom("baselines").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

describe("a list of baselines", () => {
  test("has those of sites and devices, each with counts and names, in pages", async () => {
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    await world.addFact(world.deviceBaseline, "port", "tcp/80", "open");
    await world.addDifference();
    await world.addDifference({ key: "tcp/4445", state: "pending" });
    const first = await list("?per_page=1");
    expect(first).toMatchObject({ data: [{ id: world.siteBaseline, device_id: null, name: "site", facts: {}, open_differences: 0 }], meta: { total: 2 } });
    expect(await list(`?per_page=1&cursor=${first.meta.next_cursor}`)).toMatchObject({
      data: [{ id: world.deviceBaseline, device_id: world.deviceId, name: "nas", facts: { port: 2 }, open_differences: 1 }], meta: { next_cursor: null },
    });
  });

  test("can be narrowed to a site, a device, a kind and a state", async () => {
    const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await ids("?of=site")).toEqual([world.siteBaseline]);
    expect(await ids("?of=device")).toEqual([world.deviceBaseline]);
    expect(await ids(`?device_id=${world.deviceId}`)).toEqual([world.deviceBaseline]);
    expect(await ids(`?site_id=${world.admin.siteId}&state=learning,active`)).toHaveLength(2);
    expect(await ids("?state=frozen")).toEqual([]);
    expect((await world.call("GET", `?site_id=${createId()}`)).status).toBe(404);
    expect((await world.call("GET", "?state=happy")).status).toBe(400);
  });
});

describe("the settings of a baseline", () => {
  test("of a site count for its devices, and have all of them compared anew", async () => {
    const wish = { missing_minutes: 30, severities: { port: "high", certificate: "off" } };
    expect((await world.call("PUT", `/${world.siteBaseline}`, wish)).body).toMatchObject(wish);
    expect(await read()).toMatchObject({ ...wish, expected: null });
    expect((await stored(world.deviceBaseline)).compare_at < "2100").toBe(true);
    expect((await world.call("PUT", `/${world.deviceBaseline}`, { expected: "always" })).body).toMatchObject({ ...wish, expected: "always" });
    expect(await world.audited()).toEqual(["baseline.update", "baseline.update"]);
  });

  test("are refused where they are not of its kind", async () => {
    const put = async (id: string, body: object) => {
      const answer = await world.call("PUT", `/${id}`, body);
      return [answer.status, pathsOf(answer)];
    };
    expect(await put(world.siteBaseline, { expected: "always" })).toEqual([400, ["expected"]]);
    expect(await put(world.deviceBaseline, { missing_minutes: 60 })).toEqual([400, ["missing_minutes"]]);
    expect(await put(world.deviceBaseline, { severities: { port: "off" } })).toEqual([400, ["severities"]]);
    expect((await put(world.siteBaseline, { missing_minutes: 1 }))[0]).toBe(400);
    expect(await world.audited()).toEqual([]);
  });
});

describe("facts", () => {
  test("are listed by kind and key, in pages, with where they come from", async () => {
    for (const key of ["tcp/22", "tcp/443", "udp/53"]) await world.addFact(world.deviceBaseline, "port", key, "open");
    await world.addFact(world.deviceBaseline, "certificate", "tls", "ab");
    const first = await factsOf(world.deviceBaseline, "?per_page=2");
    const second = await factsOf(world.deviceBaseline, `?per_page=2&cursor=${first.meta.next_cursor}`);
    expect([...first.data, ...second.data].map(({ kind, key }) => `${kind} ${key}`)).toEqual(["certificate tls", "port tcp/22", "port tcp/443", "port udp/53"]);
    expect(first.data[0]).toEqual({
      kind: "certificate", key: "tls", value: "ab", source: "learned", author: null, reason: null, first_seen: MADE_AT, looked_at: MADE_AT,
      scope: "scan standard",
    });
    expect((await factsOf(world.deviceBaseline, "?kind=port")).meta.total).toBe(3);
    const forged = Buffer.from(JSON.stringify(["kind", "port \u0000", world.deviceBaseline])).toString("base64url");
    for (const cursor of ["x", forged]) expect((await world.call("GET", `/${world.deviceBaseline}/facts?cursor=${cursor}`)).status).toBe(400);
  });

  test("are set and removed by hand, in the spelling of the comparison, with author and reason", async () => {
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    await world.addFact(world.deviceBaseline, "service", "tcp/22", "ssh OpenSSH 9.2p1");
    const answer = await edit(world.deviceBaseline, {
      set: [{ kind: "service", key: "tcp/443", value: "https nginx" }], remove: [{ kind: "port", key: "tcp/22" }],
    });
    expect(answer.body).toMatchObject({ facts: { service: 2 } });
    expect((await factsOf()).data.find(({ key }) => key === "tcp/443")).toMatchObject({
      value: "https nginx", source: "edited", author: world.admin.username, reason: "it is so", looked_at: null,
    });
    await edit(world.siteBaseline, {
      set: [
        { kind: "gateway", key: "2001:DB8::0001 vlan 20", value: "00-1B-21-AA-BB-07,001b.21aa.bb06" }, { kind: "device", key: world.deviceId, value: "nas" },
        { kind: "dns_server", key: "9.9.9.9", value: "" },
      ],
    });
    expect((await factsOf(world.siteBaseline)).data.map(({ key, value }) => [key, value])).toEqual([
      [world.deviceId, "nas"], ["9.9.9.9", ""], ["2001:db8::1 vlan 20", "00:1b:21:aa:bb:06, 00:1b:21:aa:bb:07"],
    ]);
    expect(await world.audited()).toEqual(["baseline.edit", "baseline.edit"]);
    expect((await stored(world.siteBaseline)).compare_at < "2100").toBe(true);
  });

  test.each([
    ["kind", { kind: "gateway", key: "10.0.0.1", value: "00:1b:21:aa:bb:07" }], ["kind", { kind: "presence", key: "week", value: "always" }],
    ["key", { kind: "port", key: "22", value: "open" }], ["key", { kind: "port", key: "tcp/65536", value: "open" }],
    ["key", { kind: "certificate", key: "tcp/443", value: "ab" }], ["value", { kind: "port", key: "tcp/22", value: "closed" }],
    ["value", { kind: "service", key: "tcp/22", value: "" }],
  ])("of a device with a wrong %s are refused: %j", async (part, fact) => {
    const answer = await edit(world.deviceBaseline, { set: [fact] });
    expect([answer.status, pathsOf(answer)]).toEqual([400, [`set.0.${part}`]]);
  });

  test.each([
    ["kind", { kind: "port", key: "tcp/22", value: "open" }], ["key", { kind: "gateway", key: "router", value: "00:1b:21:aa:bb:07" }],
    ["key", { kind: "gateway", key: "10.0.0.1 vlan 5000", value: "00:1b:21:aa:bb:07" }], ["value", { kind: "gateway", key: "10.0.0.1", value: "" }],
    ["key", { kind: "device", key: createId(), value: "nas" }],
  ])("of a site with a wrong %s are refused: %j", async (part, fact) => {
    const answer = await edit(world.siteBaseline, { set: [fact] });
    expect([answer.status, pathsOf(answer)]).toEqual([400, [`set.0.${part}`]]);
  });

  test("that are not there are not removed, and none is named twice", async () => {
    const port = { kind: "port", key: "tcp/22" };
    expect(pathsOf(await edit(world.deviceBaseline, { remove: [port] }))).toEqual(["remove.0.key"]);
    expect(pathsOf(await edit(world.deviceBaseline, { set: [{ ...port, value: "open" }], remove: [port] }))).toEqual(["remove.0.key"]);
    expect((await edit(world.deviceBaseline, {})).status).toBe(400);
    expect((await world.call("POST", `/${world.deviceBaseline}/facts`, { set: [{ ...port, value: "open" }] })).status).toBe(400);
  });

  test("of one baseline are 4096 at most", async () => {
    const rows = Array.from({ length: 4096 }, (_, index) => ({
      baseline_id: world.deviceBaseline, tenant_id: world.admin.tenantId, kind: "neighbor", key: `port ${index}`, value: "x", source: "learned",
      author: null, reason: null, first_seen: MADE_AT, looked_at: null, scope: "",
    }));
    for (let at = 0; at < rows.length; at += 512) await world.gateway.db.insertInto("baseline_facts").values(rows.slice(at, at + 512)).execute();
    const port = { kind: "port", key: "tcp/22", value: "open" };
    expect((await edit(world.deviceBaseline, { set: [port] })).error.code).toBe("CONFLICT");
    expect((await factsOf()).meta.total).toBe(4096);
    expect((await edit(world.deviceBaseline, { set: [port], remove: [{ kind: "neighbor", key: "port 1" }] })).status).toBe(200);
  });
});

describe("a baseline", () => {
  test("that learns is compared from its approval on, by whom and when", async () => {
    await world.gateway.db.updateTable("baselines").set({ state: "learning", learning_until: "2099-01-01T00:00:00.000Z", learned_at: null }).execute();
    const approved = Baseline.parse((await world.call("POST", `/${world.deviceBaseline}/approve`, { reason: "checked" })).body);
    expect(approved).toMatchObject({ state: "active", learning_until: null, approved_by: world.admin.username });
    expect(approved.approved_at).toMatch(/^20/);
    expect((await stored(world.deviceBaseline)).learned_at).toBe(approved.approved_at);
    expect(await read(world.siteBaseline)).toMatchObject({ state: "learning", approved_by: null });
  });

  test("takes what differs with its approval: what appeared, what changed, and without what is gone", async () => {
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    await world.addFact(world.deviceBaseline, "service", "tcp/80", "http nginx 1.24");
    await world.addFact(world.deviceBaseline, "port", "udp/53", "open");
    await world.addDifference();
    await world.addDifference({ key: "tcp/22", outcome: "gone", expected: "open", observed: "" });
    await world.addDifference({ kind: "service", key: "tcp/80", outcome: "changed", expected: "http nginx 1.24", observed: "http nginx 1.26" });
    await world.addDifference({ key: "udp/53", outcome: "not_checked", expected: "open", observed: "" });
    await world.addDifference({ key: "tcp/9", state: "ended" });
    await world.call("POST", `/${world.deviceBaseline}/approve`, { take_differences: true, reason: "after the update" });
    expect((await factsOf()).data.map(({ kind, key, value, source }) => [kind, key, value, source])).toEqual([
      ["port", "tcp/4444", "open", "approved"], ["port", "udp/53", "open", "learned"], ["service", "tcp/80", "http nginx 1.26", "approved"],
    ]);
    expect((await stored(world.deviceBaseline)).compare_at < "2100").toBe(true);
  });

  test("of a site is approved and reset with those of all its devices", async () => {
    const others: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const id = await world.gateway.createDevice(world.admin, { ip: `10.0.1.${index}` });
      others.push(await world.addBaseline({ device_id: id }));
    }
    await world.addFact(others[59] ?? "", "port", "tcp/22", "open");
    for (const id of [others[0] ?? "", others[30] ?? ""]) for (let port = 1; port <= 700; port += 1) await world.addFact(id, "port", `tcp/${port}`, "open");
    await world.call("POST", `/${world.siteBaseline}/approve`, { devices: true });
    expect((await list()).data.every(({ approved_by: by }) => by === world.admin.username)).toBe(true);
    await world.call("POST", `/${world.siteBaseline}/reset`, { devices: true, reason: "moved", learning_minutes: 60 });
    expect((await list()).data.filter(({ state, approved_at: at, learning_until: until }) => state === "learning" && at === null && until !== null)).toHaveLength(62);
    expect((await factsOf(others[59])).data).toEqual([]);
    expect(await world.audited()).toEqual(["baseline.approve", "baseline.reset"]);
    for (const what of ["approve", "reset"]) {
      expect(pathsOf(await world.call("POST", `/${world.deviceBaseline}/${what}`, { devices: true, reason: "x" }))).toEqual(["devices"]);
    }
  });

  test("is frozen and unfrozen, and stays frozen when it is approved", async () => {
    expect((await world.call("POST", `/${world.deviceBaseline}/unfreeze`)).error.code).toBe("CONFLICT");
    expect((await world.call("POST", `/${world.deviceBaseline}/freeze`)).body).toMatchObject({ state: "frozen" });
    expect((await world.call("POST", `/${world.deviceBaseline}/approve`, {})).body).toMatchObject({ state: "frozen", approved_by: world.admin.username });
    expect((await world.call("POST", `/${world.deviceBaseline}/unfreeze`)).body).toMatchObject({ state: "active" });
    expect(await world.audited()).toEqual(["baseline.freeze", "baseline.approve", "baseline.unfreeze"]);
  });

  test("is reset to learn again, and forgets its facts and its approval", async () => {
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    await world.gateway.db.updateTable("baselines").set({ approved_by: "x", approved_at: MADE_AT, presence: "abc", scopes: "one" }).execute();
    const before = Date.now();
    const answer = Baseline.parse((await world.call("POST", `/${world.deviceBaseline}/reset`, { learning_minutes: 10, reason: "another disk" })).body);
    expect(answer).toMatchObject({ state: "learning", approved_by: null, facts: {} });
    expect(Date.parse(answer.learning_until ?? "") - before).toBeGreaterThanOrEqual(600_000);
    expect(await stored(world.deviceBaseline)).toMatchObject({ presence: "", scopes: "", learned_at: null });
    expect((await world.call("POST", `/${world.deviceBaseline}/reset`, {})).status).toBe(400);
  });

  test("shows the templates that count for its device", async () => {
    const facts = [{ kind: "port", key: "tcp/22", value: "open" }];
    await world.call("POST", "/templates", { name: "a", tag: "storage", facts });
    await world.call("POST", "/templates", { name: "b", tag: "web", facts });
    await world.call("POST", "/templates", { name: "c", tag: "storage", site_id: world.admin.siteId, facts });
    expect((await read()).templates.map(({ name }) => name)).toEqual(["a", "c"]);
    expect((await read(world.siteBaseline)).templates).toEqual([]);
  });
});

describe("of another tenant, or without the right", () => {
  const calls = () => [
    ["GET", ""], ["GET", "/facts"], ["PUT", "", {}], ["POST", "/facts", { remove: [{ kind: "port", key: "tcp/22" }], reason: "x" }], ["POST", "/approve", {}],
    ["POST", "/freeze"], ["POST", "/unfreeze"], ["POST", "/reset", { reason: "x" }],
  ] as const;

  test("no baseline is there", async () => {
    await world.addFact(world.deviceBaseline, "port", "tcp/22", "open");
    const stranger = await world.gateway.createTenant("admin");
    const before = await stored(world.deviceBaseline);
    for (const [method, rest, body] of calls()) {
      const answer = await world.call(method, `/${world.deviceBaseline}${rest}`, body, stranger.token);
      expect([method, rest, answer.status, answer.error.code]).toEqual([method, rest, 404, "NOT_FOUND"]);
    }
    expect(listEnvelope(Baseline).parse((await world.call("GET", "", undefined, stranger.token)).body).data).toEqual([]);
    expect([await stored(world.deviceBaseline), (await factsOf()).meta.total]).toEqual([before, 1]);
  });

  test("a viewer reads and changes nothing", async () => {
    const viewer = await world.gateway.createUser(world.admin, "viewer");
    const statuses: number[] = [];
    for (const [method, rest, body] of calls()) statuses.push((await world.call(method, `/${world.deviceBaseline}${rest}`, body, viewer.token)).status);
    expect(statuses).toEqual([200, 200, 403, 403, 403, 403, 403, 403]);
  });
});
