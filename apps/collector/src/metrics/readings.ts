import type { Kysely } from "kysely";
import type { Broker } from "../broker/broker.ts";
import type { Schema } from "../db/schema.ts";
import type { Connections } from "../gateway/connections.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { LabelledReading, Reading } from "./metrics.ts";

/** What can be read off the parts of the collector and its database, over all tenants. */
export function readingsOf(parts: {
  readonly reads: Kysely<Schema>;
  readonly ingest: Pick<Ingest, "waiting">;
  readonly broker: Pick<Broker, "sessions" | "health">;
  readonly streams: { open(): number };
  readonly connections: Pick<Connections, "count">;
}): readonly (Reading | LabelledReading)[] {
  const { reads, ingest, broker, streams, connections } = parts;
  return [
    {
      name: "lanthorn_ingest_waiting_messages", help: "Messages of probes that are not committed yet",
      read: () => ingest.waiting().messages,
    },
    {
      name: "lanthorn_ingest_oldest_wait_seconds", help: "How long the oldest of them has waited",
      read: () => ingest.waiting().oldestMs / 1000,
    },
    { name: "lanthorn_stream_consumers", help: "Open streams of live events", read: () => streams.open() },
    {
      name: "lanthorn_connections", help: "Open connections of HTTP clients, by whether they have sent a valid credential", label: "kind",
      read: () => Promise.resolve({ stranger: connections.count().anonymous, known: connections.count().known }),
    },
    { name: "lanthorn_broker_up", help: "1 while the connection to the probes works", read: () => (broker.health().status === "ok" ? 1 : 0) },
    { name: "lanthorn_broker_sessions", help: "Probes that are connected, where the broker is our own", read: () => broker.sessions() },
    { name: "lanthorn_probes", help: "Probes by state", label: "state", read: () => probesByState(reads) },
    { name: "lanthorn_devices", help: "Devices by presence", label: "presence", read: () => devicesByPresence(reads) },
    {
      name: "lanthorn_webhook_deliveries_waiting", help: "Deliveries that are not done, by lane", label: "lane",
      read: () => waitingDeliveries(reads),
    },
  ];
}

async function probesByState(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("probes").select((eb) => ["state", eb.fn.countAll<number>().as("probes")])
    .where("revoked_at", "is", null).groupBy("state").execute();
  return { enrolled: 0, online: 0, silent: 0, ...Object.fromEntries(rows.map(({ state, probes }) => [state, probes])) };
}

async function devicesByPresence(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("device_counts").select((eb) => ["is_online", eb.fn.sum<number | null>("devices").as("devices")])
    .groupBy("is_online").execute();
  const count = (isOnline: number) => rows.find((row) => row.is_online === isOnline)?.devices ?? 0;
  return { online: count(1), offline: count(0) };
}

async function waitingDeliveries(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("webhook_deliveries").select((eb) => ["lane", eb.fn.countAll<number>().as("deliveries")])
    .where("lane", "is not", null).groupBy("lane").execute();
  return { live: 0, retry: 0, replay: 0, ...Object.fromEntries(rows.map(({ lane, deliveries }) => [lane, deliveries])) };
}
