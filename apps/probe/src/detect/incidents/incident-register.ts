import type { GuardKind, ProbeEvent } from "@lanthorn/contract/uplink";
import type { Publisher } from "../../queue/publisher.ts";
import { addSign, createIncident, type Incident, type IncidentData, incidentKey } from "./incident.ts";
import type { IncidentsStore } from "./incidents-store.ts";
import type { Sign } from "./sign.ts";

/** Makes incidents of what guards see, and publishes each once: when it begins, when it gets worse, and when it is over. */
export interface IncidentRegister {
  /** A guard has seen something. The incident is published within `GATHER_MS` and a tick, and goes on for as long as it is reported. */
  report(sign: Sign): void;
  /** The cause is known to be gone. Without this an incident is over when it was quiet for long enough. */
  end(kind: GuardKind, subject: string): void;
  /** Whether the incident goes on. */
  isOpen(kind: GuardKind, subject: string): boolean;
  /** Takes up the incidents of an earlier run. */
  start(): void;
  /** Publishes what is due. @param now Monotonic milliseconds. */
  tick(now: number): void;
}

/** Signs of one kind that come within this are looked at together: who forges a thousand senders makes one incident. */
export const GATHER_MS = 500;
/** As many of one kind may begin within the gathering time or go on at once; more are one incident. */
const MAX_OF_ONE_KIND = 4;
/** Of the incident that stands for all of its kind. */
export const FLOOD_SUBJECT = "*";
/** A change is published at once if the last publication is so long ago. */
const CHANGE_PAUSE_MS = 30_000;
/** One that goes on unchanged is published again, with its count. */
const REPEAT_MS = 600_000;

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
  /** By key. At most `MAX_OF_ONE_KIND + 1` of each kind. */
  const incidents = new Map<string, Incident>();
  const countOf = (kind: GuardKind) => [...incidents.values()].filter(({ data }) => data.kind === kind).length;

  function open(sign: Sign): void {
    const at = { wall: clock.now(), monotonic: clock.monotonic() };
    const known = incidents.get(incidentKey(sign.kind, sign.subject)) ?? incidents.get(incidentKey(sign.kind, FLOOD_SUBJECT));
    if (known) return addSign(known, known.data.subject === sign.subject ? sign : asFlood(sign), at.monotonic);
    const isFlood = countOf(sign.kind) >= MAX_OF_ONE_KIND;
    const incident = createIncident(isFlood ? asFlood(sign) : sign, at);
    incidents.set(incident.key, incident);
    if (isFlood) gatherIntoFlood(incident);
  }

  /** Those that were not published yet are part of the flood. */
  function gatherIntoFlood(flood: Incident): void {
    for (const incident of incidents.values()) {
      if (incident === flood || incident.data.kind !== flood.data.kind || incident.publishedAt !== null) continue;
      incidents.delete(incident.key);
      flood.data = { ...flood.data, count: flood.data.count + incident.data.count };
    }
  }

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
    if (incident.publishedAt === null || publish(incident, { ...incident.data, state: "ended" }, now)) incidents.delete(incident.key);
  }

  return {
    report(sign) {
      if (!deps.isExcepted(sign, clock.now())) open(sign);
    },
    end(kind, subject) {
      const incident = incidents.get(incidentKey(kind, subject));
      if (incident) end(incident, clock.monotonic());
    },
    isOpen: (kind, subject) => incidents.has(incidentKey(kind, subject)),
    start() {
      for (const { key, data } of store.load()) {
        const now = clock.monotonic();
        incidents.set(key, { key, data, openedAt: now, lastAt: now, news: "none", publishedAt: now });
      }
    },
    tick(now) {
      for (const incident of incidents.values()) {
        if (isDue(incident, now)) publish(incident, incident.data, now);
        if (incident.publishedAt !== null && now - incident.lastAt >= deps.quietMs()) end(incident, now);
      }
    },
  };
}

/** A sign as one of many: what is said of one sender stands for all. */
function asFlood(sign: Sign): Sign {
  return {
    ...sign, subject: FLOOD_SUBJECT, ip: "", mac: "", facts: {}, expectedMacs: [],
    detail: `More than ${MAX_OF_ONE_KIND} senders at once do this, as when somebody forges them; find the switch port that they come from. The last one: ${sign.detail}`,
  };
}
