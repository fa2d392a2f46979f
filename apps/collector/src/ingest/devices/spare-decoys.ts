/** Decoys are no devices: what probes find at their addresses is logged, and changes no device, port or software. */
import type { HostState, ProbeEvent } from "@lanthorn/contract";

/** What of an event is about devices. */
export type Spared =
  /** All, or what was left of it. */
  | { readonly event: ProbeEvent; readonly isDecoy: false }
  /** Nothing. */
  | { readonly event: ProbeEvent; readonly isDecoy: true };

/** Events about one host, by its address. */
const OF_ONE_HOST: ReadonlySet<string> = new Set(["host_online", "host_offline", "port_found", "host_software"]);

/** @param decoys Addresses of the site's decoys. */
export function spareDecoys(event: ProbeEvent, decoys: ReadonlySet<string>): Spared {
  if (event.type === "host_found") return sparedOf(event, withoutDecoys(event.data, decoys), (data) => ({ ...event, data }));
  if (event.type === "host_changed") return sparedOf(event, withoutDecoys(event.data, decoys), (data) => ({ ...event, data }));
  if (event.type === "presence_report") return { event: { ...event, data: { hosts: event.data.hosts.filter(({ ip }) => !decoys.has(ip)) } }, isDecoy: false };
  return { event, isDecoy: OF_ONE_HOST.has(event.type) && "ip" in event.data && decoys.has(event.data.ip) };
}

function sparedOf<T>(event: ProbeEvent, data: T | null, withData: (data: T) => ProbeEvent): Spared {
  return data === null ? { event, isDecoy: true } : { event: withData(data), isDecoy: false };
}

/** A host as it is without the decoys that share its interface; null for one that has decoys' addresses alone. */
function withoutDecoys<T extends HostState>(state: T, decoys: ReadonlySet<string>): T | null {
  if (!decoys.has(state.ip) && !state.addresses.some((ip) => decoys.has(ip))) return state;
  const addresses = state.addresses.filter((ip) => !decoys.has(ip));
  const ip = decoys.has(state.ip) ? addresses[0] : state.ip;
  if (ip === undefined) return null;
  return { ...state, ip, addresses, evidence: state.evidence.filter(({ field, value }) => field !== "ip" || !decoys.has(value)) };
}
