import { type Changes, type ChangesQuery, MAX_CHANGE_DAYS, MAX_CHANGED_SITES, momentToInstant } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Identity } from "../../gateway/environment.ts";
import { requireSite } from "../../gateway/errors.ts";
import type { ChangesStore } from "./changes-store.ts";
import type { PreferencesService } from "./preferences.ts";

/** What changed since a person looked last. */
export interface ChangesService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  count(identity: Identity, query: ChangesQuery): Promise<Changes>;
}

/** How often each kind of change occurred. */
type Tally = Map<string, number>;

const DAY_MS = 86_400_000;
/** The gravest first: sites are ordered by the first of these that differs. */
const ORDER = ["critical", "high", "silent", "medium", "vuln_found", "gone", "low", "new", "config_changed", "info", "resolved"] as const;

/** Counts while others write: what changes meanwhile may be in it or not. Equal requests at the same time share one count. */
export function createChanges({ store, preferences, clock }: {
  readonly store: ChangesStore; readonly preferences: Pick<PreferencesService, "lastSeen">; readonly clock: Pick<Clock, "now">;
}): ChangesService {
  const inFlight = new Map<string, Promise<Changes>>();
  const sinceOf = (asked: string | null, now: number) => {
    const since = asked === null ? toInstant(now - DAY_MS) : momentToInstant(asked, now);
    const [earliest, latest] = [toInstant(now - MAX_CHANGE_DAYS * DAY_MS), toInstant(now)];
    return since < earliest ? earliest : since > latest ? latest : since;
  };
  const countSince = async (tenantId: string, asked: string | null, only: string | undefined): Promise<Changes> => {
    const now = clock.now();
    const period = { tenantId, siteId: only, since: sinceOf(asked, now) };
    const total: Tally = new Map();
    const sites = new Map<string, Tally>();
    const count = (site: string | null, kind: string, times: number) => {
      if (only !== undefined && site !== only) return;
      add(total, kind, times);
      if (site !== null) add(tallyOf(sites, site), kind, times);
    };
    for (const kind of ["devices", "alerts", "resolved", "logged", "silentProbes"] as const) await store[kind](period, count);
    const worst = [...sites].toSorted(([, a], [, b]) => compare(a, b)).slice(0, MAX_CHANGED_SITES);
    return { since: period.since, until: toInstant(now), total: toCounts(total), sites: worst.map(([site, tally]) => ({ site_id: site, ...toCounts(tally) })) };
  };
  return {
    async count(identity, { since, site_id: only }) {
      const { tenantId } = identity;
      await requireSite(store, tenantId, only);
      const asked = since ?? await preferences.lastSeen(identity);
      const key = JSON.stringify([tenantId, asked, only]);
      const same = inFlight.get(key);
      if (same) return same;
      const counted = countSince(tenantId, asked, only).finally(() => inFlight.delete(key));
      inFlight.set(key, counted);
      return counted;
    },
  };
}

function add(tally: Tally, kind: string, times: number): void {
  tally.set(kind, (tally.get(kind) ?? 0) + times);
}

function tallyOf(sites: Map<string, Tally>, site: string): Tally {
  const tally = sites.get(site) ?? new Map<string, number>();
  sites.set(site, tally);
  return tally;
}

function compare(a: Tally, b: Tally): number {
  const kind = ORDER.find((each) => a.get(each) !== b.get(each));
  return kind === undefined ? 0 : (b.get(kind) ?? 0) - (a.get(kind) ?? 0);
}

function toCounts(tally: Tally): Changes["total"] {
  const of = (kind: (typeof ORDER)[number]) => tally.get(kind) ?? 0;
  return {
    devices: { new: of("new"), gone: of("gone") },
    alerts: { critical: of("critical"), high: of("high"), medium: of("medium"), low: of("low"), info: of("info"), resolved: of("resolved") },
    vulnerabilities: of("vuln_found"), configurations: of("config_changed"), silent_probes: of("silent"),
  };
}
