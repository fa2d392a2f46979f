import type { Broker } from "../broker/broker.ts";
import type { Connections } from "../gateway/http/connections.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { LabelledReading, Reading } from "./metrics.ts";

/** What can be read off the parts of the collector that are no services. */
export function readingsOf(parts: {
  readonly ingest: Pick<Ingest, "waiting">;
  readonly broker: Pick<Broker, "sessions" | "health">;
  readonly streams: { open(): number };
  readonly connections: Pick<Connections, "count">;
}): readonly (Reading | LabelledReading)[] {
  const { ingest, broker, streams, connections } = parts;
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
  ];
}
