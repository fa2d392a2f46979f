import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { toInstant } from "@lanthorn/runtime";
import type { Found, KnownFact } from "./compare/result.ts";
import type { WindowNow } from "./differences/transition.ts";
import { type AcceptanceRow, acceptancesAt, templatesOf, windowsFrom, type WindowRow } from "./store/judgements.ts";

/** Whom a judgement is about: a device of a site, or the site itself. */
export interface Subject {
  readonly siteId: string;
  readonly deviceId: string | null;
  readonly tags: readonly string[];
}

/** What people of a tenant have said of differences, read once for many comparisons. */
export interface Judgements {
  acceptanceOf(of: Subject, found: Pick<Found, "kind" | "key" | "outcome" | "observed">): string | null;
  windowOf(of: Subject): WindowNow | null;
  templatesOf(of: Subject): readonly KnownFact[];
  /** When the next window of these begins or ends, or an acceptance expires; null for no such time. */
  nextChange(of: Subject): number | null;
}

/** Reads what counts at `now`, in milliseconds since the epoch. */
export async function loadJudgements(reads: Kysely<Schema>, tenantId: string, now: number): Promise<Judgements> {
  const at = toInstant(now);
  const acceptances = new Map<string, AcceptanceRow[]>();
  const expiries = new Map<string, number>();
  const expires = (name: string, moment: number) => expiries.set(name, Math.min(moment, expiries.get(name) ?? moment));
  for (const row of await acceptancesAt(reads, tenantId, at)) {
    const name = `${row.kind} ${row.key}`;
    push(acceptances, name, row);
    if (row.expires_at !== null) expires(row.device_id ?? row.site_id ?? row.tag ?? "", Date.parse(row.expires_at));
  }
  const windows = new Map<string, (WindowRow & { readonly moments: readonly number[] })[]>();
  for (const row of await windowsFrom(reads, tenantId, at)) {
    push(windows, row.site_id, { ...row, moments: [row.begins_at, row.ends_at].map((text) => Date.parse(text)) });
  }
  const templates = (await templatesOf(reads, tenantId)).map(({ facts, ...row }) => ({ ...row, facts: once(() => readFacts(facts)) }));
  const windowsOf = (of: Subject) => (windows.get(of.siteId) ?? []).filter((row) => isMeant(row, of));
  return {
    acceptanceOf(of, { kind, key, outcome, observed }) {
      // What is behind an open port is said by its service.
      const found = acceptances.get(`${kind} ${key}`)?.find((row) => row.outcome === outcome && (kind === "port" || row.observed === observed) && isFor(row, of));
      return found?.id ?? null;
    },
    windowOf(of) {
      const open = windowsOf(of).filter(({ begins_at: from }) => from <= at);
      const window = open.find(({ effect }) => effect === "learn") ?? open[0];
      return window ? { effect: window.effect, author: window.created_by, reason: window.reason } : null;
    },
    templatesOf: (of) => templates.filter(({ site_id: site, tag }) => (site === null || site === of.siteId) && of.tags.includes(tag))
      .flatMap(({ facts }) => facts()),
    nextChange(of) {
      const moments = windowsOf(of).flatMap((row) => row.moments);
      const ends = [of.siteId, ...(of.deviceId === null ? [] : [of.deviceId]), ...of.tags].flatMap((name) => expiries.get(name) ?? []);
      const next = [...moments, ...ends].filter((moment) => moment > now);
      return next.length === 0 ? null : Math.min(...next);
    },
  };
}

function push<T>(to: Map<string, T[]>, name: string, row: T): void {
  const list = to.get(name);
  if (list) list.push(row);
  else to.set(name, [row]);
}

function readFacts(text: string): readonly KnownFact[] {
  return (JSON.parse(text) as Pick<KnownFact, "kind" | "key" | "value">[]).map(({ kind, key, value }) =>
    ({ kind, key, value, firstSeen: null, lookedAt: null, isLearned: false }));
}

/** Makes something when it is asked for, once: a thousand templates are many facts, of which few devices need some. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function isMeant({ device_id: device, tag }: Pick<WindowRow, "device_id" | "tag">, { deviceId, tags }: Subject): boolean {
  if (device !== null) return device === deviceId;
  return tag === null || tags.includes(tag);
}

function isFor({ site_id: site, device_id: device, tag }: AcceptanceRow, { siteId, deviceId, tags }: Subject): boolean {
  if (site !== null && site !== siteId) return false;
  if (device !== null) return device === deviceId;
  return tag === null || tags.includes(tag);
}
