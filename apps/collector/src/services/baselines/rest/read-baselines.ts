import type { Baseline, BaselineFact, BaselineFactKind, BaselineFactsQuery, BaselinesQuery, List } from "@lanthorn/contract";
import { BASELINE_FACTS, MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById, pageBySort } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { baselineById, baselines, countBaselines, differenceCounts, factCounts, type NamedBaseline, siteSettings } from "../store/baseline-lists.ts";
import { countStanding, countStandingOf, MAX_STANDING, MAX_STANDING_OF_ONE, MAX_STANDING_OF_SITE } from "../store/differences.ts";
import { countFacts, facts } from "../store/fact-lists.ts";
import type { From } from "../store/handles.ts";
import { templateHeads } from "../store/templates.ts";
import type { RestDependencies } from "./dependencies.ts";
import { toBaseline, toFact } from "./records.ts";

/** Baselines as people read them. */
export interface BaselineReader {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: BaselinesQuery): Promise<List<Baseline>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<Baseline>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  facts(tenantId: string, id: string, query: BaselineFactsQuery): Promise<List<BaselineFact>>;
}

/** Reads what is committed. */
export function createBaselineReader({ store }: Pick<RestDependencies, "store">): BaselineReader {
  const { reads } = store;
  return {
    async list(tenantId, query) {
      const { site_id: siteId, device_id: deviceId, of, state: states } = query;
      await requireSite(store, tenantId, siteId);
      const filter = { siteId, deviceId, of, states };
      const { data, meta } = await pageById(query, {
        read: (rows) => baselines(reads, tenantId, filter, rows), count: () => countBaselines(reads, tenantId, filter), show: (row) => row,
      });
      return { data: await showBaselines(reads, tenantId, data), meta };
    },

    read: (tenantId, id) => readBaseline(reads, tenantId, id),

    async facts(tenantId, id, { kind: kinds, ...page }) {
      const { id: baselineId } = await findBaseline(reads, tenantId, id);
      return pageBySort({ ...page, sort: "kind" }, {
        read: async ({ from, limit }) => ({
          rows: await facts(reads, baselineId, kinds, { from: typeof from === "number" ? from : placeOf(from.value), limit }),
          total: await countFacts(reads, baselineId, kinds),
        }),
        positionOf: ({ kind, key }) => ({ value: `${kind} ${key}`, id: baselineId }), show: toFact,
      });
    },
  };
}

/** A tenant's baseline, with what is called by. @throws ApiError NOT_FOUND. */
export async function findBaseline(from: From, tenantId: string, id: string): Promise<NamedBaseline> {
  const row = await baselineById(from, tenantId, id);
  if (!row) throw notFound("baseline");
  return row;
}

/** A tenant's baseline as the API shows it. @param from A transaction sees its own writes. @throws ApiError NOT_FOUND. */
export async function readBaseline(from: From, tenantId: string, id: string): Promise<Baseline> {
  const [shown] = await showBaselines(from, tenantId, [await findBaseline(from, tenantId, id)]);
  if (!shown) throw notFound("baseline");
  return shown;
}

async function showBaselines(from: From, tenantId: string, rows: readonly NamedBaseline[]): Promise<Baseline[]> {
  const ids = rows.map(({ id }) => id);
  const counted = new Map<string, Partial<Record<BaselineFactKind, number>>>();
  for (const { baseline_id: id, kind, facts: count } of await factCounts(from, ids)) counted.set(id, { ...counted.get(id), [kind]: count });
  const differences = await differenceCounts(from, ids);
  const standing = await standingOfSites(from, tenantId, rows);
  const settings = await siteSettings(from, rows.map(({ site_id: siteId }) => siteId));
  const templates = await templateHeads(from, tenantId);
  return rows.map((row) => {
    const own = differences.filter(({ baseline_id: id }) => id === row.id);
    const facts = counted.get(row.id) ?? {};
    return toBaseline(row, {
      facts, open: sum(own.filter(({ state }) => state === "open").map((one) => one.differences)), siteSettings: settings.get(row.site_id), templates,
      leftOut: [
        // Devices of a site are bounded elsewhere.
        ...(sum(Object.entries(facts).map(([kind, count]) => (kind === "device" ? 0 : count))) >= MAX_BASELINE_FACTS ? ["facts" as const] : []),
        ...(isFull(row, sum(own.map((one) => one.differences)), standing) ? ["differences" as const] : []),
      ],
    });
  });
}

/** How many differences stand at the sites that have one of these baselines; null where the tenant has as many as it may. */
async function standingOfSites(from: From, tenantId: string, rows: readonly NamedBaseline[]): Promise<ReadonlyMap<string, number> | null> {
  const sites = rows.filter(({ device_id: device }) => device === null).map(({ site_id: site }) => site);
  if (sites.length === 0) return new Map();
  return (await countStanding(from, tenantId)) >= MAX_STANDING ? null : countStandingOf(from, sites);
}

function isFull({ device_id: device, site_id: site }: NamedBaseline, own: number, standing: ReadonlyMap<string, number> | null): boolean {
  return device === null ? standing === null || (standing.get(site) ?? 0) >= MAX_STANDING_OF_SITE : own >= MAX_STANDING_OF_ONE;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** @throws ApiError BAD_REQUEST: what a cursor holds came from outside. */
function placeOf(value: string): { readonly kind: BaselineFactKind; readonly key: string } {
  const at = value.indexOf(" ");
  const kind = BASELINE_FACTS.find((one) => one === value.slice(0, at));
  if (kind === undefined || /\p{Cc}/u.test(value)) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
  return { kind, key: value.slice(at + 1) };
}
