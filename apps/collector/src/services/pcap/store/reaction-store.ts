import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import { insertMany } from "../../../db/query/write-many.ts";
import type { PcapRow } from "./pcaps-store.ts";

type Trx = Transaction<Schema>;
/** What a probe has had of what it may report. */
export type QuotaRow = Selectable<Schema["pcap_quotas"]>;
type LinkRow = Selectable<Schema["pcap_links"]>;

/** Captures with these ids, whoever's they are: an id that another probe has is not free. */
export function knownPcaps(trx: Trx, ids: readonly string[]): Promise<readonly PcapRow[]> {
  return selectIn(ids, (list) => trx.selectFrom("pcaps").selectAll().where("id", "in", list).execute());
}

/** Files of a probe that are on their way or here, by these ids. */
export async function startedFiles(trx: Trx, probeId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await selectIn(ids, (list) => trx.selectFrom("probe_files").select("id").where("probe_id", "=", probeId).where("kind", "=", "capture")
    .where("state", "in", ["open", "received"]).where("id", "in", list).execute());
  return new Set(rows.map(({ id }) => id));
}

/** Writes captures that are new and those that have changed. `links` are all that the captures `linked` have from now on. */
export async function savePcaps(trx: Trx, { added, changed, linked, links }: {
  readonly added: readonly PcapRow[]; readonly changed: readonly PcapRow[]; readonly linked: readonly string[]; readonly links: readonly LinkRow[];
}): Promise<void> {
  await insertMany(trx, "pcaps", added);
  for (const { id, tenant_id: _, ...columns } of changed) await trx.updateTable("pcaps").set(columns).where("id", "=", id).execute();
  await selectIn(linked, async (list) => {
    await trx.deleteFrom("pcap_links").where("pcap_id", "in", list).execute();
    return [];
  });
  for (let at = 0; at < links.length; at += 200) {
    await trx.insertInto("pcap_links").values(links.slice(at, at + 200)).onConflict((conflict) => conflict.doNothing()).execute();
  }
}

/** Null before the probe has reported any capture. */
export async function quotaOf(trx: Trx, probeId: string): Promise<QuotaRow | null> {
  return (await trx.selectFrom("pcap_quotas").selectAll().where("probe_id", "=", probeId).executeTakeFirst()) ?? null;
}

/** Keeps what a probe has had. */
export async function saveQuota(trx: Trx, row: QuotaRow): Promise<void> {
  const { probe_id: _, ...columns } = row;
  await trx.insertInto("pcap_quotas").values(row).onConflict((conflict) => conflict.column("probe_id").doUpdateSet(columns)).execute();
}

/**
 * Finds places among the `most` captures that a probe may have made up by itself. Where they do not suffice it forgets the oldest ones of
 * which there is no file anywhere. What a person has requested, locked or deleted counts not and stays, as does whatever has its file here.
 * @param needs.goneBefore What was last heard of before this has no file at the probe any more.
 * @returns How many places there are.
 */
export async function makePlaces(
  trx: Trx, probeId: string, needs: { readonly most: number; readonly wanted: number; readonly goneBefore: string },
): Promise<number> {
  const own = trx.selectFrom("pcaps").where("probe_id", "=", probeId).where("requested_by", "is", null).where("deleted_at", "is", null).where("locked_at", "is", null);
  const { total } = await own.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  const missing = needs.wanted - (needs.most - total);
  if (missing <= 0) return needs.most - total;
  const rows = await own.select("id").where("stored_at", "is", null)
    .where((eb) => eb.or([eb("state", "in", ["failed", "expired"]), eb("updated_at", "<", needs.goneBefore)]))
    .orderBy("created_at").orderBy("id").limit(missing).execute();
  await selectIn(rows.map(({ id }) => id), async (list) => {
    await trx.deleteFrom("pcaps").where("id", "in", list).execute();
    return [];
  });
  return Math.max(0, needs.most - total + rows.length);
}
