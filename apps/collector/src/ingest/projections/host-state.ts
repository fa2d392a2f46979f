import type { EventType, HostState } from "@lanthorn/contract";
import { addressKey } from "../../db/keys/address-key.ts";
import { keysOf } from "../../identity/keys.ts";
import { readVerdicts, vendorOf } from "../../identity/verdicts.ts";
import { type DeviceDraft, identified } from "../devices/devices-draft.ts";
import type { Projection, ProjectionContext, LogEntry } from "./projection.ts";
import { seen } from "./presence.ts";

type Changed = "ip" | "addresses" | "hostname" | "vendor" | "evidence";

/** A machine as a probe tells of it. */
interface Told {
  readonly state: HostState;
  /** As the probe sent it: what is logged, and whose keys count. */
  readonly data: HostState;
  readonly at: string;
}

/**
 * A host that the probe had never seen. One that this collector knows already (from another probe, or from before the probe's
 * own records were lost) is not announced again as new: it is logged as what it is here, changed or online.
 */
export const hostFound: Projection<"host_found"> = {
  hosts: ({ data }) => machinesOf(data),
  touches: "addresses",
  apply({ data, occurred_at }, context) {
    const report = takeOthers(data, occurred_at, context);
    const known = context.set.find(report.state);
    if (!known) return create(report, context);
    const isUnheardOf = wasNeverTold(known);
    const changed = update(known, report, context);
    seen(known, data.mac, { state: "online", at: occurred_at }, context);
    if (isUnheardOf) return { type: "host_found", deviceId: known.id, data };
    if (changed.length > 0) return { type: "host_changed", deviceId: known.id, data: { ...data, changed } };
    return { type: "host_online", deviceId: known.id, data: { ip: data.ip, mac: data.mac, last_seen_at: occurred_at } };
  },
};

/** Something of a host changed. For a device that is not here (its `host_found` was lost in a gap), it is found now. */
export const hostChanged: Projection<"host_changed"> = {
  hosts: ({ data }) => machinesOf(data),
  touches: "addresses",
  apply({ data, occurred_at }, context) {
    const { changed, ...state } = data;
    const report = takeOthers(state, occurred_at, context);
    const known = context.set.find(report.state);
    if (!known) return create(report, context);
    const isUnheardOf = wasNeverTold(known);
    update(known, report, context);
    // A name can be learned of a host that is away; an address is only ever seen in use.
    const isSeen = changed.includes("ip") || changed.includes("addresses");
    if (isSeen) seen(known, data.mac, { state: "online", at: report.at }, context);
    if (isUnheardOf && isSeen) return { type: "host_found", deviceId: known.id, data: state };
    return { type: "host_changed", deviceId: known.id, data };
  },
};

/** A user created it from a MAC alone, and no event reported it: events report hosts by their addresses. */
function wasNeverTold({ fields }: DeviceDraft): boolean {
  return fields.first_seen === "" && fields.ip === "";
}

/** Who is meant: with a MAC that many machines have, each address is a machine of its own, the one at `ip` first. */
function machinesOf(data: HostState): readonly [HostState, ...HostState[]] {
  const state = identified(data);
  if (state.mac === data.mac) return [data];
  const at = (ip: string): HostState =>
    ({ ...state, ip, addresses: [ip], evidence: state.evidence.filter(({ field, value }) => field !== "ip" || value === ip) });
  return [at(data.ip), ...data.addresses.filter((ip) => ip !== data.ip).map(at)];
}

/** @returns The first of the machines that are meant, after the others have been taken in. */
function takeOthers(data: HostState, at: string, context: ProjectionContext): Told {
  const [state, ...others] = machinesOf(data);
  for (const other of others) {
    const known = context.set.find(other);
    const report = { state: other, data, at };
    if (known) update(known, report, context);
    else create(report, context);
  }
  return { state, data, at };
}

function create({ state, data, at }: Told, { set, announcements, receivedAt }: ProjectionContext): LogEntry {
  const device = set.create(state, { hostname: state.hostname, vendor: state.vendor, last_seen: at });
  set.setVendor(device, state.mac, state.vendor, at);
  set.setAddresses(device, state.mac, state.addresses, at);
  set.addEvidence(device, state.evidence);
  set.addKeys(device, keysOf(data), at);
  // One of too many is written down as every other, and no webhook is called for it.
  return { type: "host_found" satisfies EventType, deviceId: device.id, data, isQuiet: !announcements.found(receivedAt) };
}

function update(device: DeviceDraft, { state, data, at }: Told, { set }: ProjectionContext): Changed[] {
  const changed: Changed[] = [];
  const change = (field: "ip" | "hostname" | "vendor", values: Parameters<typeof set.set>[2]) => {
    const before = device.fields[field];
    // Empty is "not known to this probe", which is no reason to forget what another learned.
    if (device.locked.has(field) || state[field] === "" || !set.set(device, "identity", values)) return;
    changed.push(field);
    set.addChange(device, { at, field, before, after: state[field], source: sourceOf(state, field) });
  };
  if (device.fields.ip !== state.ip && isShown(device, state.mac)) {
    const isMacToo = state.mac !== "" && !device.locked.has("mac");
    change("ip", { ip: state.ip, ip_key: addressKey(state.ip), ...(isMacToo ? { mac: state.mac } : {}) });
  }
  if (device.fields.hostname !== state.hostname) change("hostname", { hostname: state.hostname });
  // Who made the interface need not have made the device.
  if (device.fields.vendor !== state.vendor && vendorOf(readVerdicts(device.fields.verdicts)) === null) {
    change("vendor", { vendor: state.vendor });
  }
  set.setVendor(device, state.mac, state.vendor, at);
  if (set.setAddresses(device, state.mac, state.addresses, at)) changed.push("addresses");
  set.addEvidence(device, state.evidence);
  set.addKeys(device, keysOf(data), at);
  return changed;
}

/**
 * Of several interfaces, the one by which the device is listed stays that while it answers; who knows an address alone does not know which.
 */
function isShown({ interfaces, fields }: DeviceDraft, mac: string): boolean {
  if (mac === "" && fields.mac !== "") return false;
  return interfaces === null || fields.mac === mac || interfaces.get(fields.mac) !== "online";
}

/** What said so: the most trusted evidence for the field's new value. */
function sourceOf(state: HostState, field: "ip" | "hostname" | "vendor"): string {
  const behind = state.evidence.filter((entry) => entry.field === field && entry.value === state[field]);
  return behind.toSorted((a, b) => b.confidence - a.confidence)[0]?.source ?? "probe";
}
