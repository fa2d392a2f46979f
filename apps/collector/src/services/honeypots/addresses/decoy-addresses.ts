/** Which addresses are decoys', so that none of them becomes a device, and IPAM gives none of them away. */
import type { ProbeHealth } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { addressOf, parseNetwork } from "../../../db/keys/address-range.ts";
import { decoysLapse } from "../../../db/query/decoy-addresses.ts";
import type { Schema } from "../../../db/schema.ts";
import { type DecoyAddressRow, putDecoyAddresses, readDecoyAddressRows } from "./store.ts";

type Probe = { readonly probeId: string; readonly tenantId: string; readonly siteId: string };

/** Keeps them as probes report them. */
export interface DecoyAddresses {
  /** Never rejects. A probe that leaves its decoys out for ten minutes has none: one that was just started has not heard of them yet. */
  heard(probe: Probe, health: Pick<ProbeHealth, "decoys">): Promise<void>;
}

/** Who sets up a decoy gives a machine another address first, which is found before the decoy is reported. */
const SET_UP_WITHIN_MS = 3_600_000;
const LEFT_OUT_FOR_MS = 600_000;
/** Probes report each half minute; what is the same as before is written this often. */
const WRITE_EVERY_MS = 300_000;

/** What was written is in the database alone: a probe may be heard by another replica the next time. */
export function createDecoyAddresses({ db, clock, log }: { readonly db: Kysely<Schema>; readonly clock: Pick<Clock, "now">; readonly log: Pick<Log, "error"> }): DecoyAddresses {
  const keep = async (probe: Probe, decoys: NonNullable<ProbeHealth["decoys"]> | undefined) => {
    const now = clock.now();
    const known = new Map((await readDecoyAddressRows(db, probe.probeId)).map((row) => [row.ip, row]));
    const isOlder = (than: number) => [...known.values()].some(({ reported_at: at }) => at < toInstant(now - than));
    if (!decoys) {
      if (isOlder(LEFT_OUT_FOR_MS)) await putDecoyAddresses(db, probe.probeId, []);
      return;
    }
    const rows = new Map<string, DecoyAddressRow>();
    for (const { address, name, own_address: own } of decoys.decoys) {
      // One that the decoy was refused is its owner's, who is a device as others.
      if (own && own.state !== "taken" && own.state !== "probing") continue;
      const place = parseNetwork(address);
      if (place === null || place.hostBits !== 0) continue;
      const ip = addressOf(place.first);
      const before = known.get(ip);
      rows.set(ip, {
        probe_id: probe.probeId, ip, ip_key: place.first, tenant_id: probe.tenantId, site_id: probe.siteId, decoy: name, reported_at: toInstant(now),
        settled_before: before && before.reported_at >= decoysLapse(toInstant(now)) ? before.settled_before : toInstant(now - SET_UP_WITHIN_MS),
      });
    }
    const isSame = rows.size === known.size && [...rows].every(([ip, { decoy, site_id: siteId }]) => known.get(ip)?.decoy === decoy && known.get(ip)?.site_id === siteId);
    if (!isSame || isOlder(WRITE_EVERY_MS)) await putDecoyAddresses(db, probe.probeId, [...rows.values()]);
  };
  return {
    async heard(probe, { decoys }) {
      try {
        await keep(probe, decoys);
      } catch (error) {
        log.error({ probe_id: probe.probeId, reason: describeError(error) }, "the addresses of decoys could not be written down");
      }
    },
  };
}
