import type { DeviceMergeRequest, DeviceSplitRequest } from "@lanthorn/contract";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { mergedInto } from "../../identity/merging/merged-into-store.ts";
import type { Merges } from "../../identity/merging/merges.ts";
import type { DeviceRecord } from "../../identity/record.ts";
import { loadRecord } from "../../identity/record-store.ts";
import { deviceNotFound, lockDevice } from "./locks.ts";
import { findMerge } from "./store/edits.ts";

type Trx = Transaction<Schema>;

/** What people say of which devices are one. Each is one transaction with its audit record. */
export interface DeviceMerger {
  /**
   * @returns The id of the device that is kept.
   * @throws ApiError NOT_FOUND; BAD_REQUEST for a device and itself; CONFLICT for devices of two sites.
   */
  merge(actor: Actor, deviceId: string, request: DeviceMergeRequest): Promise<string>;
  /**
   * @returns The id of the device that came, or came back, of it.
   * @throws ApiError NOT_FOUND; BAD_REQUEST for interfaces that are not the device's, or all of them; CONFLICT with
   * `details.device_id` for a merge whose device is itself a part of that one now.
   */
  split(actor: Actor, deviceId: string, request: DeviceSplitRequest): Promise<string>;
}

/** Merges and splits that people request. Both devices' site is locked first, so that nothing else changes them meanwhile. */
export function createDeviceMerger({ db, merges }: { readonly db: Kysely<Schema>; readonly merges: Merges }): DeviceMerger {
  const undo = async (trx: Trx, record: DeviceRecord, mergeId: string, actor: Actor): Promise<string> => {
    const merge = await findMerge(trx, actor.tenantId, mergeId);
    if (!merge) throw notFound("merge");
    if (merge.kept_id !== record.device.id) {
      // The merge is of a device that is itself a part of another one, or of another device altogether.
      if (await mergedInto(trx, actor.tenantId, merge.kept_id) !== record.device.id) throw notFound("merge");
      throw new ApiError("CONFLICT", "split that device off first", { details: { device_id: merge.kept_id } });
    }
    await merges.undo(trx, record, merge, actor);
    return merge.merged_id;
  };

  return {
    merge: (actor, deviceId, request) => db.transaction().execute(async (trx) => {
      const otherId = request.into ?? request.with ?? "";
      if (otherId === deviceId) throw badRequest([{ path: [request.into === undefined ? "with" : "into"], message: "another device" }]);
      const [one, other] = [await lockDevice(trx, actor.tenantId, deviceId), await lockDevice(trx, actor.tenantId, otherId)];
      if (one.site_id !== other.site_id) throw new ApiError("CONFLICT", "the devices are at different sites");
      const [keptId, mergedId] = request.into === undefined ? [deviceId, otherId] : [otherId, deviceId];
      const [kept, merged] = [await loadRecord(trx, keptId), await loadRecord(trx, mergedId)];
      if (!kept || !merged) throw deviceNotFound(await mergedInto(trx, actor.tenantId, deviceId));
      await merges.merge(trx, { kept, merged }, { by: actor, reasons: [{ key: `person ${actor.name}`, source: "person" }] });
      return keptId;
    }),

    split: (actor, deviceId, request) => db.transaction().execute(async (trx) => {
      await lockDevice(trx, actor.tenantId, deviceId);
      const record = await loadRecord(trx, deviceId);
      if (!record) throw deviceNotFound(await mergedInto(trx, actor.tenantId, deviceId));
      if (request.merge_id !== undefined) return undo(trx, record, request.merge_id, actor);
      const macs = new Set(request.interfaces);
      const own = record.interfaces.filter(({ mac }) => macs.has(mac));
      if (own.length !== macs.size) throw badRequest([{ path: ["interfaces"], message: "interfaces of this device" }]);
      const isAll = own.length === record.interfaces.length;
      if (isAll) throw badRequest([{ path: ["interfaces"], message: "not all interfaces of the device" }]);
      return merges.takeApart(trx, record, macs, actor);
    }),
  };
}
