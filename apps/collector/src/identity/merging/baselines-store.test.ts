import { MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { createFakeClock, createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

const NOW = Date.UTC(2026, 5, 1);
const AT = toInstant(NOW);

let gateway: TestGateway;
let tenant: TestTenant;
let kept: string;
let merged: string;
beforeEach(async () => {
  gateway = await startTestGateway({ clock: createFakeClock(NOW) });
  tenant = await gateway.createTenant("admin");
  [kept, merged] = [await addDevice(1), await addDevice(2)];
});
afterEach(() => gateway.stop());

async function addDevice(last: number, of = tenant): Promise<string> {
  const answer = await gateway.call("POST", "/api/v1/devices", of.token, { ip: `10.0.0.${last}`, mac: `00:1b:21:00:00:0${last}` });
  return (answer.body as { readonly id: string }).id;
}
/** A baseline of a device, or of the site, with facts as `KIND KEY` and their values. */
async function baseline(deviceId: string | null, facts: Readonly<Record<string, string>> = {}, state = "active"): Promise<string> {
  const { tenantId: tenant_id, siteId: site_id } = tenant;
  const id = createId();
  await gateway.db.insertInto("baselines").values({
    id, tenant_id, site_id, device_id: deviceId, scope: deviceId ?? "", state, learning_until: null, learned_at: AT, approved_by: null, approved_at: null,
    settings: "{}", presence: "", scopes: "", compare_at: "2100-01-01T00:00:00.000Z", created_at: AT, updated_at: AT,
  }).execute();
  await insertMany(gateway.db, "baseline_facts", Object.entries(facts).map(([name, value]) => {
    const [kind = "", key = ""] = name.split(" ");
    return { baseline_id: id, tenant_id, kind, key, value, source: "edited", author: "ann", reason: "x", first_seen: AT, looked_at: AT, scope: "scan" };
  }));
  return id;
}
const factsOf = async (deviceId: string | null) => Object.fromEntries((await gateway.reads.selectFrom("baseline_facts")
  .innerJoin("baselines", "baselines.id", "baseline_facts.baseline_id").select(["kind", "key", "value"])
  .where("baselines.site_id", "=", tenant.siteId).where("baselines.scope", "=", deviceId ?? "").execute()).map(({ kind, key, value }) => [`${kind} ${key}`, value]));
const stateOf = (deviceId: string) => gateway.reads.selectFrom("baselines").select(["state", "learning_until", "compare_at"]).where("device_id", "=", deviceId)
  .executeTakeFirst();
const post = async (status: number, path: string, body: unknown) => {
  const answer = await gateway.call("POST", `/api/v1/devices/${path}`, tenant.token, body);
  expect([answer.status, answer.error]).toEqual([status, undefined]);
};
const merge = () => post(200, `${kept}/merge`, { with: merged });
const accept = (of: { readonly device_id?: string; readonly tenant?: TestTenant }) => gateway.db.insertInto("baseline_acceptances").values({
  id: createId(), tenant_id: (of.tenant ?? tenant).tenantId, site_id: (of.tenant ?? tenant).siteId, device_id: of.device_id ?? null, tag: null, kind: "port",
  key: "tcp/4444", outcome: "appeared", observed: "open", reason: "x", created_by: "ann", created_at: AT, expires_at: null,
}).execute();

describe("a merge", () => {
  test("keeps what is normal of both, and the kept one's word where they differ", async () => {
    await baseline(kept, { "port tcp/22": "open", "service tcp/22": "ssh OpenSSH 9" });
    await baseline(merged, { "service tcp/22": "ssh dropbear", "port tcp/80": "open", "presence week": "Mon 08-18" });
    await merge();
    expect(await factsOf(kept)).toEqual({ "port tcp/22": "open", "service tcp/22": "ssh OpenSSH 9", "port tcp/80": "open" });
    expect(await factsOf(merged)).toEqual({});
    const [fact] = await gateway.reads.selectFrom("baseline_facts").selectAll().where("key", "=", "tcp/80").execute();
    expect(fact).toMatchObject({ tenant_id: tenant.tenantId, source: "edited", author: "ann", reason: "x", scope: "scan" });
  });

  test("keeps what was accepted of the other one, and its maintenance windows", async () => {
    await accept({ device_id: merged });
    await accept({});
    await gateway.db.insertInto("baseline_windows").values({
      id: createId(), tenant_id: tenant.tenantId, site_id: tenant.siteId, device_id: merged, tag: null, begins_at: AT, ends_at: toInstant(NOW + 1000),
      effect: "hold", reason: "x", created_by: "ann", created_at: AT,
    }).execute();
    await merge();
    for (const table of ["baseline_acceptances", "baseline_windows"] as const) {
      const rows = await gateway.reads.selectFrom(table).select("device_id").orderBy("id").execute();
      expect(rows.map(({ device_id: id }) => id)).toEqual(table === "baseline_windows" ? [kept] : [kept, null]);
    }
  });

  test("makes no new device of one whose other half the site knew, and keeps no more facts than a baseline has", async () => {
    await baseline(null, { [`device ${merged}`]: "nas" });
    const many = (protocol: string, count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`port ${protocol}/${index + 1}`, "open"]));
    await baseline(kept, many("tcp", MAX_BASELINE_FACTS - 10));
    await baseline(merged, many("udp", 100));
    await merge();
    expect((await factsOf(null))[`device ${kept}`]).toBe("nas");
    expect(Object.keys(await factsOf(kept)).length).toBe(MAX_BASELINE_FACTS);
  });

  test("has the kept one compared anew, and leaves those of another tenant alone", async () => {
    const stranger = await gateway.createTenant("admin");
    const theirs = await addDevice(2, stranger);
    await accept({ device_id: theirs, tenant: stranger });
    await baseline(kept);
    await merge();
    expect((await stateOf(kept))?.compare_at).toBe(AT);
    expect(await gateway.reads.selectFrom("baseline_acceptances").select(["device_id", "tenant_id"]).execute())
      .toEqual([{ device_id: theirs, tenant_id: stranger.tenantId }]);
  });

  test("into a device that has no baseline yet is one that learns later", async () => {
    await baseline(merged, { "port tcp/80": "open" });
    await merge();
    expect([await stateOf(kept), await factsOf(kept)]).toEqual([undefined, {}]);
  });
});

describe("a split", () => {
  const undo = async () => {
    const { id } = await gateway.reads.selectFrom("device_merges").select("id").executeTakeFirstOrThrow();
    return post(201, `${kept}/split`, { merge_id: id });
  };
  const DAY = toInstant(NOW + 86_400_000);

  test("has the kept one learn anew for a day, and is no new device of the site", async () => {
    await baseline(null, { [`device ${kept}`]: "nas" });
    await baseline(kept, { "port tcp/22": "open" });
    await merge();
    await undo();
    expect(await stateOf(kept)).toEqual({ state: "learning", learning_until: DAY, compare_at: AT });
    expect(Object.keys(await factsOf(null)).toSorted()).toEqual([`device ${kept}`, `device ${merged}`].toSorted());
  });

  test("leaves a frozen baseline frozen", async () => {
    await baseline(kept, {}, "frozen");
    await merge();
    await undo();
    expect(await stateOf(kept)).toMatchObject({ state: "frozen", learning_until: null });
  });
});
