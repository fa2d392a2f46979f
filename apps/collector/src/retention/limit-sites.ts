import { nextTurn } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { macKind } from "../identity/macs.ts";
import { crowdedSites, type DeviceWorth, removableDevices, removeDevices } from "./sites-store.ts";

/** A visitor, an interface that was made up: whoever is there longer is a part of the network. */
const SHORT_LIFE_MS = 86_400_000;
const READ_ROWS = 1000;
const CHUNK_DEVICES = 200;

/**
 * How little would be lost with a device: 0 what was there for less than a day under a MAC that it made up, and of which nothing is known;
 * 1 the same under any MAC; 2 what was there for less than a day, whatever it calls itself; 3 all others. A host that invents MACs by the
 * hundred thousand makes the first three, and pushes out nothing of the last.
 */
function worthOf({ mac, hostname, device_type: type, open_ports: ports, mac_count: macs, first_seen, last_seen }: DeviceWorth): 0 | 1 | 2 | 3 {
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
  for (const { siteId, devices } of await crowdedSites(reads, keepDevices)) {
    const going = await leastOf(reads, siteId, { excess: devices - keepDevices, stopped });
    for (let at = 0; at < going.length && !stopped.aborted; at += CHUNK_DEVICES) {
      total += await removeDevices(db, going.slice(at, at + CHUNK_DEVICES));
      await nextTurn();
    }
  }
  return total;
}

async function leastOf(
  reads: Kysely<Schema>, siteId: string, { excess, stopped }: { readonly excess: number; readonly stopped: AbortSignal },
): Promise<readonly string[]> {
  const byWorth: readonly string[][] = [[], [], [], []];
  let after: Pick<DeviceWorth, "last_seen" | "id"> | undefined = { last_seen: "", id: "" };
  while (after && !stopped.aborted && (byWorth[0]?.length ?? 0) < excess) {
    const rows: readonly DeviceWorth[] = await removableDevices(reads, siteId, { after, limit: READ_ROWS });
    for (const row of rows) {
      const same = byWorth[worthOf(row)];
      if (same && same.length < excess) same.push(row.id);
    }
    after = rows.length < READ_ROWS ? undefined : rows.at(-1);
    await nextTurn();
  }
  return byWorth.flat().slice(0, excess);
}
