import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { DnsAllowance, DnsCheck, DnsList, DnsListVersion, DnsPolicy, listEnvelope, readDnsBundle } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DnsGateway, startDnsGateway } from "./testing/dns-gateway.ts";

let source: DnsGateway["source"];
let gateway: DnsGateway["gateway"];
let tenant: DnsGateway["tenant"];
let dns: DnsGateway["dns"];
let clock: DnsGateway["clock"];
let published: DnsGateway["published"];
let folder: string;
let close: DnsGateway["close"];
beforeEach(async () => {
  ({ source, gateway, tenant, dns, clock, published, folder, close } = await startDnsGateway());
});
afterEach(() => close());

const call = (method: string, path: string, body?: unknown, of = tenant) => gateway.call(method, `/api/v1/dns${path}`, of.token, body);
const create = async (wish: object) => DnsList.parse((await call("POST", "/lists", wish)).body);
const read = async (id: string) => DnsList.parse((await call("GET", `/lists/${id}`)).body);
const versions = async (id: string) => listEnvelope(DnsListVersion).parse((await call("GET", `/lists/${id}/versions`)).body).data;
const check = async (query: string) => DnsCheck.parse((await call("GET", `/check?${query}`)).body);
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `n${from + index}.example.com\n`).join("");
const serve = (text: string | Buffer) => source.serve("/list.txt", Buffer.from(text));
const PLACE = () => ({ name: "ads", category: "advertising", url: `${source.url}/list.txt` });
/** Asks its source now, and waits for what comes of it. */
const update = async (id: string) => {
  expect((await call("POST", `/lists/${id}/update`)).status).toBe(202);
  await dns.updates.run();
  return read(id);
};
/** All policies enforce. */
const enforce = async () => {
  for (const { id } of listEnvelope(DnsPolicy).parse((await call("GET", "/policies")).body).data) expect((await call("PUT", `/policies/${id}`, { mode: "enforce" })).status).toBe(200);
};
const bundle = () => {
  const last = published.at(-1) as DnsGateway["published"][number];
  const opened = readDnsBundle(last.files);
  if (!opened.ok) throw new Error(opened.message);
  return { ...opened, last, text: opened.lists.lists.map(({ parts }) => parts.map((path) => gunzipSync(last.files.get(path) as Buffer).toString()).join("")) };
};

describe("a list of a URL", () => {
  test("is downloaded, read in the format that it has, and active at once; its policy observes", async () => {
    serve(gzipSync(`# today\n0.0.0.0 a.example\n0.0.0.0 b.example\nnonsense§\n`));
    const { id } = await create(PLACE());
    await dns.updates.run();
    expect(await read(id)).toMatchObject({ kind: "url", error: null, active: { version: 1, format: "hosts", rules: 2, refused: 1, added: 3, is_held: false, refusals: [{ line: 4 }] } });
    expect(await check("name=A.example.")).toMatchObject({ name: "a.example", action: "allow", policy: "Everyone", observed: { list: "ads", rule: "a.example", first_seen: "2026-01-01" } });
    await enforce();
    expect(await check("name=a.example")).toMatchObject({ action: "block", answer: "nxdomain", extended_error: "15: ads (advertising)", rule: { list_id: id }, allow_name: "a.example" });
    expect((await check("name=a.example")).steps.map(({ step }) => step)).toEqual(expect.arrayContaining(["policy", "filter-lists", "result"]));
    expect(await check("name=c.example")).toMatchObject({ action: "allow", reason: "no-match", rule: null });
  });

  test("that fails keeps the version before and says why; the third failure is an alert", async () => {
    serve(names(1, 9));
    const { id } = await create(PLACE());
    await dns.updates.run();
    source.serve("/list.txt", (_, response) => void response.writeHead(503).end());
    expect(await update(id)).toMatchObject({ error: expect.stringContaining("503") as string, active: { version: 1 } });
    serve("<html><body>moved</body></html>\n".repeat(9));
    expect(await update(id)).toMatchObject({ error: expect.stringContaining("format") as string, active: { version: 1 } });
    serve("");
    expect((await update(id)).active?.version).toBe(1);
    const alerts = await gateway.db.selectFrom("alerts").select(["title", "status"]).where("type", "=", "feed").execute();
    expect(alerts).toMatchObject([{ title: expect.stringContaining("Block list ads") as string, status: "open" }]);
  });

  test("that shrinks by half, or blocks public suffixes or protected names, is held back until a person activates it", async () => {
    expect((await call("POST", "/rules", { name: "bank.example", action: "protect" })).status).toBe(201);
    serve(names(1, 11));
    const { id } = await create({ ...PLACE(), format: "domains" });
    await dns.updates.run();
    for (const [text, note] of [[names(1, 5), "shrinks"], [`${names(1, 11)}co.uk\n`, "co.uk"], [`${names(1, 11)}bank.example\n`, "bank.example"]] as const) {
      serve(text);
      expect((await update(id)).active?.version).toBe(1);
      expect((await versions(id))[0]).toMatchObject({ is_held: true, is_active: false, note: expect.stringContaining(note) as string });
    }
    expect((await versions(id)).map(({ version }) => version)).toEqual([4, 3, 1]);
    expect((await call("POST", `/lists/${id}/versions/3/activate`)).status).toBe(200);
    expect((await read(id)).active).toMatchObject({ version: 3, is_held: false });
    expect((await call("POST", `/lists/${id}/rollback`)).status).toBe(200);
    expect((await read(id)).active?.version).toBe(1);
    expect((await call("POST", `/lists/${id}/versions/9/activate`)).status).toBe(404);
  });

  test("keeps the day on which each of its names was first seen", async () => {
    serve("a.example\nb.example\n");
    const { id } = await create(PLACE());
    await dns.updates.run();
    await clock.advance(3 * 86_400_000);
    serve("# other\nb.example\nc.example\na.example\n");
    expect((await update(id)).active).toMatchObject({ version: 2, added: 1, removed: 0 });
    expect((await check("name=a.example")).matches).toMatchObject([{ first_seen: "2026-01-01" }]);
    expect((await check("name=c.example")).matches).toMatchObject([{ first_seen: "2026-01-04" }]);
    await clock.advance(86_400_000);
    serve("# a newer date\nb.example\nc.example\na.example\n");
    expect((await update(id)).active?.version).toBe(2);
  });
});

describe("a site's bundle", () => {
  test("has the lists in parts, of which a change changes few, and the decisions; it is the same for the same", async () => {
    const many = Array.from({ length: 60_000 }, (_, index) => `host${index * 7919}.advertising-network.example`);
    serve(`${many.join("\n")}\n`);
    const { id } = await create(PLACE());
    await dns.updates.run();
    await dns.bundling.run();
    const first = bundle();
    expect(first.lists.lists).toMatchObject([{ id, format: "domains", category: "advertising", rules: 60_000 }]);
    expect(first.text[0]?.split("\n").filter((line) => line !== "" && !line.startsWith("#day "))).toEqual(many);
    expect(first.lists.lists[0]?.parts.length).toBeGreaterThan(5);
    // The policy that comes with the first list may have been published before the list was there.
    const made = published.length;
    await dns.bundling.run();
    expect(published.length).toBe(made);
    serve(`${many.toSpliced(30_000, 1, "new.example").join("\n")}\n`);
    await update(id);
    await dns.bundling.run();
    const second = bundle();
    const fresh = [...second.last.files].filter(([path, bytes]) => !first.last.files.get(path)?.equals(bytes)).map(([path]) => path);
    expect([second.last.version, fresh.length]).toEqual([first.last.version + 1, 2]);
    expect((await call("POST", `/lists/${id}/rollback`)).status).toBe(200);
    await dns.bundling.run();
    const third = bundle();
    expect([third.last.version, ...[...third.last.files].map(([path, bytes]) => first.last.files.get(path)?.equals(bytes))].every(Boolean)).toBe(true);
  });

  test("changes in the part with decisions alone when a name is allowed or filtering pauses, and again when that ends", async () => {
    await create({ name: "own", names: "a.example\n" });
    await enforce();
    await dns.bundling.run();
    const before = bundle().last;
    expect((await call("POST", "/allow", { name: "a.example", reason: "needed" })).status).toBe(201);
    expect((await call("POST", "/pause", {})).status).toBe(201);
    await dns.bundling.run();
    const { last, policy } = bundle();
    expect([...last.files].filter(([path, bytes]) => !before.files.get(path)?.equals(bytes)).map(([path]) => path)).toEqual(["policy.json"]);
    expect(policy).toMatchObject({ allowances: [{ name: "a.example", until_ms: Date.UTC(2026, 0, 1, 1), scope: { kind: "everyone" } }], pauses: [{ until_ms: Date.UTC(2026, 0, 1, 0, 10) }] });
    await clock.advance(3_600_001);
    await dns.bundling.run();
    expect(bundle().policy).toMatchObject({ allowances: [], pauses: [] });
  });

  test("has only what is for the site, and devices that scopes name with their addresses", async () => {
    const other = (await gateway.call("POST", "/api/v1/sites", tenant.token, { name: "branch" })).body as { readonly id: string };
    const made = await gateway.call("POST", "/api/v1/devices", tenant.token, { ip: "192.0.2.7", hostname: "tablet", tags: ["children", "floor-2"], site_id: tenant.siteId });
    const device = (made.body as { readonly id: string }).id;
    await create({ name: "here", site_id: tenant.siteId, names: "a.example\n" });
    await create({ name: "adult", category: "adult", names: "x.example\n" });
    expect((await call("POST", "/policies", { name: "Children", group: "children", answer: "zero", lists: [{ category: "adult", schedule: { time_zone: "Europe/Berlin", spans: [{ days: ["sun"], from: "08:00", to: "24:00" }] } }] })).status).toBe(201);
    expect((await call("POST", "/policies", { name: "Guests", site_id: other.id, vlan: 7 })).status).toBe(201);
    expect((await call("POST", "/rules", { name: "bad.example", action: "block", site_id: other.id })).status).toBe(201);
    const guest = await gateway.call("POST", "/api/v1/devices", tenant.token, { ip: "10.7.0.5", hostname: "guest", site_id: other.id });
    for (const [prefix, vlan_id, site_id] of [["10.7.0.0/16", 7, null], ["10.7.0.0/24", 7, other.id], ["10.8.0.0/24", 8, other.id], ["10.9.0.0/24", 7, tenant.siteId]] as const) {
      expect((await gateway.call("POST", "/api/v1/ipam/prefixes", tenant.token, { prefix, vlan_id, ...(site_id === null ? {} : { site_id }) })).status).toBe(201);
    }
    await dns.bundling.run();
    const of = (siteId: string) => readDnsBundle(published.findLast((one) => one.siteId === siteId)?.files ?? new Map());
    const [here, there] = [of(tenant.siteId), of(other.id)];
    if (!here.ok || !there.ok) throw new Error("no bundle");
    expect(here.lists.lists.map(({ name }) => name)).toEqual(["here", "adult"]);
    expect(there.lists.lists.map(({ name }) => name)).toEqual(["Blocked by hand", "adult"]);
    expect(here.policy.policies.map(({ name, scope }) => [name, scope])).toEqual([["Everyone", { kind: "everyone" }], ["Children", { kind: "group", id: "children" }]]);
    expect(here.policy.policies[1]?.lists).toMatchObject([{ mode: "enforce", schedule: { time_zone: "Europe/Berlin", spans: [{ days: [0], from_minute: 480, to_minute: 1440 }] } }]);
    expect(here.policy.devices).toEqual([{ id: device, name: "tablet", groups: ["children"], ips: ["192.0.2.7"], macs: [] }]);
    expect(there.policy.policies.map(({ scope }) => scope)).toEqual([{ kind: "everyone" }, { kind: "group", id: "children" }, { kind: "vlan", vlan: 7 }]);
    expect(there.policy.devices).toEqual([]);
    expect([here.policy.vlans, there.policy.vlans]).toEqual([undefined, [{ vlan: 7, network: "10.7.0.0/16" }, { vlan: 7, network: "10.7.0.0/24" }]]);
    expect(await check(`name=x.example&device_id=${(guest.body as { readonly id: string }).id}`)).toMatchObject({ policy: "Guests" });
    expect(await check(`name=x.example&device_id=${device}`)).toMatchObject({ policy: "Children", device_id: device });
  });
});

describe("what people decide", () => {
  test("allows the name behind the one that was asked for, for an hour", async () => {
    await create({ name: "own", names: "||ads.example^\n" });
    await enforce();
    expect(await check("name=shop.example&cname=cdn.example,x.ads.example")).toMatchObject({ action: "block", rule: { section: "cname", record: "x.ads.example" }, allow_name: "x.ads.example" });
    const made = DnsAllowance.parse((await call("POST", "/allow", { name: "shop.example", cname: ["cdn.example", "x.ads.example"] })).body);
    expect(made).toMatchObject({ name: "x.ads.example", expires_at: "2026-01-01T01:00:00.000Z" });
    expect(await check("name=shop.example&cname=cdn.example,x.ads.example")).toMatchObject({ action: "allow" });
    expect((await call("DELETE", `/allow/${made.id}`)).status).toBe(204);
    expect(await check("name=shop.example&cname=x.ads.example")).toMatchObject({ action: "block" });
    expect((await call("POST", "/allow", { name: "shop.example", expires_at: "2025-01-01T00:00:00.000Z" })).status).toBe(400);
    expect((await call("POST", "/allow", { name: "not a name" })).status).toBe(400);
  });

  test("blocks by hand without any list or policy, pauses, and ends by itself", async () => {
    expect((await call("POST", "/rules", { name: "Bad.Example.", action: "block", reason: "case 7" })).status).toBe(201);
    expect(await check("name=www.bad.example")).toMatchObject({ action: "block", rule: { list_id: "rules", list: "Blocked by hand" } });
    expect((await call("POST", "/pause", {})).status).toBe(201);
    expect(await check("name=bad.example")).toMatchObject({ action: "allow", reason: "paused" });
    await clock.advance(600_001);
    expect(await check("name=bad.example")).toMatchObject({ action: "block" });
    expect((await call("POST", "/rules", { name: "www.bad.example", action: "allow" })).status).toBe(201);
    expect(await check("name=www.bad.example")).toMatchObject({ action: "allow", reason: "allowance" });
  });

  test("is audited, one policy for the same clients, and nothing of another tenant's", async () => {
    const stranger = await gateway.createTenant("admin");
    const list = await create({ name: "own", names: "a.example\n" });
    expect((await call("POST", "/policies", { name: "again" })).status).toBe(409);
    expect((await call("POST", "/policies", { name: "x", group: "a", site_id: tenant.siteId })).status).toBe(400);
    expect((await call("POST", "/policies", { name: "x", site_id: stranger.siteId })).status).toBe(404);
    expect((await call("POST", "/policies", { name: "x", group: "a", lists: [{ list_id: list.id }] }, stranger)).status).toBe(404);
    expect((await call("GET", `/lists/${list.id}`, undefined, stranger)).status).toBe(404);
    expect((await call("GET", `/check?name=a.example&site_id=${tenant.siteId}`, undefined, stranger)).status).toBe(404);
    const actions = (await gateway.db.selectFrom("audit").select("action").where("tenant_id", "=", tenant.tenantId).where("action", "like", "dns_%").execute()).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(["dns_list.create", "dns_policy.create"]));
  });

  test("a list is a file of the collector's folder, or sent; what is none is refused", async () => {
    mkdirSync(join(folder, "dns-lists"), { recursive: true });
    writeFileSync(join(folder, "dns-lists", "zone.rpz"), "$ORIGIN rpz.example.\n@ 60 IN SOA a. b. 1 2 3 4 5\nbad.example CNAME .\n");
    const { id } = await create({ name: "zone", file: "zone.rpz", category: "malware" });
    await dns.updates.run();
    expect((await read(id)).active).toMatchObject({ format: "rpz", rules: 1 });
    expect((await call("POST", "/lists", { name: "x", names: "!!\n" })).status).toBe(400);
    expect((await call("POST", "/lists", { name: "x", file: "../etc" })).status).toBe(400);
    expect((await call("PUT", `/lists/${id}`, { names: "a.example\n" })).status).toBe(400);
  });
});
