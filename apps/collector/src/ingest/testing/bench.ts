import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Acknowledgement, type Event, type ProbeEvent } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import type { Broker, ProbeAddress, UpChannel } from "../../broker/broker.ts";
import type { Database } from "../../db/open.ts";
import { createDeliveryReaction } from "../../deliveries/reaction.ts";
import { createEventLog } from "../../events/log.ts";
import { createReactions } from "../../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../../reactions.ts";
import { createAlertReaction } from "../../services/alerts/reaction/reaction.ts";
import { createTestRegistry } from "../../services/agents/testing/registry.ts";
import { DEFAULT_SITE_CONFIGURATION } from "../../services/sites/service.ts";
import { createMerges, type Merges } from "../../identity/merging/merges.ts";
import { createAudit } from "../../services/audit/audit.ts";
import { DEVICE_KEEP } from "../../testing/device-keep.ts";
import { openTestDatabase } from "../../testing/database.ts";
import { createIngest, type Ingest } from "../ingest.ts";
import type { QuotaLimits } from "../messages/quota.ts";

/** A tenant with a site and probes in a database of its own, and ingest over it with a broker that only records. For tests. */
export interface IngestBench {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly merges: Merges;
  readonly tenantId: string;
  readonly siteId: string;
  readonly acks: { readonly probeId: string; readonly ack: Acknowledgement }[];
  readonly configurations: { readonly probeId: string; readonly text: string; readonly retain: boolean }[];
  readonly published: number[];
  /** What was logged about batches and refusals. */
  readonly measured: unknown[];
  /** How many batches each transaction held. */
  readonly transactions: number[];
  /** Whether the broker is up. */
  brokerUp: boolean;
  /** How often the broker was asked for its health. */
  healthChecks: number;
  ingest: Ingest;
  addProbe(siteId?: string): Promise<ProbeAddress>;
  send(probe: ProbeAddress, channel: UpChannel, body: unknown, retained?: boolean): Promise<void>;
  /** A batch as the probe's uplink makes it. @returns The acknowledgement, or undefined when there was none. */
  sendBatch(
    probe: ProbeAddress, queueId: string, after: number, events: readonly (Event | ProbeEvent | { readonly type: string })[],
    firstSeq?: number,
  ): Promise<Acknowledgement | undefined>;
  /** As after a crash or a restart: the same database, nothing of the old one's memory. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param options.alerts Whether events raise alerts, as in the product.
 * @param options.keep What a device may keep; `DEVICE_KEEP` where it is left out.
 * @param options.silentAfterSeconds 90 where it is left out.
 */
export async function createIngestBench(
  options: {
    readonly alerts?: boolean; readonly silentAfterSeconds?: number; readonly quota?: QuotaLimits; readonly keep?: Partial<typeof DEVICE_KEEP>;
  } = {},
): Promise<IngestBench> {
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-ingest-"));
  const database = await openTestDatabase(directory);
  const clock = createFakeClock(Date.UTC(2026, 10, 20, 12));
  const [tenantId, siteId] = [createId(), createId()];
  const at = toInstant(clock.now());
  await database.db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: at }).execute();
  await database.db.insertInto("sites").values({
    id: siteId, tenant_id: tenantId, name: "site", created_at: at, probe_configuration: DEFAULT_SITE_CONFIGURATION,
  }).execute();
  const log = createEventLog({
    reads: database.reads,
    reactions: createReactions(REACTIONS, REACTION_ORDER, {
      deliveries: createDeliveryReaction(), ...(options.alerts ? { alerts: createAlertReaction({ maxOpen: 1000 }) } : {}),
    }),
  });
  const merges = createMerges({ audit: createAudit({ clock }), clock });
  const broker: Pick<Broker, "publish" | "health"> = {
    publish(probe, channel, payload, { retain }) {
      if (channel === "acks") bench.acks.push({ probeId: probe.probeId, ack: Acknowledgement.parse(JSON.parse(payload)) });
      if (channel === "config") bench.configurations.push({ probeId: probe.probeId, text: payload, retain });
      return Promise.resolve();
    },
    health() {
      bench.healthChecks += 1;
      return { status: bench.brokerUp ? "ok" : "degraded", detail: "" };
    },
  };
  const open = () => createIngest({
    registry: createTestRegistry({ ...database, clock }), db: database.db, reads: database.reads, log, merges, projections: REACTIONS, broker, clock,
    logger: silentLog, silentAfterSeconds: options.silentAfterSeconds ?? 90, keep: { ...DEVICE_KEEP, ...options.keep },
    ...(options.quota ? { quota: options.quota } : {}),
    measure: { batch: (batch) => void bench.measured.push(batch), transaction: (batches) => void bench.transactions.push(batches), refused: (reason) => void bench.measured.push(reason) },
    published: (_tenant, fromSeq) => void bench.published.push(fromSeq),
  });
  const bench: IngestBench = {
    database, clock, merges, tenantId, siteId, acks: [], configurations: [], published: [], measured: [], transactions: [], brokerUp: true, healthChecks: 0, ingest: open(),
    async addProbe(site = siteId) {
      const probeId = createId();
      await database.db.insertInto("probes").values({
        id: probeId, tenant_id: tenantId, site_id: site, name: "probe", enrolled_at: at, revoked_at: null, certificate_serial: "00",
        certificate_expires_at: at,
        version: "", state: "enrolled", silent_since: null, last_heard_at: null, run_id: null, health: null,
      }).execute();
      return { tenantId, probeId };
    },
    send: (probe, channel, body, retained = false) =>
      bench.ingest.receive({ ...probe, channel, retained, payload: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)) }),
    async sendBatch(probe, queueId, after, events, firstSeq = after + 1) {
      const before = bench.acks.length;
      await bench.send(probe, "events", {
        v: 1, queue_id: queueId, after, sent_at: toInstant(clock.now()),
        events: events.map((event, index) => ({ seq: firstSeq + index, ...event })),
      });
      return bench.acks.slice(before).find(({ probeId }) => probeId === probe.probeId)?.ack;
    },
    async restart() {
      // Whatever the old one still does by its timers would be another process's.
      await bench.ingest.close();
      bench.ingest = open();
      await bench.ingest.start();
    },
    async close() {
      await bench.ingest.close();
      await database.close();
      rmSync(directory, { recursive: true });
    },
  };
  await bench.ingest.start();
  return bench;
}

export interface HostSketch {
  readonly ip: string;
  readonly mac: string;
  readonly hostname?: string;
  readonly vendor?: string;
  readonly addresses?: readonly string[];
}

/** A host's state with what a test does not care about filled in. */
export function hostState(host: HostSketch, at: string) {
  const { ip, mac, hostname = "", vendor = "" } = host;
  return {
    ip, mac, hostname, vendor, addresses: [...(host.addresses ?? [ip])],
    evidence: [
      { field: "ip", value: ip, source: "arp", confidence: 0.9, seen_at: at },
      ...(hostname === "" ? [] : [{ field: "hostname", value: hostname, source: "dhcp", confidence: 0.8, seen_at: at }]),
    ],
  };
}
