import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { splitBaseline, takeBaseline } from "./baselines-store.ts";
import { cutRecord } from "./cut-record.ts";
import type { Reason } from "../join.ts";
import { mergeRecords, partsOf } from "./merge-records.ts";
import { addMerge, moveChanges, setMerge, takeHistory } from "./merge-store.ts";
import type { DeviceRecord } from "../record.ts";
import { deleteParts, writeRecord } from "../record-store.ts";
import { NO_SOFTWARE } from "../../software/columns.ts";
import { type Pair, type Snapshot, splitRecord } from "./split-record.ts";

type Trx = Transaction<Schema>;
type MergeRow = Selectable<Schema["device_merges"]>;

/** Makes one device of two and two of one, each within the caller's transaction, in which the site's row is to be held. */
export interface Merges {
  /** The merged one is gone after it: its rows and its history are the kept one's. What the event log says of it stays. */
  merge(trx: Trx, pair: Pair, why: { readonly by: Actor; readonly reasons: readonly Reason[] }): Promise<void>;
  /**
   * Undoes a merge, so that both are as they were but for what has been learned since.
   * @param kept The device that has the other one in it.
   */
  undo(trx: Trx, kept: DeviceRecord, merge: MergeRow, by: Actor): Promise<void>;
  /**
   * Takes interfaces from a device and makes a new one of them.
   * @param macs Some of its interfaces, not all.
   * @returns The new one's id.
   */
  takeApart(trx: Trx, device: DeviceRecord, macs: ReadonlySet<string>, by: Actor): Promise<string>;
}

/** What is kept of a merge so that it can be undone. */
interface KeptSnapshot extends Snapshot {
  /** Ids of the merged device's history. */
  readonly changes: readonly string[];
}

/** A snapshot has only the parts, and of ports only the columns, that devices had in the version that made it. */
function withAllParts(record: DeviceRecord): DeviceRecord {
  const whole = { ...record, ...partsOf((table) => ((record as Partial<DeviceRecord>)[table] ?? []) as never) };
  return { ...whole, ports: whole.ports.map((port) => ({ ...NO_SOFTWARE, ...port })) };
}

/** Each change writes an audit record with the devices before and after, in the caller's transaction. */
export function createMerges({ audit, clock }: { readonly audit: Audit; readonly clock: Pick<Clock, "now"> }): Merges {
  const remember = (trx: Trx, { kept, merged, by, reasons, snapshot, undoneAt }: {
    readonly kept: DeviceRecord["device"]; readonly merged: string; readonly by: Actor; readonly reasons: readonly Reason[];
    readonly snapshot: KeptSnapshot | null; readonly undoneAt: string | null;
  }) => addMerge(trx, {
    id: createId(), tenant_id: kept.tenant_id, site_id: kept.site_id, kept_id: kept.id, merged_id: merged, at: toInstant(clock.now()),
    by_type: by.type, by_id: by.id, by_name: by.name, reasons: JSON.stringify(reasons), snapshot: snapshot && JSON.stringify(snapshot),
    undone_at: undoneAt,
  });

  return {
    async merge(trx, { kept, merged }, { by, reasons }) {
      const after = mergeRecords(kept, merged);
      await deleteParts(trx, [kept.device.id, merged.device.id]);
      await takeBaseline(trx, { from: merged.device.id, to: kept.device.id, siteId: kept.device.site_id }, clock.now());
      const changes = await takeHistory(trx, { from: merged.device.id, to: kept.device.id });
      await writeRecord(trx, after, { isNew: false });
      const snapshot = { kept, merged, after, changes };
      await remember(trx, { kept: kept.device, merged: merged.device.id, by, reasons, snapshot, undoneAt: null });
      await audit(trx, {
        actor: by, action: "device.merge", target: { type: "device", id: kept.device.id },
        before: { kept: kept.device, merged: merged.device }, after: { kept: after.device, reasons },
      });
    },

    async undo(trx, now, merge, by) {
      const { changes, ...snapshot } = JSON.parse(merge.snapshot ?? "null") as KeptSnapshot;
      const { kept, merged } = splitRecord(now, {
        kept: withAllParts(snapshot.kept), merged: withAllParts(snapshot.merged), after: withAllParts(snapshot.after),
      });
      await deleteParts(trx, [now.device.id]);
      await writeRecord(trx, kept, { isNew: false });
      await writeRecord(trx, merged, { isNew: true });
      await moveChanges(trx, changes, { from: kept.device.id, to: merged.device.id });
      await splitBaseline(trx, { kept: kept.device.id, split: merged.device.id, siteId: kept.device.site_id }, clock.now());
      await setMerge(trx, merge.id, { undone_at: toInstant(clock.now()), snapshot: null });
      await audit(trx, {
        actor: by, action: "device.split", target: { type: "device", id: kept.device.id },
        before: { kept: now.device }, after: { kept: kept.device, split: merged.device },
      });
    },

    async takeApart(trx, record, macs, by) {
      const { kept, taken } = cutRecord(record, macs, createId());
      await deleteParts(trx, [record.device.id]);
      await writeRecord(trx, kept, { isNew: false });
      await writeRecord(trx, taken, { isNew: true });
      await splitBaseline(trx, { kept: kept.device.id, split: taken.device.id, siteId: kept.device.site_id }, clock.now());
      // Nothing joins the two again by itself.
      await remember(trx, { kept: kept.device, merged: taken.device.id, by, reasons: [], snapshot: null,
        undoneAt: toInstant(clock.now()) });
      await audit(trx, {
        actor: by, action: "device.split", target: { type: "device", id: kept.device.id },
        before: { kept: record.device }, after: { kept: kept.device, split: taken.device },
      });
      return taken.device.id;
    },
  };
}
