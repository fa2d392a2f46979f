import type { DeviceCreate, DeviceUpdate, EventData } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Insertable, Kysely, Transaction } from "kysely";
import { addressKey } from "../../db/keys/address-key.ts";
import { hostnameKey } from "../../db/keys/hostname-key.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError } from "../../gateway/errors.ts";
import { noteSoftwareChanges } from "../../software/changes-store.ts";
import { discoveredValue } from "./store/discovered-value.ts";
import { removeDevices } from "./store/bulk.ts";
import { deviceIp, deviceMac } from "./identifiers.ts";
import { lockDevice, lockSite } from "./locks.ts";
import { addChange, addDevice, findHolder, type Identifiers, keepIdentifiers, moveIdentifiers, setDevice } from "./store/edits.ts";
import { EDITABLE_FIELDS, type EditableField, toDevice } from "./records.ts";
import type { DeviceRow } from "./store/pages.ts";

type Trx = Transaction<Schema>;

/** Fields of a new device that are a person's word. An address only says where to find it, and stays discovery's unless asked. */
const LOCKED_WHERE_SET = ["hostname", "device_type", "tags"] as const satisfies readonly EditableField[];

/** What people do to devices. Each is one transaction with its audit record. */
export interface DeviceEditor {
  /**
   * @returns The new device's id.
   * @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST where it must be said and is not, or for an
   * address of many; CONFLICT with `details.device_id` when the MAC, or without one the address, is a device's already.
   */
  create(actor: Actor, device: DeviceCreate): Promise<string>;
  /** @throws ApiError NOT_FOUND, BAD_REQUEST and CONFLICT as `create`. */
  update(actor: Actor, deviceId: string, changes: DeviceUpdate): Promise<void>;
  /** Removes a device and all that is kept of it, except what the event log says. @throws ApiError NOT_FOUND. */
  remove(actor: Actor, deviceId: string): Promise<void>;
}

/** @param deps.published Called after the commit of a new device that has an address, with the sequence of its `host_found` event. */
export function createDeviceEditor(deps: {
  readonly db: Kysely<Schema>;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** Who made a MAC's interface; empty where the registry does not say. */
  readonly vendorOf: (mac: string) => string;
}): DeviceEditor {
  const { db, audit, vendorOf } = deps;

  /** Announced as discovery announces a host, in the same transaction. One without an address is announced when it is first seen. */
  async function create(trx: Trx, actor: Actor, device: DeviceCreate) {
    const ip = device.ip === undefined ? "" : deviceIp(device.ip);
    const mac = device.mac === undefined ? "" : deviceMac(device.mac);
    const siteId = await lockSite(trx, actor.tenantId, device.site_id);
    await refuseTaken(trx, siteId, { ip, mac }, "");
    const at = toInstant(deps.clock.now());
    const { hostname = "", device_type = "unknown", tags = [], locked_fields: alsoLocked = [] } = device;
    const row: Insertable<Schema["devices"]> = {
      id: createId(), tenant_id: actor.tenantId, site_id: siteId, ip, ip_key: addressKey(ip), mac, hostname,
      hostname_key: hostnameKey(hostname), vendor: vendorOf(mac), os_guess: "", device_type, is_online: 0, presence_state: "unknown", first_seen: "", last_seen: "", open_ports: "[]",
      tags: JSON.stringify(tags),
      locked_fields: lockedText([...LOCKED_WHERE_SET.filter((field) => device[field] !== undefined), ...new Set(alsoLocked)]),
    };
    await addDevice(trx, row);
    await keepIdentifiers(trx, { ...row, at, vendor: row.vendor });
    await audit(trx, { actor, action: "device.create", target: { type: "device", id: row.id }, before: null,
      after: toRecord({ ...row, mac_count: 1, verdicts: "{}" }) });
    const found: EventData<"host_found"> = { ip, mac, hostname, vendor: row.vendor, addresses: [ip], evidence: [] };
    const appended = ip === "" ? null : await deps.log.append(trx, actor.tenantId, [{
      type: "host_found", siteId, probeId: null, deviceId: row.id, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
      data: found,
    }]);
    return { id: row.id, appended };
  }

  return {
    async create(actor, device) {
      const { id, appended } = await db.transaction().execute((trx) => create(trx, actor, device));
      if (appended) deps.published(actor.tenantId, appended.fromSeq);
      return id;
    },

    update: (actor, deviceId, changes) => db.transaction().execute(async (trx) => {
      const before = await lockDevice(trx, actor.tenantId, deviceId);
      const at = toInstant(deps.clock.now());
      const { after, locked } = await changedRow(trx, before, changes);
      after.ip_key = addressKey(after.ip);
      after.hostname_key = hostnameKey(after.hostname);
      // Who made the old interface says nothing of the new one.
      const madeBy = vendorOf(after.mac);
      if (after.mac !== before.mac && !locked.has("vendor") && before.vendor === vendorOf(before.mac)) after.vendor = madeBy;
      if (after.ip !== before.ip || after.mac !== before.mac) {
        await refuseTaken(trx, before.site_id, after, before.id);
        await moveIdentifiers(trx, before, { ...after, at, vendor: madeBy });
      }
      await setDevice(trx, deviceId, {
        ip: after.ip, ip_key: after.ip_key, mac: after.mac, hostname: after.hostname, hostname_key: after.hostname_key,
        vendor: after.vendor, os_guess: after.os_guess,
        device_type: after.device_type, tags: after.tags, locked_fields: after.locked_fields,
      });
      if (after.os_guess !== before.os_guess) await noteSoftwareChanges(trx, [{ device_id: deviceId, tenant_id: actor.tenantId, since: at }]);
      for (const field of EDITABLE_FIELDS) {
        if (after[field] === before[field]) continue;
        await addChange(trx, { device_id: deviceId, tenant_id: actor.tenantId, at, field, before: before[field], after: after[field] });
      }
      await audit(trx, { actor, action: "device.update", target: { type: "device", id: deviceId }, before: toRecord(before),
        after: toRecord(after) });
    }),

    remove: (actor, deviceId) => db.transaction().execute(async (trx) => {
      const before = await lockDevice(trx, actor.tenantId, deviceId);
      await removeDevices(trx, actor.tenantId, [deviceId]);
      await audit(trx, { actor, action: "device.delete", target: { type: "device", id: deviceId }, before: toRecord(before), after: null });
    }),
  };
}

/** What is set is locked against discovery; what is set to null is discovery's again. */
export async function changedRow(
  trx: Trx, before: DeviceRow, changes: DeviceUpdate,
): Promise<{ readonly after: DeviceRow; readonly locked: ReadonlySet<string> }> {
  const locked = new Set(JSON.parse(before.locked_fields) as string[]);
  const values: Partial<Record<EditableField, string>> = {};
  for (const field of EDITABLE_FIELDS) {
    const wanted = changes[field];
    if (wanted === undefined) continue;
    if (wanted === null) {
      // What is not locked is discovery's already.
      if (locked.delete(field)) values[field] = await discoveredValue(trx, before, field);
    } else {
      locked.add(field);
      values[field] = columnText(field, wanted);
    }
  }
  return { after: { ...before, ...values, locked_fields: lockedText(locked) }, locked };
}

async function refuseTaken(trx: Trx, siteId: string, identifiers: Identifiers, except: string): Promise<void> {
  const deviceId = await findHolder(trx, siteId, identifiers, except);
  if (deviceId === null) return;
  const { ip, mac } = identifiers;
  const name = mac === "" ? `address ${ip}` : `MAC ${mac}`;
  throw new ApiError("CONFLICT", `this site already has a device with the ${name}`, { details: { device_id: deviceId } });
}

function columnText(field: EditableField, value: string | readonly string[]): string {
  if (typeof value !== "string") return JSON.stringify(value);
  if (field === "ip") return deviceIp(value);
  return field === "mac" ? deviceMac(value) : value;
}

function lockedText(fields: Iterable<string>): string {
  return JSON.stringify([...fields].toSorted());
}

/** A device as the audit log has it. */
export function toRecord(row: DeviceRow): object {
  return { ...toDevice(row), locked_fields: JSON.parse(row.locked_fields) as string[] };
}
