import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { siteIdsOf } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import { countStanding, countStandingOf, MAX_STANDING, MAX_STANDING_OF_ONE, MAX_STANDING_OF_SITE } from "../store/differences.ts";

/** How many differences may come to those of a tenant that have not ended. */
export interface Room {
  /** @param standing How many the baseline has. */
  left(siteId: string, standing: number): number;
  took(siteId: string, count: number): void;
}

/** Differences of a site that may begin within ten minutes, whether or not they end: what comes and goes all the time is a row and two events each time. */
export const MAX_NEW = 5000;
const WINDOW_MS = 600_000;

/** How many differences of each site have begun lately. */
export interface Beginnings {
  left(siteId: string): number;
  took(siteId: string, count: number): void;
}

/** It is for one process: what another one counted before is forgotten. */
export function createBeginnings(clock: Pick<Clock, "monotonic">): Beginnings {
  const sites = new Map<string, { readonly since: number; count: number }>();
  const current = (siteId: string) => {
    const known = sites.get(siteId);
    return known && clock.monotonic() - known.since < WINDOW_MS ? known : undefined;
  };
  return {
    left: (siteId) => MAX_NEW - (current(siteId)?.count ?? 0),
    took(siteId, count) {
      if (count === 0) return;
      const known = current(siteId);
      if (known) known.count += count;
      else sites.set(siteId, { since: clock.monotonic(), count });
    },
  };
}

/** Counts what there is. */
export async function openRoom(reads: Kysely<Schema>, tenantId: string, beginnings: Beginnings): Promise<Room> {
  let total = await countStanding(reads, tenantId);
  // While the whole tenant has fewer than one site may have, nothing is to be counted.
  const sites = new Map(total < MAX_STANDING_OF_SITE ? [] : await countStandingOf(reads, await siteIdsOf(reads, tenantId)));
  return {
    left: (siteId, standing) =>
      Math.max(0, Math.min(MAX_STANDING - total, MAX_STANDING_OF_SITE - (sites.get(siteId) ?? 0), MAX_STANDING_OF_ONE - standing, beginnings.left(siteId))),
    took(siteId, count) {
      total += count;
      beginnings.took(siteId, count);
      sites.set(siteId, (sites.get(siteId) ?? 0) + count);
    },
  };
}
