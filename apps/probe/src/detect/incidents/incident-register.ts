import type { GuardKind, ProbeEvent } from "@lanthorn/contract/uplink";
import type { Publisher } from "../../queue/publisher.ts";
import { createBoundedMap } from "../../bounded-map.ts";
import { type Incident, type IncidentData, restoreIncident } from "./incident.ts";
import { createIncidentTable } from "./incident-table.ts";
import type { IncidentsStore } from "./incidents-store.ts";
import type { Sign } from "./sign.ts";

/** Makes incidents of what guards see, and publishes each once: when it begins, when it gets worse, and when it is over. */
export interface IncidentRegister {
  /** A guard has seen something. The incident is published within `GATHER_MS` and a tick, and goes on for as long as it is reported. */
  report(sign: Sign): void;
  /**
   * The cause is known to be gone; of an incident with many senders one of them. Without this an incident is over when it was quiet for long
   * enough, and so is one that has begun again and ended three times in a row: who forges its end hides nothing by it, and makes no noise.
   */
  end(kind: GuardKind, subject: string): void;
  /** Whether the subject's incident goes on, or one that it is a sender of. */
  isOpen(kind: GuardKind, subject: string): boolean;
  /** Whether an incident of the kind stands for many senders. */
  hasMany(kind: GuardKind): boolean;
  /** Whether an incident of the kind goes on about such a subject. */
  isAnyOpen(kind: GuardKind, isMeant: (subject: string) => boolean): boolean;
  /** Takes up the incidents of an earlier run. */
  start(): void;
  /** Publishes what is due. @param now Monotonic milliseconds. */
  tick(now: number): void;
  /** Nobody looks any more: what goes on is over, and what is not yet published never was. */
  endAll(): void;
}

/**
 * Signs of one kind that come within this are looked at together: who forges a thousand senders makes one incident. Less than a tick, so that
 * a tick that comes a little early does not put off what the one before has reported.
 */
export const GATHER_MS = 400;
/** A change is published at once if the last publication is so long ago. */
const CHANGE_PAUSE_MS = 30_000;
/** One that goes on unchanged is published again, with its count. */
const REPEAT_MS = 600_000;
/** So often in a row one may begin anew and end at once. */
const MAX_AT_ONCE = 3;
/** Incidents whose end is known, to tell those that begin again. */
const MAX_ENDS = 64;

/**
 * @param deps.isExcepted Whether somebody has said that the sign is right. It is then not reported.
 * @param deps.quietMs After which an incident without signs is over.
 * @param deps.publisher Of the database that `store` is in.
 */
export function createIncidentRegister(deps: {
  readonly clock: { now(): number; monotonic(): number };
  readonly store: IncidentsStore;
  readonly publisher: Publisher;
  readonly isExcepted: (sign: Sign, now: number) => boolean;
  readonly quietMs: () => number;
}): IncidentRegister {
  const { clock, store, publisher } = deps;
  const table = createIncidentTable();
  /** By key: how often one after another within the time after which incidents end, and the last one, monotonic milliseconds. */
  const ends = createBoundedMap<string, { readonly count: number; readonly at: number }>(MAX_ENDS);

  function publish(incident: Incident, data: IncidentData, now: number): boolean {
    const isOver = data.state === "ended";
    const event: ProbeEvent = { type: "rogue_detected", occurred_at: new Date(clock.now()).toISOString(), data };
    const isWritten = publisher.publish([event], () => (isOver ? store.remove(incident.key) : store.save(incident.key, data)));
    if (!isWritten) return false;
    incident.news = "none";
    incident.publishedAt = now;
    return true;
  }

  function isDue({ news, publishedAt, openedAt }: Incident, now: number): boolean {
    if (publishedAt === null) return now - openedAt >= GATHER_MS;
    if (news === "changed") return now - publishedAt >= CHANGE_PAUSE_MS;
    return news === "repeated" && now - publishedAt >= REPEAT_MS;
  }

  function end(incident: Incident, now: number): void {
    if (publish(incident, { ...incident.data, state: "ended" }, now)) table.remove(incident);
  }

  function endsOf({ key }: Incident): number {
    const known = ends.get(key);
    return known && clock.monotonic() - known.at < deps.quietMs() ? known.count : 0;
  }

  return {
    report(sign) {
      if (deps.isExcepted(sign, clock.now())) return;
      table.add(sign, { wall: clock.now(), monotonic: clock.monotonic() });
    },
    end(kind, subject) {
      const incident = table.find(kind, subject);
      if (!incident) return;
      if (incident.senders.size > 1 || incident.hasMoreSenders) return table.leave(incident, subject);
      const count = endsOf(incident);
      if (count >= MAX_AT_ONCE) return;
      ends.put(incident.key, { count: count + 1, at: clock.monotonic() });
      if (incident.publishedAt === null) incident.isOver = true;
      else end(incident, clock.monotonic());
    },
    isOpen: (kind, subject) => table.find(kind, subject)?.isOver === false,
    hasMany: (kind) => table.some(kind, ({ senders, hasMoreSenders }) => hasMoreSenders || senders.size > 1),
    isAnyOpen: (kind, isMeant) => table.some(kind, ({ data }) => isMeant(data.subject)),
    start() {
      for (const { key, data } of store.load()) table.restore(restoreIncident(key, data, clock.monotonic()));
    },
    tick(now) {
      for (const incident of table.all()) {
        if (isDue(incident, now)) publish(incident, incident.data, now);
        if (incident.publishedAt !== null && (incident.isOver || now - incident.lastAt >= deps.quietMs())) end(incident, now);
      }
    },
    endAll() {
      for (const incident of table.all()) {
        if (incident.publishedAt === null) table.remove(incident);
        else end(incident, clock.monotonic());
      }
    },
  };
}
