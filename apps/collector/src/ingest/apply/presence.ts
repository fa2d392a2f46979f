import type { DeviceDraft } from "../devices-draft.ts";
import { type Apply, type ApplyContext, notAfter } from "./apply.ts";

/** An offline host gave evidence of life again. */
export const hostOnline: Apply<"host_online"> = {
  hosts: ({ data }) => [data],
  apply({ data }, context) {
    const device = context.set.find(data);
    if (device) seen(device, "online", data.last_seen_at, context);
    return { type: "host_online", deviceId: device?.id ?? null, data };
  },
};

/** A host missed its checks. */
export const hostOffline: Apply<"host_offline"> = {
  hosts: ({ data }) => [data],
  apply({ data, occurred_at }, context) {
    const device = context.set.find(data);
    // Another probe of the site may have seen it since.
    if (device && occurred_at >= device.fields.last_seen) seen(device, "offline", data.last_seen_at, context);
    return { type: "host_offline", deviceId: device?.id ?? null, data };
  },
};

/** When hosts were last seen, and how they are. Hosts that are not known here are left out: nothing but an address is said of them. */
export const presenceReport: Apply<"presence_report"> = {
  hosts: ({ data }) => data.hosts,
  apply({ data, occurred_at }, context) {
    for (const host of data.hosts) {
      const device = context.set.find(host);
      if (!device || (host.presence_state === "offline" && occurred_at < device.fields.last_seen)) continue;
      seen(device, host.presence_state, host.last_seen_at, context);
    }
    return { type: "presence_report", deviceId: null, data };
  },
};

/** Sets how a device is. `last_seen` only moves forward. */
export function seen(device: DeviceDraft, state: "online" | "offline", lastSeenAt: string, { set, receivedAt }: ApplyContext): void {
  set.set(device, "state", { presence_state: state, is_online: state === "online" ? 1 : 0 });
  const at = notAfter(lastSeenAt, receivedAt);
  if (at > device.fields.last_seen) set.set(device, "seen", { last_seen: at });
}
