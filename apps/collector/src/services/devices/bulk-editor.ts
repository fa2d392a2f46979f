import type { BulkResult, DeviceBulkChange, DeviceBulkRequest, DeviceUpdate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { commitUnflushed } from "../../db/query/unflushed.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createRunBulk, selectionOf } from "../../gateway/bulk/bulk.ts";
import type { Actor } from "../../gateway/environment.ts";
import { noteSoftwareChanges } from "../../software/changes-store.ts";
import type { ReadConditions } from "./conditions.ts";
import { changedRow, toRecord } from "./editor.ts";
import { EDITABLE_FIELDS } from "./records.ts";
import { holdDevices, removeDevices, writeDevices } from "./store/bulk.ts";
import type { DevicesStore } from "./store/devices.ts";
import type { DeviceRow } from "./store/pages.ts";

/** A device before and after a change. */
interface Changed {
  readonly before: DeviceRow;
  readonly after: DeviceRow;
}

/** One change of many devices, each as by itself. */
export interface DeviceBulkEditor {
  /** @throws ApiError CONFLICT where another number matches than was expected; NOT_FOUND for a site that the tenant does not have. */
  change(actor: Actor, request: DeviceBulkRequest): Promise<BulkResult>;
}

/** Some milliseconds; smaller ones cost more in all than they spare whoever waits. A deleted device takes its ports, addresses and evidence with it. */
const PIECE = { change: 50, delete: 5 } as const;
const MAX_TAGS = 64;

/** @param deps.conditions What a filter means. */
export function createDeviceBulkEditor(deps: {
  readonly db: Kysely<Schema>;
  readonly store: Pick<DevicesStore, "matches" | "idsAmong">;
  readonly conditions: ReadConditions;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}): DeviceBulkEditor {
  const { db, store, conditions, audit } = deps;
  const runBulk = createRunBulk();

  const selected = async (tenantId: string, { filter, ids }: DeviceBulkRequest) => {
    if (ids !== undefined) return selectionOf(await store.idsAmong(tenantId, ids));
    const wanted = await store.matches.wanted(tenantId, await conditions(tenantId, { filter }));
    return {
      async *ids() {
        for await (const some of store.matches.inTurns(wanted)) yield (await some.select("id").orderBy("id").execute()).map(({ id }) => id);
      },
    };
  };

  const removeAll = async (trx: Transaction<Schema>, actor: Actor, rows: readonly DeviceRow[]) => {
    await removeDevices(trx, actor.tenantId, rows.map(({ id }) => id));
    await audit(trx, rows.map((row) => ({
      actor, action: "device.delete", target: { type: "device", id: row.id }, before: toRecord(row), after: null,
    })));
    return rows.length;
  };

  const updateAll = async (trx: Transaction<Schema>, actor: Actor, rows: readonly DeviceRow[], change: DeviceBulkChange) => {
    const all: Changed[] = [];
    for (const before of rows) {
      const { after } = await changedRow(trx, before, updateOf(before, change));
      if (after.locked_fields !== before.locked_fields || EDITABLE_FIELDS.some((field) => after[field] !== before[field])) all.push({ before, after });
    }
    const at = toInstant(deps.clock.now());
    const own = { tenant_id: actor.tenantId, at };
    const columns = EDITABLE_FIELDS.filter((field) => all.some(({ before, after }) => after[field] !== before[field]));
    await writeDevices(trx, all.map(({ after }) => after), [...columns, "locked_fields"], all.flatMap(({ before, after }) => EDITABLE_FIELDS
      .filter((field) => after[field] !== before[field])
      .map((field) => ({ id: createId(), device_id: before.id, ...own, field, before: before[field], after: after[field], source: "person" }))));
    const another = all.filter(({ before, after }) => after.os_guess !== before.os_guess);
    await noteSoftwareChanges(trx, another.map(({ before }) => ({ device_id: before.id, tenant_id: actor.tenantId, since: at })));
    await audit(trx, all.map(({ before, after }) => ({
      actor, action: "device.update", target: { type: "device", id: before.id }, before: toRecord(before), after: toRecord(after),
    })));
    return all.length;
  };

  return {
    async change(actor, request) {
      const { change, expected_count: expectedCount, filter, ids } = request;
      return runBulk(actor.tenantId, {
        ...await selected(actor.tenantId, request), expectedCount, pieceSize: PIECE[change.delete ? "delete" : "change"],
        begin: () => db.transaction().execute((trx) => audit(trx, {
          actor, action: "device.bulk", target: { type: "device", id: "" }, before: null,
          after: { ...(filter && { filter }), ...(ids && { ids }), count: expectedCount, change },
        })),
        change(piece, isLast) {
          const work = async (trx: Transaction<Schema>) => {
            const rows = await holdDevices(trx, actor.tenantId, piece);
            const changed = await (change.delete ? removeAll(trx, actor, rows) : updateAll(trx, actor, rows, change));
            return { changed, gone: piece.length - rows.length };
          };
          // Nobody is answered before the last one, with which the disk gets all of them.
          return isLast ? db.transaction().execute(work) : commitUnflushed(db, work);
        },
      });
    },
  };
}

/** What the change of all is for one of them. */
function updateOf(row: DeviceRow, { add_tags: added = [], remove_tags: removed = [], vendor, os_guess, device_type }: DeviceBulkChange): DeviceUpdate {
  const before = JSON.parse(row.tags) as string[];
  const tags = [...new Set([...before, ...added])].filter((tag) => !removed.includes(tag));
  const isSame = tags.length === before.length && tags.every((tag) => before.includes(tag));
  return { vendor, os_guess, device_type, ...(!isSame && tags.length <= MAX_TAGS && { tags }) };
}
