import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MeasureRequest } from "../gateway/http/measure.ts";
import type { IngestMeasure } from "../ingest/messages/measure.ts";

/** A number that is looked up when somebody reads the metrics. */
export interface Reading {
  readonly name: string;
  readonly help: string;
  /** Null where there is no such number now. */
  readonly read: () => number | null | Promise<number | null>;
}

/** Numbers by one label that are looked up together. */
export interface LabelledReading {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly read: () => Promise<Readonly<Record<string, number>>>;
}

/** What the process counts, and where its parts report their numbers. */
export interface Metrics {
  readonly request: MeasureRequest;
  readonly ingest: IngestMeasure;
  /** Adds what Node tells of the process: memory, CPU, the event loop, garbage collection. Once in a process. */
  watchProcess(): void;
  /** Adds numbers that a part of the collector can tell. */
  watch(readings: readonly (Reading | LabelledReading)[]): void;
  /** In Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 5, 30];
const COMMIT_SECONDS = [0.005, 0.025, 0.1, 0.5, 2, 10, 30];
/** A probe that was cut off for a day brings batches that old. */
const AGE_SECONDS = [0.1, 1, 5, 30, 300, 3600, 86_400];
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts and durations of this process, in a registry of its own. Every label has few values, whatever clients and probes send. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "lanthorn_http_requests_total", help: "Requests by route and status", labelNames: ["method", "route", "status"], registers,
  });
  const latency = new Histogram({
    name: "lanthorn_http_request_duration_seconds", help: "From a request to its answer", labelNames: ["method", "route"],
    buckets: REQUEST_SECONDS, registers,
  });
  const batches = new Counter({ name: "lanthorn_ingest_batches_total", help: "Batches of events that were committed", registers });
  const transactions = new Counter({
    name: "lanthorn_ingest_transactions_total", help: "Transactions that committed batches, of which several may share one", registers,
  });
  const events = new Counter({
    name: "lanthorn_ingest_events_total", help: "Events that were stored, also unreadable ones", labelNames: ["result"], registers,
  });
  const refusals = new Counter({
    name: "lanthorn_ingest_refusals_total", help: "Payloads that were refused, by reason", labelNames: ["reason"], registers,
  });
  const commit = new Histogram({
    name: "lanthorn_ingest_commit_seconds", help: "From a batch's arrival to its commit", buckets: COMMIT_SECONDS, registers,
  });
  const age = new Histogram({
    name: "lanthorn_ingest_batch_age_seconds", help: "From when a probe sent a batch, by its clock, to its commit", buckets: AGE_SECONDS,
    registers,
  });
  return {
    request({ method, route, status, seconds }) {
      const labels = { method: METHODS.has(method) ? method : "other", route };
      requests.inc({ ...labels, status: String(status) });
      latency.observe(labels, seconds);
    },
    ingest: {
      batch({ stored, rejected, seconds, ageSeconds }) {
        batches.inc();
        events.inc({ result: "stored" }, stored);
        events.inc({ result: "rejected" }, rejected);
        commit.observe(seconds);
        age.observe(ageSeconds);
      },
      transaction: () => transactions.inc(),
      refused: (reason) => refusals.inc({ reason }),
    },
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    watch(readings) {
      for (const reading of readings) addGauge(reading, registry);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function addGauge(reading: Reading | LabelledReading, registry: Registry): void {
  const isLabelled = "label" in reading;
  const gauge = new Gauge({
    name: reading.name, help: reading.help, registers: [registry], ...(isLabelled ? { labelNames: [reading.label] } : {}),
    async collect() {
      // What is not there any more, or cannot be read now, must not go on being shown; the others are.
      const forget = () => (isLabelled ? gauge.reset() : gauge.remove());
      forget();
      try {
        const value = await reading.read();
        if (typeof value === "number") gauge.set(value);
        else if (isLabelled) for (const [label, one] of Object.entries(value ?? {})) gauge.set({ [reading.label]: label }, one);
      } catch {
        forget();
      }
    },
  });
}
