import { toInstant } from "@lanthorn/runtime";
import type { ExpressionBuilder, ExpressionWrapper, Kysely, SelectQueryBuilder, SqlBool } from "kysely";
import type { Schema } from "../schema.ts";

const DAY_MS = 86_400_000;

/** Before that a report of decoys says nothing any more. @param now An instant. */
export function decoysLapse(now: string): string {
  return toInstant(Date.parse(now) - DAY_MS);
}

type WithDecoys = Schema & { decoy: Schema["honeypot_addresses"] };

/** Addresses that are decoys': of probes that are not revoked, reported within a day. @param now An instant. */
export function decoyAddresses(from: Kysely<Schema>, now: string): SelectQueryBuilder<WithDecoys, "decoy", object> {
  return from.selectFrom("honeypot_addresses as decoy").where("decoy.reported_at", ">=", decoysLapse(now))
    .where(({ exists, selectFrom }) => exists(selectFrom("probes").select("probes.id").whereRef("probes.id", "=", "decoy.probe_id").where("probes.revoked_at", "is", null)));
}

/** Of `decoyAddresses`: whether a device has the address that was there before the decoy was. */
export function isHeld({ exists, selectFrom }: ExpressionBuilder<WithDecoys, "decoy">): ExpressionWrapper<WithDecoys, "decoy", SqlBool> {
  return exists(selectFrom("addresses").select("addresses.ip").whereRef("addresses.tenant_id", "=", "decoy.tenant_id").whereRef("addresses.ip_key", "=", "decoy.ip_key")
    .whereRef("addresses.site_id", "=", "decoy.site_id").where("addresses.current", "=", 1).whereRef("addresses.first_seen", "<", "decoy.settled_before"));
}
