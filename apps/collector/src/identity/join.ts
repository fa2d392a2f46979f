import { singleKind } from "./keys.ts";
import { isVirtualMachine, macKind } from "./macs.ts";
import type { DeviceRecord } from "./record.ts";

/** Why two devices are one: a key that both have, as `keyText` writes it, or in words of a person. */
export interface Reason {
  readonly key: string;
  readonly source: string;
}

/** Which of two devices stays, or why they stay two. */
export type JoinDecision =
  | { readonly join: true; readonly kept: DeviceRecord; readonly merged: DeviceRecord }
  | { readonly join: false; readonly because: string };

/** More than this is no machine but a router, a proxy, or many machines that were made from one image. */
const MAX_INTERFACES = 16;
const MAX_ADDRESSES = 128;
/** A phone that takes a new MAC each day would soon be too large to be joined with itself. */
const MAX_RANDOM_MACS = 8;

/**
 * Whether two devices that share a key are joined. They are not when the whole would be too large for one machine, when
 * another key says that they are two (images are copied with their keys), when they are virtual machines that run beside each
 * other, or when people have given them different names.
 */
export function decideJoin(a: DeviceRecord, b: DeviceRecord): JoinDecision {
  const refuse = (because: string) => ({ join: false, because }) as const;
  if (a.device.site_id !== b.device.site_id) return refuse("they are at different sites");
  if (countOwn(a) + countOwn(b) > MAX_INTERFACES) return refuse(`together they have more than ${MAX_INTERFACES} interfaces`);
  if (countAddresses(a) + countAddresses(b) > MAX_ADDRESSES) return refuse(`together they have more than ${MAX_ADDRESSES} addresses`);
  const contradiction = findContradiction(a, b);
  if (contradiction !== null) return refuse(`each has its own ${contradiction}`);
  if (isRunningCopy(a, b)) return refuse("they are virtual machines that run at the same time");
  if (isNamed(a) && isNamed(b) && a.device.hostname !== b.device.hostname) return refuse("users gave them different names");
  const [kept, merged] = [a, b].toSorted((one, two) => compare(rank(one), rank(two))) as [DeviceRecord, DeviceRecord];
  return { join: true, kept, merged };
}

/** A device without the random MACs that it has not used for longest, and their addresses. */
export function forgetOldMacs(record: DeviceRecord): DeviceRecord {
  const { interfaces, addresses } = record;
  const lastUsed = (mac: string, first: string) => addresses.filter((row) => row.mac === mac)
    .reduce((at, row) => (row.last_seen > at ? row.last_seen : at), first);
  const old = interfaces.filter(({ mac }) => macKind(mac) === "random")
    .map(({ mac, first_seen }) => ({ mac, at: lastUsed(mac, first_seen) }))
    .toSorted((a, b) => (a.at > b.at ? -1 : 1)).slice(MAX_RANDOM_MACS);
  if (old.length === 0) return record;
  const forgotten = new Set(old.map(({ mac }) => mac));
  const isKept = ({ mac }: { readonly mac: string }) => !forgotten.has(mac);
  return { ...record, interfaces: interfaces.filter(isKept), addresses: addresses.filter(isKept) };
}

/** Random MACs are made up anew and say nothing of how many interfaces there are. */
function countOwn({ interfaces }: DeviceRecord): number {
  return interfaces.filter(({ mac }) => macKind(mac) !== "random").length;
}

function countAddresses({ addresses }: DeviceRecord): number {
  return addresses.filter(({ current }) => current === 1).length;
}

function findContradiction(a: DeviceRecord, b: DeviceRecord): string | null {
  const [one, two] = [a, b].map(({ device_keys }) => singleKeys(device_keys.map(({ key }) => key))) as [Singles, Singles];
  for (const [kind, values] of one) {
    const others = two.get(kind);
    if (others && ![...values].some((value) => others.has(value))) return kind;
  }
  return null;
}

type Singles = ReadonlyMap<string, ReadonlySet<string>>;

function singleKeys(keys: readonly string[]): Singles {
  const found = new Map<string, Set<string>>();
  for (const key of keys) {
    const kind = singleKind(key);
    if (kind === null) continue;
    const values = found.get(kind) ?? new Set();
    values.add(key);
    found.set(kind, values);
  }
  return found;
}

/** Copies of one image have the same keys until somebody makes new ones; and a virtual machine seldom has two interfaces in one network. */
function isRunningCopy(a: DeviceRecord, b: DeviceRecord): boolean {
  return [a, b].every(({ device, interfaces }) =>
    device.presence_state === "online" && interfaces.length > 0 && interfaces.every(({ mac }) => isVirtualMachine(mac)));
}

function isNamed({ device }: DeviceRecord): boolean {
  return (JSON.parse(device.locked_fields) as string[]).includes("hostname") && device.hostname !== "";
}

/** First the one that people have worked on, then the older one. */
function rank({ device }: DeviceRecord): readonly [string, string, string] {
  return [device.locked_fields === "[]" && device.tags === "[]" ? "1" : "0", device.first_seen, device.id];
}

function compare(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((part, at) => part !== b[at]);
  if (index === -1) return 0;
  return (a[index] ?? "") < (b[index] ?? "") ? -1 : 1;
}
