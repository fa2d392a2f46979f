import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A probe with what it last reported. */
export interface ReportingProbe {
  readonly id: string;
  readonly site_id: string;
  /** `online` while it is heard. */
  readonly presence: string;
  readonly health: string | null;
}

/** A tenant's probes that are not revoked, by site and in the order of their enrollment. */
export function readProbes(reads: Kysely<Schema>, tenantId: string): Promise<readonly ReportingProbe[]> {
  return reads.selectFrom("probes").select(["id", "site_id", "state as presence", "health"]).where("tenant_id", "=", tenantId).where("revoked_at", "is", null)
    .orderBy("site_id").orderBy("id").execute();
}
