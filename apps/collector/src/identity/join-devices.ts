import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { Actor } from "../gateway/environment.ts";
import { decideJoin, forgetOldMacs, type Reason } from "./join.ts";
import { areApart } from "./merging/merge-store.ts";
import type { Merges } from "./merging/merges.ts";
import type { DeviceRecord } from "./record.ts";
import { loadRecord } from "./record-store.ts";
import { isSameName } from "./similarity.ts";

type Trx = Transaction<Schema>;

/** Two devices that something says are one. */
export interface Candidate {
  readonly tenantId: string;
  readonly deviceId: string;
  readonly otherId: string;
  readonly reason: Reason;
}

/**
 * Joins candidates, each pair as the joins before have left it. What people have taken apart stays so, and what a DHCP client says of
 * itself joins only where something else agrees. Their sites are held.
 * @param by Who does it: a part of this collector.
 * @returns Who is whose now: the id of each device that is gone → the device that has it in it.
 */
export async function joinDevices(
  trx: Trx, merges: Merges, { by: name, candidates }: { readonly by: string; readonly candidates: readonly Candidate[] },
): Promise<ReadonlyMap<string, string>> {
  const joined = new Map<string, string>();
  const now = (id: string): string => {
    const next = joined.get(id);
    return next === undefined ? id : now(next);
  };
  for (const { tenantId, deviceId, otherId, reason } of candidates) {
    const [one, two] = [now(deviceId), now(otherId)];
    if (one === two || await areApart(trx, tenantId, [one, two])) continue;
    const [a, b] = [await loadRecord(trx, one), await loadRecord(trx, two)];
    if (!a || !b) continue;
    if (isHearsay(reason.key) && !agree(a, b)) continue;
    const decision = decideJoin(forgetOldMacs(a), forgetOldMacs(b));
    if (!decision.join) continue;
    const by: Actor = { type: "system", id: name, name, tenantId, address: "" };
    await merges.merge(trx, decision, { by, reasons: [reason] });
    joined.set(decision.merged.device.id, decision.kept.device.id);
  }
  return new Map([...joined.keys()].map((id) => [id, now(id)]));
}

/** What a DHCP client says of itself, in the clear and to all who listen: whoever has heard it can say the same. */
function isHearsay(key: string): boolean {
  return /^(?:dhcp_client_id|dhcp_duid|mac) /.test(key);
}

/** Whether something else says that two devices are one: a key that cannot be had by listening, or the name. */
function agree(a: DeviceRecord, b: DeviceRecord): boolean {
  const others = new Set(b.device_keys.map(({ key }) => key));
  return isSameName(a.device.hostname, b.device.hostname)
    || a.device_keys.some(({ key }) => !isHearsay(key) && others.has(key));
}
