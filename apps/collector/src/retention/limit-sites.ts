import { nextTurn } from "@lanthorn/runtime";
import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../db/schema.ts";
import { macKind } from "../identity/macs.ts";

/** What tells how much would be lost with a device. */
const COLUMNS = ["id", "mac", "hostname", "device_type", "open_ports", "mac_count", "first_seen", "last_seen"] as const;
type Row = Pick<Selectable<Schema["devices"]>, (typeof COLUMNS)[number]>;

/** A visitor, an interface that was made up: whoever is there longer is a part of the network. */
const SHORT_LIFE_MS = 86_400_000;
const READ_ROWS = 1000;
const CHUNK_DEVICES = 200;

/**
 * How little would be lost with a device: 0 what was there for less than a day under a MAC that it made up, and of which nothing is known;
 * 1 the same under any MAC; 2 what was there for less than a day, whatever it calls itself; 3 all others. A host that invents MACs by the
 * hundred thousand makes the first three, and pushes out nothing of the last.
 */
export function worthOf({ mac, hostname, device_type: type, open_ports: ports, mac_count: macs, first_seen, last_seen }: Row): 0 | 1 | 2 | 3 {
  const isShort = Date.parse(last_seen) - Date.parse(first_seen) < SHORT_LIFE_MS;
  if (!isShort || ports !== "[]" || macs > 1) return 3;
  if (hostname !== "" || type !== "unknown") return 2;
  return mac !== "" && macKind(mac) === "random" ? 0 : 1;
}

/**
 * Removes devices of sites that have too many: those with which least is lost, and of these those not seen for longest; but none that
 * people have worked on.
 * @returns How many went.
 */
export async function limitSites(
  { db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }, keepDevices: number, stopped: AbortSignal,
): Promise<number> {
  let total = 0;
  const counts = await reads.selectFrom("device_counts").select((eb) => ["site_id", eb.fn.sum<number>("devices").as("devices")])
    .groupBy("site_id").having((eb) => eb.fn.sum("devices"), ">", keepDevices).execute();
  for (const { site_id: siteId, devices } of counts) {
    const going = await leastOf(reads, siteId, { excess: devices - keepDevices, stopped });
    for (let at = 0; at < going.length && !stopped.aborted; at += CHUNK_DEVICES) {
      const ids = going.slice(at, at + CHUNK_DEVICES);
      await db.deleteFrom("device_merges").where("kept_id", "in", ids).execute();
      // Whoever has been worked on meanwhile stays.
      const { numDeletedRows } = await db.deleteFrom("devices").where("id", "in", ids).where("locked_fields", "=", "[]")
        .where("tags", "=", "[]").executeTakeFirst();
      total += Number(numDeletedRows);
      await nextTurn();
    }
  }
  return total;
}

async function leastOf(
  reads: Kysely<Schema>, siteId: string, { excess, stopped }: { readonly excess: number; readonly stopped: AbortSignal },
): Promise<readonly string[]> {
  const byWorth: readonly string[][] = [[], [], [], []];
  let after: Pick<Row, "last_seen" | "id"> | undefined = { last_seen: "", id: "" };
  while (after && !stopped.aborted && (byWorth[0]?.length ?? 0) < excess) {
    const { last_seen: lastSeen, id } = after;
    const rows: readonly Row[] = await reads.selectFrom("devices").select(COLUMNS).where("site_id", "=", siteId)
      // One that a person added and nobody has seen yet has no first sighting.
      .where("locked_fields", "=", "[]").where("tags", "=", "[]").where("first_seen", "<>", "")
      .where((eb) => eb.or([eb("last_seen", ">", lastSeen), eb.and([eb("last_seen", "=", lastSeen), eb("id", ">", id)])]))
      .orderBy("last_seen").orderBy("id").limit(READ_ROWS).execute();
    for (const row of rows) {
      const same = byWorth[worthOf(row)];
      if (same && same.length < excess) same.push(row.id);
    }
    after = rows.length < READ_ROWS ? undefined : rows.at(-1);
    await nextTurn();
  }
  return byWorth.flat().slice(0, excess);
}
