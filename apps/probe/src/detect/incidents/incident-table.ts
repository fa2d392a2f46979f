import type { GuardKind } from "@lanthorn/contract/uplink";
import { addSender, addSign, createIncident, FLOOD_SUBJECT, type Incident, incidentKey, isWorseThan } from "./incident.ts";
import type { Sign } from "./sign.ts";

/** The incidents that go on: which one a sign belongs to. */
export interface IncidentTable {
  /** Adds a sign to its incident, or opens one. */
  add(sign: Sign, at: { readonly wall: number; readonly monotonic: number }): void;
  /** The incident of its own that a subject has, or the one that it is a sender of. */
  find(kind: GuardKind, subject: string): Incident | null;
  /** Whether one of the kind is meant. */
  some(kind: GuardKind, isMeant: (incident: Incident) => boolean): boolean;
  all(): Iterable<Incident>;
  restore(incident: Incident): void;
  /** One of its senders is over. */
  leave(incident: Incident, sender: string): void;
  remove(incident: Incident): void;
}

/** As many of one kind may begin within the gathering time or go on at once; more are one incident. */
const MAX_OF_ONE_KIND = 4;

/** At most `MAX_OF_ONE_KIND + 1` incidents of each kind. */
export function createIncidentTable(): IncidentTable {
  /** By key. */
  const incidents = new Map<string, Incident>();
  /** By the key of a sender that has no incident of its own. */
  const joined = new Map<string, Incident>();
  const ofKind = (kind: GuardKind) => [...incidents.values()].filter(({ data }) => data.kind === kind);

  function leave(incident: Incident, sender: string): void {
    incident.senders.delete(sender);
    const key = incidentKey(incident.data.kind, sender);
    if (joined.get(key) === incident) joined.delete(key);
  }
  function remove(incident: Incident): void {
    incidents.delete(incident.key);
    for (const sender of incident.senders) leave(incident, sender);
  }

  /** Those that were not published yet are part of the flood. */
  function openFlood(sign: Sign, at: { readonly wall: number; readonly monotonic: number }): void {
    const flood = createIncident(asFlood(sign), at);
    for (const incident of ofKind(sign.kind)) {
      if (incident.publishedAt !== null) continue;
      remove(incident);
      const { count, severity, detail } = incident.data;
      const worse = isWorseThan(severity, flood.data.severity) ? { severity, detail: floodDetail(detail) } : {};
      flood.data = { ...flood.data, ...worse, count: flood.data.count + count };
    }
    incidents.set(flood.key, flood);
  }

  return {
    add(sign, at) {
      const { kind, subject } = sign;
      const own = incidents.get(incidentKey(kind, subject));
      if (own) {
        own.senders.add(subject);
        return addSign(own, sign, at.monotonic);
      }
      const flood = incidents.get(incidentKey(kind, FLOOD_SUBJECT));
      if (flood) return addSign(flood, asFlood(sign), at.monotonic);
      const others = ofKind(kind);
      const host = joined.get(incidentKey(kind, subject)) ?? (sign.mayBeForged === true ? others.find(({ mayBeForged }) => mayBeForged) : undefined);
      const isEarly = host?.publishedAt === null && host.senders.size >= MAX_OF_ONE_KIND;
      if (isEarly || (!host && others.length >= MAX_OF_ONE_KIND)) return openFlood(sign, at);
      if (host) {
        if (addSender(host, sign, at.monotonic)) joined.set(incidentKey(kind, subject), host);
        return;
      }
      const incident = createIncident(sign, at);
      incidents.set(incident.key, incident);
    },
    find(kind, subject) {
      const key = incidentKey(kind, subject);
      const incident = incidents.get(key) ?? joined.get(key);
      return incident?.senders.has(subject) === true ? incident : null;
    },
    some(kind, isMeant) {
      for (const incident of incidents.values()) if (incident.data.kind === kind && isMeant(incident)) return true;
      return false;
    },
    all: () => incidents.values(),
    restore(incident) {
      incidents.set(incident.key, incident);
      for (const sender of incident.senders) if (sender !== incident.data.subject) joined.set(incidentKey(incident.data.kind, sender), incident);
    },
    leave,
    remove,
  };
}

function floodDetail(detail: string): string {
  return `More than ${MAX_OF_ONE_KIND} senders at once do this, as when somebody forges them; find the switch port that they come from. The last one: ${detail}`;
}

/** A sign as one of many: what is said of one sender stands for all. */
function asFlood(sign: Sign): Sign {
  return { ...sign, subject: FLOOD_SUBJECT, ip: "", mac: "", facts: {}, expectedMacs: [], detail: floodDetail(sign.detail) };
}
