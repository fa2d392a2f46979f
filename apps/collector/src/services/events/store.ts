import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { firstSince } from "../../events/first-since.ts";

/** What the list of events asks beside the log itself. */
export interface EventsStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** The sequence of the first event that was received at `instant` or later. */
  firstSince(tenantId: string, instant: string): Promise<number>;
}

/** @param deps.reads Where readers ask. */
export function createEventsStore({ reads }: { readonly reads: Kysely<Schema> }): EventsStore {
  return {
    async siteExists(tenantId, siteId) {
      return (await reads.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "=", siteId)
        .executeTakeFirst()) !== undefined;
    },
    firstSince: (tenantId, instant) => firstSince(reads, tenantId, instant),
  };
}
