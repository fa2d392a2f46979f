import type { Schema } from "../../db/schema.ts";
import { macKind } from "../../identity/macs.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What ingest knows and changes of a device's row. Fields that people or later findings own are not here. */
export type DeviceFields = Writable<Pick<
  Schema["devices"],
  "ip" | "ip_key" | "mac" | "hostname" | "vendor" | "is_online" | "presence_state" | "first_seen" | "last_seen" | "open_ports"
  | "os_guess" | "device_type"
> & { readonly verdicts: string }>;

/** Columns that are written together, because they change together and share indexes. */
export const COLUMN_GROUPS = {
  identity: ["ip", "ip_key", "mac", "hostname", "vendor"],
  state: ["is_online", "presence_state"],
  seen: ["last_seen"],
  met: ["first_seen"],
  ports: ["open_ports"],
  judged: ["os_guess", "device_type", "verdicts"],
} as const satisfies Record<string, readonly (keyof DeviceFields)[]>;
/** A group of `COLUMN_GROUPS`, by which a draft notes what has changed. */
export type ColumnGroup = keyof typeof COLUMN_GROUPS;

/** A device while a batch is applied to it; written at the end, once, whatever happened to it in between. */
export interface DeviceDraft {
  readonly id: string;
  readonly isNew: boolean;
  readonly fields: DeviceFields;
  readonly changed: Set<ColumnGroup>;
  /** Fields that a person set. */
  readonly locked: ReadonlySet<string>;
  /** How each interface is, by its MAC; null for a device of one interface, which is as that is. */
  readonly interfaces: Map<string, string> | null;
}

/** A row of `addresses` while a batch changes it; written at the batch's end. */
export type AddressRow = Writable<Schema["addresses"]>;

/** How a host is named by a probe: by its interface, or by its address alone where it is behind a router. */
export interface HostRef {
  readonly ip: string;
  /** Empty when unknown. */
  readonly mac: string;
}

/** As whom a host is known here: a MAC that many machines have says nothing, so that such a one is known by its address alone. */
export function identified<T extends HostRef>(ref: T): T {
  return ref.mac !== "" && macKind(ref.mac) === "shared" ? { ...ref, mac: "" } : ref;
}
