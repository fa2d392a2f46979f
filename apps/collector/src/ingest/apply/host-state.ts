import type { EventType, HostState } from "@lanthorn/contract";
import { addressKey } from "../../db/address-key.ts";
import type { DeviceDraft } from "../devices-draft.ts";
import { type Apply, type ApplyContext, type LogEntry, notAfter } from "./apply.ts";
import { seen } from "./presence.ts";

type Changed = "ip" | "addresses" | "hostname" | "vendor";

/**
 * A host that the probe had never seen. One that this collector knows already (from another probe, or from before the probe's
 * own records were lost) is not announced again as new: it is logged as what it is here, changed or online.
 */
export const hostFound: Apply<"host_found"> = {
  hosts: ({ data }) => [data],
  touches: "addresses",
  apply({ data, occurred_at }, context) {
    const at = notAfter(occurred_at, context.receivedAt);
    const known = context.set.find(data);
    if (!known) return create(data, at, context);
    const changed = update(known, data, at, context);
    seen(known, "online", at, context);
    if (changed.length > 0) return { type: "host_changed", deviceId: known.id, data: { ...data, changed } };
    return { type: "host_online", deviceId: known.id, data: { ip: data.ip, mac: data.mac, last_seen_at: at } };
  },
};

/** A host's address, name or vendor changed. For a device that is not here (its `host_found` was lost in a gap), it is found now. */
export const hostChanged: Apply<"host_changed"> = {
  hosts: ({ data }) => [data],
  touches: "addresses",
  apply({ data, occurred_at }, context) {
    const at = notAfter(occurred_at, context.receivedAt);
    const { changed, ...state } = data;
    const known = context.set.find(data);
    if (!known) return create(state, at, context);
    update(known, data, at, context);
    // A name can be learned of a host that is away; an address is only ever seen in use.
    if (changed.includes("ip") || changed.includes("addresses")) seen(known, "online", at, context);
    return { type: "host_changed", deviceId: known.id, data };
  },
};

function create(state: HostState, at: string, { set }: ApplyContext): LogEntry {
  const device = set.create(state, { hostname: state.hostname, vendor: state.vendor, last_seen: at });
  set.setVendor(device, state.mac, state.vendor, at);
  set.setAddresses(device, state.mac, state.addresses, at);
  set.addEvidence(device, state.evidence);
  return { type: "host_found" satisfies EventType, deviceId: device.id, data: state };
}

function update(device: DeviceDraft, state: HostState, at: string, { set }: ApplyContext): Changed[] {
  const changed: Changed[] = [];
  const change = (field: "ip" | "hostname" | "vendor", values: Parameters<typeof set.set>[2]) => {
    const before = device.fields[field];
    // Empty is "not known to this probe", which is no reason to forget what another learned.
    if (device.locked.has(field) || state[field] === "" || !set.set(device, "identity", values)) return;
    changed.push(field);
    set.addChange(device, { at, field, before, after: state[field], source: sourceOf(state, field) });
  };
  if (device.fields.ip !== state.ip) {
    change("ip", { ip: state.ip, ip_key: addressKey(state.ip), ...(state.mac === "" ? {} : { mac: state.mac }) });
  }
  if (device.fields.hostname !== state.hostname) change("hostname", { hostname: state.hostname });
  if (device.fields.vendor !== state.vendor) change("vendor", { vendor: state.vendor });
  set.setVendor(device, state.mac, state.vendor, at);
  if (set.setAddresses(device, state.mac, state.addresses, at)) changed.push("addresses");
  set.addEvidence(device, state.evidence);
  return changed;
}

/** What said so: the most trusted evidence for the field's new value. */
function sourceOf(state: HostState, field: "ip" | "hostname" | "vendor"): string {
  const behind = state.evidence.filter((entry) => entry.field === field && entry.value === state[field]);
  return behind.toSorted((a, b) => b.confidence - a.confidence)[0]?.source ?? "probe";
}
