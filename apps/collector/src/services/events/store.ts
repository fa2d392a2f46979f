import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import { firstSince } from "../../events/first-since-store.ts";

/** What the list of events asks beside the log itself. */
export interface EventsStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** The sequence of the first event that was received at `instant` or later. */
  firstSince(tenantId: string, instant: string): Promise<number>;
}

/** @param deps.reads Where readers ask. */
export function createEventsStore({ reads }: { readonly reads: Kysely<Schema> }): EventsStore {
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    firstSince: (tenantId, instant) => firstSince(reads, tenantId, instant),
  };
}
