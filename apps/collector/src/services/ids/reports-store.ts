import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A probe with what it last reported. */
export interface ReportingProbe {
  readonly id: string;
  readonly name: string;
  readonly site_id: string;
  readonly health: string | null;
}

/** A tenant's probes that are not revoked, in the order of their enrollment. */
export function readProbes(reads: Kysely<Schema>, tenantId: string): Promise<readonly ReportingProbe[]> {
  return reads.selectFrom("probes").select(["id", "name", "site_id", "health"]).where("tenant_id", "=", tenantId).where("revoked_at", "is", null).orderBy("id").execute();
}
