/** Which addresses are decoys', so that none of them becomes a device, and IPAM gives none of them away. */
import type { ProbeHealth } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { addressOf, parseNetwork } from "../../../db/keys/address-range.ts";
import type { Schema } from "../../../db/schema.ts";
import { type DecoyAddressRow, putDecoyAddresses } from "./store.ts";

/** Keeps them as probes report them. */
export interface DecoyAddresses {
  /** Never rejects. A probe that does not know how its decoys are changes nothing. */
  heard(probe: { readonly probeId: string; readonly tenantId: string; readonly siteId: string }, health: Pick<ProbeHealth, "decoys">): Promise<void>;
}

/** Of probes whose addresses are the same as before, nothing is written: they report each half minute. */
export function createDecoyAddresses({ db, log }: { readonly db: Kysely<Schema>; readonly log: Pick<Log, "error"> }): DecoyAddresses {
  const written = new Map<string, string>();
  return {
    async heard({ probeId, tenantId, siteId }, { decoys }) {
      if (!decoys) return;
      const rows = new Map<string, DecoyAddressRow>();
      for (const { address, name } of decoys.decoys) {
        const place = parseNetwork(address);
        if (place === null || place.hostBits !== 0) continue;
        const ip = addressOf(place.first);
        rows.set(ip, { probe_id: probeId, ip, ip_key: place.first, tenant_id: tenantId, site_id: siteId, decoy: name });
      }
      const state = JSON.stringify([...rows.values()]);
      if (written.get(probeId) === state) return;
      try {
        await putDecoyAddresses(db, probeId, [...rows.values()]);
        written.set(probeId, state);
      } catch (error) {
        log.error({ probe_id: probeId, reason: describeError(error) }, "the addresses of decoys could not be written down");
      }
    },
  };
}
