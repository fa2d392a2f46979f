import { createId } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { cutRecord } from "./cut-record.ts";
import { type IdentityKey, keyText, singleKind } from "../keys.ts";
import { addChange, forgetKeys, isKeyHeld, keysOf, ownersOf } from "./merge-store.ts";
import { deleteParts, loadRecord, writeRecord } from "../record-store.ts";

type Trx = Transaction<Schema>;

/** An interface as it was just seen: where, and with which keys. */
export interface ShownInterface {
  readonly tenantId: string;
  readonly siteId: string;
  readonly mac: string;
  readonly keys: readonly IdentityKey[];
  readonly at: string;
}

/**
 * Takes interfaces from devices that they cannot be of any more: where a key is seen of which a machine has but one, and the
 * device has another one of that kind and none that is seen. A dock, an adapter or a card has gone to another machine, which
 * is then found by the key, or is new. A device of that one interface alone, whose new key nobody has, was set up anew: it
 * loses the old key.
 *
 * To be called with the sites held, before what was seen is applied.
 */
export async function takeMovedInterfaces(trx: Trx, shown: readonly ShownInterface[]): Promise<void> {
  const bySite = new Map(shown.map((one) => [`${one.siteId} ${one.mac}`, one]));
  const owners = await ownersOf(trx, [...bySite.values()]);
  const held = await keysOf(trx, [...new Set(owners.map(({ device_id }) => device_id))]);
  if (held.length === 0) return;
  for (const { device_id: deviceId, site_id: siteId, mac } of owners) {
    const one = bySite.get(`${siteId} ${mac}`);
    if (!one) continue;
    const seen = singlesOf(one.keys.map(keyText));
    const own = singlesOf(held.filter((row) => row.device_id === deviceId).map(({ key }) => key));
    const isOwn = [...seen].some(([kind, keys]) => keys.some((key) => own.get(kind)?.includes(key)));
    const others = [...seen.keys()].flatMap((kind) => own.get(kind) ?? []);
    if (isOwn || others.length === 0) continue;
    await takeOne(trx, { deviceId, shown: one, seen: [...seen.values()].flat(), others });
  }
}

async function takeOne(trx: Trx, { deviceId, shown, seen, others }: {
  readonly deviceId: string; readonly shown: ShownInterface; readonly seen: readonly string[]; readonly others: readonly string[];
}): Promise<void> {
  const { tenantId, siteId, mac, at, keys } = shown;
  const record = await loadRecord(trx, deviceId);
  if (!record) return;
  if (record.interfaces.length < 2 && !(await isKeyHeld(trx, siteId, seen))) {
    await forgetKeys(trx, deviceId, others);
    return;
  }
  const { kept } = cutRecord(record, new Set([mac]), deviceId);
  const isLast = kept.interfaces.length === 0;
  await deleteParts(trx, [deviceId]);
  await writeRecord(trx, {
    ...kept,
    // Where nothing is left of it, it is listed by the address that it had, and is not there.
    device: isLast
      ? { ...kept.device, ip: record.device.ip, ip_key: record.device.ip_key, presence_state: "offline", is_online: 0 }
      : kept.device,
  }, { isNew: false });
  await addChange(trx, {
    id: createId(), device_id: deviceId, tenant_id: tenantId, at, field: "interfaces", before: mac, after: "",
    source: keys[0]?.source ?? "probe",
  });
}

function singlesOf(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const text of texts) {
    const kind = singleKind(text);
    if (kind !== null) found.set(kind, [...(found.get(kind) ?? []), text]);
  }
  return found;
}
