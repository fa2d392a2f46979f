import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Configuration } from "../configuration.ts";
import type { Schema } from "../db/schema.ts";
import { createRetention } from "./events.ts";
import type { DeviceLimits } from "./device-parts.ts";
import { createInventoryRetention } from "./inventory.ts";
import { createRecordRetention } from "./records.ts";

/** What keeps the database within bounds, beside what services forget of their own: the event log, devices' parts, records. */
export function openRetention({ events, inventory, audit, rejected }: Configuration, deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly log: Log; readonly lifecycle: Lifecycle;
}): void {
  const { lifecycle } = deps;
  const log = createRetention(deps, { keepDays: events.keep_days, keepBytes: events.keep_megabytes * 1e6 });
  lifecycle.onClose("event retention", () => log.close());
  const devices = createInventoryRetention(deps, {
    keepDays: inventory.keep_days, keepDevices: inventory.keep_devices, keepMerges: inventory.keep_merges,
    keep: keepOf(inventory),
  });
  lifecycle.onClose("retention of devices", () => devices.close());
  const records = createRecordRetention(deps, {
    audit: { keepDays: audit.keep_days, keepRecords: audit.keep_records, keepAuthenticationDays: audit.keep_authentication_days },
    rejected: { keepDays: rejected.keep_days, keepBytes: rejected.keep_megabytes * 1e6 },
  });
  lifecycle.onClose("retention of records", () => records.close());
}

/** What a device may keep of each table. */
export function keepOf(inventory: Configuration["inventory"]): DeviceLimits["keep"] {
  return {
    device_changes: inventory.keep_changes, addresses: inventory.keep_addresses, evidence: inventory.keep_evidence,
    ports: inventory.keep_ports, device_keys: inventory.keep_keys,
  };
}
