import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EventData, IdsStats, IdsSuppressionRecord, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEventLog, type EventLog } from "../../../events/log.ts";
import { createReactions } from "../../../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../../../reactions.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { createAlertReaction } from "../../alerts/reaction/reaction.ts";
import { type Ids, openIds } from "../open.ts";
import { noCaptures } from "../testing/rules.ts";

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let ids: Ids;
let log: EventLog;
let directory: string;
/** Events for which webhooks would be called. */
let delivered: string[];
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  directory = mkdtempSync(join(tmpdir(), "lanthorn-noise-"));
  gateway = await startTestGateway({
    clock,
    modules(parts) {
      ids = openIds({ data_dir: directory }, { ...parts, log: parts.logger, events: parts.log, captures: noCaptures, fetchFile: () => Promise.resolve(null), publish: () => Promise.resolve(true), onPublished: async () => {} });
      return [ids];
    },
  });
  tenant = await gateway.createTenant("admin");
  delivered = [];
  log = createEventLog({
    reads: gateway.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, {
      intrusions: ids.reaction, alerts: createAlertReaction({ maxOpen: 100 }),
      deliveries: { types: [], react: (_, __, events: readonly { readonly type: string; readonly isQuiet: boolean }[]) => Promise.resolve(void delivered.push(...events.filter(({ isQuiet }) => !isQuiet).map(({ type }) => type))) },
    }),
  });
});
afterEach(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

const call = (method: string, path: string, body?: unknown, of = tenant) => gateway.call(method, `/api/v1/ids${path}`, of.token, body);
const suppress = async (parts: object) => IdsSuppressionRecord.parse((await call("POST", "/suppressions", { reason: "known", ...parts })).body);
const hitsOf = async (id: string) => IdsSuppressionRecord.parse((await call("GET", `/suppressions/${id}`)).body).hits;
const stats = async () => IdsStats.parse((await call("GET", "/stats")).body);
const alerts = () => gateway.db.selectFrom("alerts").select(["subject", "count", "status"]).where("type", "=", "ids_alert").orderBy("id").execute();
const append = async (...all: readonly (Partial<EventData<"ids_alert">> & { readonly deviceId?: string })[]) => {
  const at = toInstant(clock.now());
  await gateway.db.transaction().execute((trx) => log.append(trx, tenant.tenantId, all.map(({ deviceId = null, ...data }) => ({
    type: "ids_alert", siteId: tenant.siteId, probeId: null, deviceId, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
    data: {
      signature_id: 7, revision: 1, signature: "ET SCAN a", category: "Misc activity", class: "misc-activity", severity: "low", source_ip: "192.0.2.9", source_port: 1, destination_ip: "198.51.100.1",
      destination_port: 80, protocol: "tcp", mitre_techniques: [], packets: [], subject_ip: "192.0.2.9", ...data,
    },
  }))));
};

describe("what is suppressed", () => {
  test.each<[string, object]>([
    ["its signature", { signature_id: 7 }], ["its category", { category: "ET SCAN" }], ["its class", { category: "misc-activity" }], ["its source", { source: "192.0.2.0/24" }],
    ["its destination", { destination: "198.51.100.1" }], ["a network of either end", { network: "198.51.100.0/24" }],
  ])("by %s is in the log and counted, raises no alert and calls nobody", async (_, parts) => {
    const { id } = await suppress(parts);
    await append({}, { source_ip: "203.0.113.9", destination_ip: "203.0.113.1", signature_id: 8, signature: "ET MALWARE b", category: "A Trojan", class: "trojan-activity", subject_ip: "203.0.113.9" });
    expect(await alerts()).toMatchObject([{ subject: "8 203.0.113.9" }]);
    expect(delivered.filter((type) => type === "ids_alert")).toEqual(["ids_alert"]);
    expect((await gateway.db.selectFrom("events").select("id").where("type", "=", "ids_alert").execute()).length).toBe(2);
    expect(await hitsOf(id)).toBe(1);
    expect(await stats()).toMatchObject({ alerts: 1, suppressed: 1 });
  });

  test("by its class is compared by the class's name, and in words where its engine says no other", async () => {
    await suppress({ category: "trojan-activity" });
    await suppress({ category: "Attempted Information Leak" });
    await append({ category: "A Network Trojan was detected", class: "trojan-activity" }, { signature_id: 8, category: "Attempted Information Leak", class: "attempted-recon" }, { signature_id: 9, category: "Attempted Information Leak", class: undefined });
    expect((await alerts()).map(({ subject }) => subject)).toEqual(["8 192.0.2.9"]);
  });

  test("by a device is that of its addresses, wherever they are at that time", async () => {
    const deviceId = await gateway.createDevice(tenant, { ip: "192.0.2.9" });
    await gateway.db.insertInto("addresses").values({
      device_id: deviceId, tenant_id: tenant.tenantId, site_id: tenant.siteId, mac: "", ip: "192.0.2.9", ip_key: "", first_seen: "", last_seen: "", current: 1,
    }).onConflict((conflict) => conflict.doNothing()).execute();
    await suppress({ device_id: deviceId });
    await append({}, { source_ip: "192.0.2.10", subject_ip: "192.0.2.10" });
    expect(await alerts()).toMatchObject([{ subject: "7 192.0.2.10" }]);
  });

  test("is reported again when the suppression ends, and an alert from before ends as it would", async () => {
    await append({ count: 1, since: "2026-06-01T12:00:00.000Z" });
    const { id } = await suppress({ signature_id: 7, expires_at: "2026-06-01T13:00:00.000Z" });
    await append({ count: 4, since: "2026-06-01T12:00:00.000Z" }, { count: 4, since: "2026-06-01T12:00:00.000Z", state: "ended" });
    expect([await alerts(), await hitsOf(id), delivered.filter((type) => type === "ids_alert").length]).toMatchObject([[{ count: expect.any(Number) as number, status: "resolved" }], 3, 1]);
    await clock.leap(3_600_000);
    await append({});
    expect((await alerts()).filter(({ status }) => status === "open")).toHaveLength(1);
    expect((await call("GET", `/suppressions/${id}`)).status).toBe(404);
  });

  test("at one site, or of another tenant, is not so elsewhere", async () => {
    const other = await gateway.createTenant("admin");
    expect((await call("POST", "/suppressions", { signature_id: 7, reason: "known" }, other)).status).toBe(201);
    expect((await call("POST", "/suppressions", { signature_id: 7, reason: "known", site_id: tenant.siteId }, other)).status).toBe(404);
    const { id } = await suppress({ signature_id: 7, site_id: tenant.siteId });
    for (const method of ["GET", "DELETE"]) expect((await call(method, `/suppressions/${id}`, undefined, other)).status).toBe(404);
    await append({});
    expect(await alerts()).toEqual([]);
    expect((await call("DELETE", `/suppressions/${id}`)).status).toBe(204);
    await append({});
    expect(await alerts()).toHaveLength(1);
    expect(listEnvelope(IdsSuppressionRecord).parse((await call("GET", "/suppressions")).body).data).toEqual([]);
    expect((await gateway.db.selectFrom("audit").select("action").where("tenant_id", "=", tenant.tenantId).orderBy("id").execute()).map(({ action }) => action))
      .toEqual(["ids_suppression.create", "ids_suppression.delete"]);
  });

  test.each<[string, object, string]>([
    ["nothing", {}, ""], ["an end that is past", { signature_id: 1, expires_at: "2026-06-01T11:00:00.000Z" }, "expires_at"], ["a network that is none", { source: "10.0.0.0/33" }, "source"],
  ])("is refused with %s", async (_, parts, path) => {
    const { status, error } = await call("POST", "/suppressions", { reason: "known", ...parts });
    expect([status, (error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
  });
});

describe("the statistics", () => {
  test("name the noisiest, and offer to suppress what is loud at one host or at all", async () => {
    await append(
      { count: 90, since: "2026-06-01T12:00:00.000Z" }, { signature_id: 8, signature: "ET SCAN b", count: 30, since: "2026-06-01T12:00:00.000Z", would_block: true },
      { signature_id: 8, signature: "ET SCAN b", subject_ip: "192.0.2.10", count: 30, since: "2026-06-01T12:00:00.000Z" }, { signature_id: 9, signature: "ET SCAN c" },
    );
    await append({ count: 100, since: "2026-06-01T12:00:00.000Z" });
    expect(await stats()).toMatchObject({
      alerts: 161, suppressed: 0, would_block: 30, is_first_week: true,
      noisiest: [
        { signature_id: 7, alerts: 100, hosts: 1, suggestion: { signature_id: 7, generator_id: 1, network: "192.0.2.9" } },
        { signature_id: 8, alerts: 60, hosts: 2, suggestion: { signature_id: 8 } }, { signature_id: 9, alerts: 1, suggestion: null },
      ],
    });
    const { noisiest } = await stats();
    expect((await call("POST", "/suppressions", noisiest[0]?.suggestion)).status).toBe(201);
    await append({ count: 150, since: "2026-06-01T12:00:00.000Z" });
    expect((await stats()).noisiest[0]).toMatchObject({ alerts: 100, suppressed: 50 });
  });

  test("of a probe that makes up signatures and hosts have a bound", async () => {
    for (let round = 0; round < 11; round += 1) {
      await append(...Array.from({ length: 500 }, (_, index) => ({ signature_id: 1000 + round * 500 + index, signature: createId() })));
    }
    const { rows } = await gateway.db.selectFrom("ids_signature_counts").select((eb) => eb.fn.countAll<number>().as("rows")).executeTakeFirstOrThrow();
    expect([rows <= 5001, (await stats()).alerts]).toEqual([true, 5500]);
    await clock.leap(91 * 86_400_000);
    for (const job of ids.retention ?? []) await job.run();
    expect(await gateway.db.selectFrom("ids_signature_counts").select("day").execute()).toEqual([]);
  });
});
