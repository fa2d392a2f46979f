import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { sitesOf } from "../store/inventory.ts";
import { countStanding, countStandingOf, MAX_STANDING, MAX_STANDING_OF_ONE, MAX_STANDING_OF_SITE } from "../store/differences.ts";

/** How many differences may come to those of a tenant that have not ended. */
export interface Room {
  /** @param standing How many the baseline has. */
  left(siteId: string, standing: number): number;
  took(siteId: string, count: number): void;
}

/** Counts what there is. */
export async function openRoom(reads: Kysely<Schema>, tenantId: string): Promise<Room> {
  let total = await countStanding(reads, tenantId);
  // While the whole tenant has fewer than one site may have, nothing is to be counted.
  const sites = new Map(total < MAX_STANDING_OF_SITE ? [] : await countStandingOf(reads, await sitesOf(reads, tenantId)));
  return {
    left: (siteId, standing) =>
      Math.max(0, Math.min(MAX_STANDING - total, MAX_STANDING_OF_SITE - (sites.get(siteId) ?? 0), MAX_STANDING_OF_ONE - standing)),
    took(siteId, count) {
      total += count;
      sites.set(siteId, (sites.get(siteId) ?? 0) + count);
    },
  };
}
