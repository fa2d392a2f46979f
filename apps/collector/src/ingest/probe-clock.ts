import type { ProbeEvent } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";

/** How far our clock is ahead of each probe's, in milliseconds, measured by when its batches say that they were sent. */
export interface ProbeClocks {
  /**
   * Takes a batch's two times as one measurement.
   * @param probe.clockOffsetMs What was last kept of it, which counts as a measurement of its own after a restart.
   * @returns The offset to correct this batch by; 0 where it is too small to be distinguished from the transit time.
   */
  measure(probe: { readonly probeId: string; readonly clockOffsetMs: number | null }, sentAt: string, receivedAt: string): number;
  /** The last measure, to be kept; null before any. */
  offsetOf(probeId: string): number | null;
}

/** A measurement is the offset and the time on the way; the least of these has the least of the way in it. */
const SAMPLES = 8;
/** A quartz drifts about 50 ms in this time. */
const MAX_AGE_MS = 15 * 60_000;
/** No way here takes so long: the probe's clock was set. */
const JUMP_MS = 60_000;
/** A slow uplink's way, and no clock that is off. */
const TOLERANCE_MS = 2000;
const MAX_PROBES = 10_000;

/** Takes the smallest offset of the last eight batches within 15 minutes. Remembers up to 10,000 probes in this process. */
export function createProbeClocks({ clock }: { readonly clock: Pick<Clock, "monotonic"> }): ProbeClocks {
  const samples = new Map<string, readonly { readonly offset: number; readonly at: number }[]>();
  const leastOf = (probeId: string) => {
    const own = samples.get(probeId);
    return own === undefined ? null : Math.min(...own.map(({ offset }) => offset));
  };
  return {
    measure({ probeId, clockOffsetMs }, sentAt, receivedAt) {
      const now = clock.monotonic();
      const offset = Date.parse(receivedAt) - Date.parse(sentAt);
      const before = (samples.get(probeId) ?? (clockOffsetMs === null ? [] : [{ offset: clockOffsetMs, at: now }]))
        .filter((sample) => now - sample.at <= MAX_AGE_MS && offset - sample.offset <= JUMP_MS);
      // Those heard of last are at the end.
      samples.delete(probeId);
      samples.set(probeId, [...before.slice(1 - SAMPLES), { offset, at: now }]);
      if (samples.size > MAX_PROBES) samples.delete(samples.keys().next().value ?? "");
      const least = leastOf(probeId) ?? 0;
      return Math.abs(least) < TOLERANCE_MS ? 0 : least;
    },
    offsetOf: leastOf,
  };
}

/** How a probe's instants are read. */
interface Reading {
  readonly offsetMs: number;
  readonly receivedAt: string;
}

/** @returns The instant by our clock: corrected by the probe's offset, never later than it was received, nor before 1970. */
export function correctInstant(at: string, { offsetMs, receivedAt }: Reading): string {
  if (offsetMs === 0) return at < receivedAt ? at : receivedAt;
  return toInstant(Math.max(0, Math.min(Date.parse(at) + offsetMs, Date.parse(receivedAt))));
}

/**
 * @returns The event with every instant by our clock that tells when something was seen: what ranks by it (evidence, presence, addresses,
 * ports, verdicts) would else believe for ever whoever says that it is the year 9999. The same event where nothing differs.
 */
export function correctEvent(event: ProbeEvent, reading: Reading): ProbeEvent {
  const occurredAt = correctInstant(event.occurred_at, reading);
  const data = correctData(event, reading);
  return occurredAt === event.occurred_at && data === event.data ? event : { ...event, occurred_at: occurredAt, data } as ProbeEvent;
}

/** What of an event's data tells when something was seen; other events tell it by when they occurred alone. */
function correctData({ type, data }: ProbeEvent, reading: Reading): ProbeEvent["data"] {
  if (type === "host_found" || type === "host_changed") return withList(data, "evidence", correctList(data.evidence, "seen_at", reading));
  if (type === "presence_report") return withList(data, "hosts", correctList(data.hosts, "last_seen_at", reading));
  if (type === "neighbor_report") return withList(data, "neighbors", correctList(data.neighbors, "last_seen_at", reading));
  if (type === "dns_queries") return withList(data, "rows", correctList(data.rows, "last_at", reading));
  if (type === "host_online" || type === "host_offline" || type === "neighbor_lost") return correctField(data, "last_seen_at", reading);
  return data;
}

function correctField<K extends string, T extends Readonly<Record<K, string>>>(row: T, field: K, reading: Reading): T {
  const at = correctInstant(row[field], reading);
  return at === row[field] ? row : { ...row, [field]: at };
}

function correctList<K extends string, T extends Readonly<Record<K, string>>>(rows: readonly T[], field: K, reading: Reading): readonly T[] {
  const corrected = rows.map((row) => correctField(row, field, reading));
  return corrected.some((row, index) => row !== rows[index]) ? corrected : rows;
}

function withList<T extends object, K extends keyof T>(data: T, field: K, rows: readonly unknown[]): T {
  return rows === data[field] ? data : { ...data, [field]: rows };
}
