import type { DeviceDraft } from "../devices/devices-draft.ts";
import type { Projection, ProjectionContext } from "./projection.ts";

/** An offline host gave evidence of life again. */
export const hostOnline: Projection<"host_online"> = {
  hosts: ({ data }) => [data],
  apply({ data }, context) {
    const device = context.set.find(data);
    if (device) seen(device, data.mac, { state: "online", at: data.last_seen_at }, context);
    return { type: "host_online", deviceId: device?.id ?? null, data };
  },
};

/** A host missed its checks. */
export const hostOffline: Projection<"host_offline"> = {
  hosts: ({ data }) => [data],
  apply({ data, occurred_at }, context) {
    const device = context.set.find(data);
    const isThere = device !== undefined && isSeenByItsMac(device, data);
    if (!device || (!isThere && !mayBeOffline(device, occurred_at))) return { type: "host_offline", deviceId: device?.id ?? null, data };
    if (!isThere) seen(device, data.mac, { state: "offline", at: data.last_seen_at }, context);
    const isGone = device.fields.presence_state === "offline";
    if (isGone && context.announcements.isKnown(device)) return { type: "host_offline", deviceId: device.id, data };
    // Its arrival was not published; or only one of its interfaces or paths is gone, and the device is not.
    const { ip, mac, last_seen_at } = data;
    return { type: "presence_report", deviceId: device.id, data: { hosts: [{ ip, mac, last_seen_at, presence_state: "offline" }] } };
  },
};

/** When hosts were last seen, and how they are. Hosts that are not known here are left out: nothing but an address is said of them. */
export const presenceReport: Projection<"presence_report"> = {
  hosts: ({ data }) => data.hosts,
  apply({ data, occurred_at }, context) {
    for (const host of data.hosts) {
      const device = context.set.find(host);
      if (!device || (host.presence_state === "offline" && (isSeenByItsMac(device, host) || !mayBeOffline(device, occurred_at)))) continue;
      seen(device, host.mac, { state: host.presence_state, at: host.last_seen_at }, context);
    }
    return { type: "presence_report", deviceId: null, data };
  },
};

/** Another probe of the site may have seen it since; of a device with several interfaces, that may be another one of them. */
function mayBeOffline(device: DeviceDraft, occurredAt: string): boolean {
  return device.interfaces !== null || occurredAt >= device.fields.last_seen;
}

/** Presence reports come each minute; a source that knows a host by its address only may report it a moment after it saw it. */
const SEEN_SINCE_MS = 60_000;

/**
 * Whether somebody has seen a device since one that knows only its address, behind a router, did:
 * then the way there is away, and not the device.
 */
function isSeenByItsMac(
  device: DeviceDraft, { mac, last_seen_at: lastSeenAt }: { readonly mac: string; readonly last_seen_at: string },
): boolean {
  return mac === "" && device.fields.mac !== "" && Date.parse(device.fields.last_seen) - Date.parse(lastSeenAt) > SEEN_SINCE_MS;
}

/**
 * Sets how a device is by how one of its interfaces is. `last_seen` only moves forward.
 * @param mac The interface's; empty for a host that is known by its address.
 */
export function seen(
  device: DeviceDraft, mac: string, sighting: { readonly state: "online" | "offline"; readonly at: string },
  { set }: ProjectionContext,
): void {
  const state = set.setInterfacePresence(device, mac, sighting.state);
  set.set(device, "state", { presence_state: state, ...(state === "unknown" ? {} : { is_online: state === "online" ? 1 : 0 }) });
  const { at } = sighting;
  if (at > device.fields.last_seen) set.set(device, "seen", { last_seen: at });
  if (device.fields.first_seen === "") set.set(device, "met", { first_seen: at });
  showAnswering(device, at, set);
}

/** A device that has moved from one of its interfaces to another is listed by the address at which it now answers. */
function showAnswering(device: DeviceDraft, at: string, set: ProjectionContext["set"]): void {
  const { interfaces, fields, locked } = device;
  if (interfaces === null || locked.has("ip") || locked.has("mac") || interfaces.get(fields.mac) === "online") return;
  const online = [...interfaces].filter(([, state]) => state === "online").map(([mac]) => set.lowestAddress(device, mac));
  const address = online.find((candidate) => candidate !== undefined);
  if (!address) return;
  const before = fields.ip;
  const { ip, ip_key, mac } = address;
  const isNews = set.set(device, "identity", { ip, ip_key, mac }) && before !== ip;
  if (isNews) set.addChange(device, { at, field: "ip", before, after: ip, source: "presence" });
}
