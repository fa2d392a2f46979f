import { createId, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { ProbeAddress } from "../../broker/broker.ts";
import { addressKey } from "../../db/keys/address-key.ts";
import { DEFAULT_SITE_CONFIGURATION } from "../../services/sites/service.ts";
import { hostState, type IngestBench } from "./bench.ts";

/** Another tenant of the same collector, who must notice nothing of an attack. For tests. */
export interface Foreign {
  /**
   * Sends one more batch. `isUnharmed` where all that it had is there, byte for byte, and nothing else but what it sent meanwhile: batches,
   * of one event each.
   */
  outcome(): Promise<{ readonly isUnharmed: boolean; readonly sent: number; readonly acknowledged: number; readonly logged: number }>;
}

const TABLES = [
  "sites", "devices", "device_counts", "site_discoveries", "interfaces", "addresses", "ports", "device_changes", "evidence", "device_keys",
  "device_merges", "alerts", "rejected_events", "events", "probe_queues",
] as const;

/**
 * Its site has hosts of the addresses and MACs that attacks use, an open alert, history, an event that nobody can read, and two
 * queues. From then on it sends a batch beside every fifth that the bench sends.
 * @param bench With a long `silentAfterSeconds` where its clock is set forward: else this tenant's probe is silent too.
 */
export async function addForeign(bench: IngestBench): Promise<Foreign> {
  const { db } = bench.database;
  const at = toInstant(bench.clock.now());
  const [tenantId, siteId, probeId, queueId, beatQueue] = [createId(), createId(), createId(), createId(), createId()];
  await db.insertInto("tenants").values({ id: tenantId, name: "foreign", created_at: at }).execute();
  await db.insertInto("sites").values({
    id: siteId, tenant_id: tenantId, name: "site", created_at: at, probe_configuration: DEFAULT_SITE_CONFIGURATION,
  }).execute();
  await db.insertInto("probes").values({
    id: probeId, tenant_id: tenantId, site_id: siteId, name: "probe", enrolled_at: at, revoked_at: null, certificate_serial: "00",
    certificate_expires_at: at, version: "", state: "enrolled", silent_since: null, last_heard_at: null, run_id: null, health: null,
  }).execute();
  const probe: ProbeAddress = { tenantId, probeId };
  const host = { ip: "192.0.2.10", mac: "00:1b:21:00:00:01", hostname: "finance-pc" };
  const key = { field: "dhcp_duid", value: "000100012abbccdd0011", source: "dhcp", confidence: 0.9, seen_at: at };
  const events = [
    { type: "host_found", data: { ...hostState(host, at), evidence: [...hostState(host, at).evidence, key] } },
    { type: "host_found", data: hostState({ ip: "10.9.0.5", mac: "06:00:00:00:00:05" }, at) },
    { type: "host_changed", data: { ...hostState({ ...host, hostname: "finance" }, at), changed: ["hostname"] } },
    { type: "error", data: { code: "note", message: "x" } },
    { type: "from_the_future", data: {} },
  ].map((event) => ({ ...event, occurred_at: at }));
  const ack = await bench.sendBatch(probe, queueId, 0, events);
  if (ack?.watermark !== events.length) throw new Error("the other tenant could not be made");
  await db.insertInto("alerts").values({
    id: createId(), tenant_id: tenantId, site_id: siteId, device_id: null, device_ip: "", probe_id: probeId, source: "honeypot",
    type: "honeypot_hit", subject: "x", open_key: createId(), severity: "high", severity_rank: 3, title: "x", description: "x",
    status: "open", count: 1, first_seen: at, last_seen: at, evidence: "[]", mitre_techniques: "[]", notified: 1, quiet_at: null,
    acknowledged_by: null, acknowledged_at: null, resolved_by: null, resolved_at: null,
  }).execute();
  await db.insertInto("addresses").values({
    device_id: (await db.selectFrom("devices").select("id").where("tenant_id", "=", tenantId).orderBy("mac").executeTakeFirstOrThrow()).id,
    tenant_id: tenantId, site_id: siteId, mac: "00:1b:21:00:00:01", ip: "192.0.2.99", ip_key: addressKey("192.0.2.99"), first_seen: at,
    last_seen: at, current: 0,
  }).execute();
  const send = bench.sendBatch;
  let sent = 0;
  let acknowledged = 0;
  const beat = async () => {
    const now = toInstant(bench.clock.now());
    sent += 1;
    // Of nobody who is known: nothing of the inventory changes.
    const data = { hosts: [{ ip: "198.51.100.1", mac: "", last_seen_at: now, presence_state: "online" as const }] };
    const answer = await send(probe, beatQueue, sent - 1, [{ type: "presence_report", occurred_at: now, data }]);
    if (answer?.refused === null) acknowledged += 1;
  };
  let batches = 0;
  bench.sendBatch = async (...batch) => {
    batches += 1;
    const [answer] = await Promise.all([send(...batch), ...(batches % 5 === 1 ? [beat()] : [])]);
    return answer;
  };
  const tables = db as unknown as Kysely<Record<string, Record<string, string>>>;
  const rows = async () => JSON.stringify(await Promise.all(TABLES.map(async (table) =>
    (await tables.selectFrom(table).selectAll().where("tenant_id", "=", tenantId).execute()).map((row) => JSON.stringify(row))
      .filter((row) => !row.includes(beatQueue)).toSorted())));
  const before = await rows();
  return {
    async outcome() {
      await beat();
      const logged = await db.selectFrom("events").select("seq").where("tenant_id", "=", tenantId).where("queue_id", "=", beatQueue).execute();
      return { isUnharmed: await rows() === before, sent, acknowledged, logged: logged.length };
    },
  };
}
