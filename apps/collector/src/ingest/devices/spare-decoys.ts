/** Decoys are no devices: what probes find at their addresses is logged, and changes no device, port or software. */
import type { HostState, ProbeEvent } from "@lanthorn/contract";

/** What of an event is about devices. */
export type Spared =
  /** All, or what was left of it. */
  | { readonly event: ProbeEvent; readonly isDecoy: false }
  /** Nothing. */
  | { readonly event: ProbeEvent; readonly isDecoy: true };

/** @param decoys Addresses of the site's decoys. */
export function spareDecoys(event: ProbeEvent, decoys: ReadonlySet<string>): Spared {
  switch (event.type) {
    case "host_found": {
      const data = withoutDecoys(event.data, decoys);
      return data === null ? { event, isDecoy: true } : { event: { ...event, data }, isDecoy: false };
    }
    case "host_changed": {
      const data = withoutDecoys(event.data, decoys);
      return data === null ? { event, isDecoy: true } : { event: { ...event, data }, isDecoy: false };
    }
    case "host_online":
    case "host_offline":
    case "port_found":
    case "host_software":
      return { event, isDecoy: decoys.has(event.data.ip) };
    case "presence_report":
      return { event: { ...event, data: { hosts: event.data.hosts.filter(({ ip }) => !decoys.has(ip)) } }, isDecoy: false };
    default:
      return { event, isDecoy: false };
  }
}

/** A host as it is without the decoys that share its interface; null for one that has decoys' addresses alone. */
function withoutDecoys<T extends HostState>(state: T, decoys: ReadonlySet<string>): T | null {
  if (!decoys.has(state.ip) && !state.addresses.some((ip) => decoys.has(ip))) return state;
  const addresses = state.addresses.filter((ip) => !decoys.has(ip));
  const ip = decoys.has(state.ip) ? addresses[0] : state.ip;
  if (ip === undefined) return null;
  return { ...state, ip, addresses, evidence: state.evidence.filter(({ field, value }) => field !== "ip" || !decoys.has(value)) };
}
