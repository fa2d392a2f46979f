import type { Transaction } from "kysely";
import { decoyAddresses, isHeld } from "../../db/query/decoy-addresses.ts";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";

/** Whose addresses are decoys', of all that are about a probe's site. */
export type DecoysFor = (probe: { readonly siteId: string; readonly probeId: string }) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/**
 * Addresses of decoys of these sites. What a probe itself says are its decoys' are for its own reports; for those of others they are only where no device
 * was there before, so that no probe hides a device that others know.
 * @param now An instant.
 */
export async function readDecoyAddresses(trx: Transaction<Schema>, siteIds: readonly string[], now: string): Promise<DecoysFor> {
  const rows = await selectIn(siteIds, (list) => decoyAddresses(trx, now).select(["decoy.site_id", "decoy.probe_id", "decoy.ip"]).select((eb) => isHeld(eb).as("is_held"))
    .where("decoy.site_id", "in", list).execute());
  // Every batch asks, and a probe may have reported many.
  const free = new Map<string, Set<string>>();
  const held = new Map<string, Set<string>>();
  for (const row of rows) {
    const [sets, id] = row.is_held ? [held, `${row.site_id} ${row.probe_id}`] : [free, row.site_id];
    const set = sets.get(id) ?? new Set<string>();
    sets.set(id, set.add(row.ip));
  }
  return ({ siteId, probeId }) => {
    const [ofSite, own] = [free.get(siteId) ?? NONE, held.get(`${siteId} ${probeId}`)];
    return own ? new Set([...ofSite, ...own]) : ofSite;
  };
}
