import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { IdsOverride, IdsRule, IdsRuleDetails, IdsRuleDifference, IdsRuleset, IdsRulesetVersion, IdsSupport, listEnvelope } from "@lanthorn/contract";
import { silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { createTargetPolicy } from "../../deliveries/sending/target-policy.ts";
import { createFeedClient } from "../feeds/fetching/client.ts";
import { download } from "../feeds/fetching/download.ts";
import { type FeedServer, startFeedServer } from "../feeds/testing/feed-server.ts";
import { type Ids, openIds } from "./open.ts";
import { archive, noCaptures, ruleText } from "./testing/rules.ts";

let source: FeedServer;
let gateway: TestGateway;
let tenant: TestTenant;
let ids: Ids;
beforeEach(async () => {
  source = await startFeedServer();
  gateway = await startTestGateway({
    alerts: true,
    modules(parts) {
      const client = createFeedClient({ clock: parts.clock, policy: createTargetPolicy(["127.0.0.1"]), resolve: () => Promise.resolve([]), userAgent: "test" }, { ca: null, proxy: null });
      ids = openIds({ data_dir: folder() }, {
        ...parts, log: silentLog, events: parts.log, captures: noCaptures, fetchFile: (request) => download({ client, clock: parts.clock }, request), publish: () => Promise.resolve(true), onPublished: async () => {},
        random: () => 0.5,
      });
      return [ids];
    },
  });
  tenant = await gateway.createTenant("admin");
});
afterEach(async () => {
  await gateway.stop();
  await source.close();
});

const folder = () => join(process.env["TMPDIR"] ?? "/tmp", `lanthorn-ids-${process.pid}`);
const call = (method: string, path: string, body?: unknown, of = tenant) => gateway.call(method, `/api/v1/ids${path}`, of.token, body);
const create = async (wish: object) => IdsRuleset.parse((await call("POST", "/rulesets", wish)).body);
const read = async (id: string) => IdsRuleset.parse((await call("GET", `/rulesets/${id}`)).body);
const rules = async (query = "") => listEnvelope(IdsRule).parse((await call("GET", `/rules${query}`)).body).data;
const many = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => ruleText(from + index)).join("\n");
const serve = (bytes: Buffer) => {
  source.serve("/rules.tar.gz", bytes);
  source.serve("/rules.tar.gz.md5", `${createHash("md5").update(bytes).digest("hex")}  rules.tar.gz\n`);
};
const PLACE = () => ({ name: "open", url: `${source.url}/rules.tar.gz`, checksum_url: `${source.url}/rules.tar.gz.md5` });
/** Asks its source now, and waits for what comes of it. */
const update = async (id: string) => {
  expect((await call("POST", `/rulesets/${id}/update`)).status).toBe(202);
  await ids.updates.run();
  return read(id);
};

describe("a rule set of a URL", () => {
  test("is downloaded, compared with its checksum, read and active at once, with what is loud off", async () => {
    serve(archive({ "rules/emerging-malware.rules": many(1, 4), "rules/emerging-info.rules": `${ruleText(9, "ET INFO a")}\nalert tcp any any -> any any (lua:x; sid:10;)` }));
    const { id } = await create(PLACE());
    await ids.updates.run();
    expect(await read(id)).toMatchObject({ kind: "url", error: null, active: { version: 1, rules: 5, enabled: 5, refused: 1, added: 5, is_held: false } });
    expect((await rules()).map(({ signature_id: sid, state }) => [sid, state])).toEqual([[9, "disabled"], [10, "refused"], [1, "enabled"], [2, "enabled"], [3, "enabled"]]);
    expect((await rules("?state=refused"))[0]?.refusal?.keyword).toBe("lua");
    const overrides = listEnvelope(IdsOverride).parse((await call("GET", "/overrides")).body).data;
    expect(overrides.map(({ value, state }) => [value, state])).toEqual([["et-info", "disabled"], ["et-policy", "disabled"]]);
    expect(IdsSupport.parse((await call("GET", "/support")).body).rulesets).toMatchObject([{ loaded: 3, refused: 1, reasons: [{ keyword: "lua", rules: 1, example: "1:10" }] }]);
  });

  test("whose download is damaged, or no archive, keeps the version before and says why", async () => {
    serve(archive({ "a.rules": many(1, 4) }));
    const { id } = await create(PLACE());
    await ids.updates.run();
    source.serve("/rules.tar.gz", archive({ "a.rules": many(1, 9) }));
    expect(await update(id)).toMatchObject({ error: "its checksum differs from the published one", active: { version: 1 } });
    serve(archive({ "../a.rules": many(1, 9) }));
    expect(await update(id)).toMatchObject({ error: expect.stringContaining("outside") as string, active: { version: 1 } });
    source.serve("/rules.tar.gz", (_, response) => void response.writeHead(503).end());
    expect(await update(id)).toMatchObject({ error: expect.stringContaining("503") as string, active: { version: 1 } });
    expect((await rules()).length).toBe(3);
    serve(archive({ "a.rules": many(1, 5) }));
    expect(await update(id)).toMatchObject({ error: null, active: { version: 2, added: 1 } });
  });

  test("that loses more than half is held back until a person activates it, and goes back to what was before", async () => {
    serve(archive({ "a.rules": many(1, 11) }));
    const { id } = await create(PLACE());
    await ids.updates.run();
    serve(archive({ "a.rules": many(1, 5) }));
    expect((await update(id)).active?.version).toBe(1);
    const versions = async () => listEnvelope(IdsRulesetVersion).parse((await call("GET", `/rulesets/${id}/versions`)).body).data;
    expect(await versions()).toMatchObject([{ version: 2, is_held: true, is_active: false, removed: 6, note: expect.stringContaining("held back") as string }, { version: 1, is_active: true }]);
    const diff = listEnvelope(IdsRuleDifference).parse((await call("GET", `/rulesets/${id}/versions/2/diff?per_page=2`)).body);
    expect([diff.meta.total, diff.data.map(({ change, signature_id: sid }) => [change, sid])]).toEqual([6, [["removed", 5], ["removed", 6]]]);
    expect((await update(id)).active?.version).toBe(1);
    expect(await versions()).toHaveLength(2);
    expect((await call("POST", `/rulesets/${id}/versions/2/activate`)).status).toBe(200);
    expect([(await read(id)).active?.version, (await rules()).length]).toEqual([2, 4]);
    expect((await call("POST", `/rulesets/${id}/rollback`)).status).toBe(200);
    expect([(await read(id)).active?.version, (await rules()).length]).toEqual([1, 10]);
    expect((await call("POST", `/rulesets/${id}/rollback`)).error.code).toBe("CONFLICT");
    expect((await call("POST", `/rulesets/${id}/versions/7/activate`)).status).toBe(404);
  });

  test("keeps five versions, and what says the same is none", async () => {
    const { id } = await create(PLACE());
    for (let last = 5; last < 13; last += 1) {
      serve(archive({ "a.rules": many(1, last) }));
      await update(id);
      await update(id);
    }
    const all = listEnvelope(IdsRulesetVersion).parse((await call("GET", `/rulesets/${id}/versions`)).body).data;
    expect(all.map(({ version }) => version)).toEqual([8, 7, 6, 5, 4]);
    expect((await gateway.db.selectFrom("ids_version_pieces").select("version").distinct().execute()).length).toBe(5);
  });
});

test("a rule set that is old, fails or is held back is an alert of its tenant, which ends when it is well, off or gone", async () => {
  const alerts = async () => (await gateway.db.selectFrom("alerts").select(["title", "description", "status", "tenant_id", "count"]).where("type", "=", "feed").orderBy("id").execute());
  serve(archive({ "a.rules": many(1, 11) }));
  const { id } = await create(PLACE());
  await ids.updates.run();
  expect(await alerts()).toEqual([]);
  source.serve("/rules.tar.gz", (_, response) => void response.writeHead(503).end());
  for (let count = 0; count < 3; count += 1) {
    expect(await alerts()).toEqual([]);
    await update(id);
  }
  await ids.updates.run();
  expect(await alerts()).toMatchObject([{ title: "The feed Rules open cannot be relied on", description: expect.stringContaining("3 updates in a row failed") as string, status: "open", tenant_id: tenant.tenantId }]);
  serve(archive({ "a.rules": many(1, 4) }));
  await update(id);
  expect(await alerts()).toMatchObject([{ status: "open", count: 2 }]);
  expect((await call("POST", `/rulesets/${id}/versions/2/activate`)).status).toBe(200);
  await ids.updates.run();
  expect((await alerts()).map(({ status }) => status)).toEqual((await alerts()).map(() => "resolved"));
  await gateway.db.updateTable("ids_rulesets").set({ checked_at: "2020-01-01T00:00:00.000Z" }).execute();
  await ids.updates.run();
  expect((await alerts()).at(-1)).toMatchObject({ status: "open", description: expect.stringContaining("answered well") as string });
  await call("PUT", `/rulesets/${id}`, { enabled: false });
  await ids.updates.run();
  expect((await alerts()).at(-1)?.status).toBe("resolved");
  await call("PUT", `/rulesets/${id}`, { enabled: true });
  await gateway.db.updateTable("ids_rulesets").set({ checked_at: "2020-01-01T00:00:00.000Z", next_at: "2999-01-01T00:00:00.000Z" }).execute();
  await ids.updates.run();
  expect((await alerts()).at(-1)?.status).toBe("open");
  expect((await call("DELETE", `/rulesets/${id}`)).status).toBe(204);
  expect((await alerts()).at(-1)?.status).toBe("resolved");
});

describe("a rule set of another kind", () => {
  test("is sent, changed and refused whole where there is no rule in it", async () => {
    const { id } = await create({ name: "ours", rules: ruleText(1) });
    expect(await read(id)).toMatchObject({ kind: "local", next_at: null, active: { version: 1 } });
    expect((await call("PUT", `/rulesets/${id}`, { rules: many(1, 3), name: "theirs" })).body).toMatchObject({ name: "theirs", active: { version: 2, rules: 2 } });
    expect((await call("PUT", `/rulesets/${id}`, { rules: "# none" })).status).toBe(400);
    expect((await call("POST", "/rulesets", { name: "none", rules: "none" })).status).toBe(400);
    expect((await call("POST", `/rulesets/${id}/update`)).error.code).toBe("CONFLICT");
    expect(listEnvelope(IdsRuleset).parse((await call("GET", "/rulesets")).body).data).toHaveLength(1);
    expect((await call("DELETE", `/rulesets/${id}`)).status).toBe(204);
    expect([await rules(), await gateway.db.selectFrom("ids_version_pieces").selectAll().execute()]).toEqual([[], []]);
  });

  test("is a file in the folder of the collector, and nowhere else", async () => {
    mkdirSync(join(folder(), "ids-rules"), { recursive: true });
    writeFileSync(join(folder(), "ids-rules", "site.rules"), many(1, 3));
    const { id } = await create({ name: "file", file: "site.rules" });
    await ids.updates.run();
    expect(await read(id)).toMatchObject({ kind: "file", file: "site.rules", active: { rules: 2 } });
    for (const file of ["../secret", "/etc/passwd", ".hidden", "a/b", ""]) expect((await call("POST", "/rulesets", { name: "x", file })).status).toBe(400);
    for (const url of ["file:///etc/passwd", "ftp://example.org/a", "gopher:"]) expect((await call("POST", "/rulesets", { name: "x", url })).status).toBe(400);
  });
});

describe("rules", () => {
  test("are enabled, disabled and changed by number, category and metadata, and shown as they count", async () => {
    await create({ name: "ours", rules: `${ruleText(1, "ET MALWARE a", "metadata:deployment Perimeter; ")}\n${ruleText(2, "ET POLICY b")}\n#${ruleText(3)}` });
    const add = async (body: object) => IdsOverride.parse((await call("POST", "/overrides", { reason: "known", ...body })).body);
    await add({ kind: "signature", value: "2", state: "enabled" });
    await add({ kind: "signature", value: "1:3", state: "enabled", change: { action: "drop", threshold: "type limit, track by_src, count 1, seconds 60" } });
    const off = await add({ kind: "metadata", value: "deployment  perimeter", state: "disabled" });
    expect((await rules()).map(({ signature_id: sid, state, modified }) => [sid, state, modified])).toEqual([[1, "disabled", false], [2, "enabled", false], [3, "enabled", true]]);
    const shown = IdsRuleDetails.parse((await call("GET", "/rules/3")).body);
    expect([shown.text.startsWith("drop tcp"), shown.text.includes("threshold:type limit"), shown.published_text.startsWith("alert tcp"), shown.alerts]).toEqual([true, true, true, 0]);
    expect((await call("DELETE", `/overrides/${off.id}`)).status).toBe(204);
    expect((await rules("?signature_id=1"))[0]?.state).toBe("enabled");
    for (const body of [{ kind: "signature", value: "x", state: "enabled" }, { kind: "category", value: "a" }, { kind: "signature", value: "1", change: { threshold: "any" } }]) {
      expect((await call("POST", "/overrides", { reason: "known", ...body })).status).toBe(400);
    }
  });

  test("of another tenant are not there, nor what it says of them", async () => {
    const { id } = await create({ name: "ours", rules: many(1, 3) });
    const override = IdsOverride.parse((await call("POST", "/overrides", { kind: "signature", value: "1", state: "disabled", reason: "known" })).body);
    const other = await gateway.createTenant("admin");
    for (const [method, path] of [
      ["GET", `/rulesets/${id}`], ["PUT", `/rulesets/${id}`], ["DELETE", `/rulesets/${id}`], ["POST", `/rulesets/${id}/update`], ["POST", `/rulesets/${id}/rollback`],
      ["GET", `/rulesets/${id}/versions`], ["GET", `/rulesets/${id}/versions/1/diff`], ["POST", `/rulesets/${id}/versions/1/activate`], ["GET", "/rules/1"],
      ["GET", `/rules?ruleset_id=${id}`], ["GET", `/rules?site_id=${tenant.siteId}`], ["DELETE", `/overrides/${override.id}`], ["GET", `/overrides/${override.id}`],
    ] as const) expect([path, (await call(method, path, method === "PUT" ? { name: "x" } : undefined, other)).status]).toEqual([path, 404]);
    expect((await call("GET", "/rules", undefined, other)).body).toMatchObject({ data: [], meta: { total: 0 } });
    const viewer = await gateway.createUser(tenant, "operator");
    expect([(await call("GET", "/rules", undefined, viewer)).status, (await call("DELETE", `/rulesets/${id}`, undefined, viewer)).status]).toEqual([200, 403]);
  });

  test("are in twenty rule sets at most", async () => {
    for (let count = 0; count < 20; count += 1) expect((await call("POST", "/rulesets", { name: `${count}`, file: "none.rules", enabled: false })).status).toBe(201);
    expect((await call("POST", "/rulesets", { name: "more", file: "none.rules" })).error.code).toBe("CONFLICT");
    await vi.waitFor(async () => expect((await gateway.db.selectFrom("ids_rulesets").select("id").execute()).length).toBe(20));
  });
});
