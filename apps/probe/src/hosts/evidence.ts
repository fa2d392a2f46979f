import { formatIp } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type Binding, createBinding, hasIpv4, type Host, type EvidenceSource } from "./host.ts";
import type { HostEvents } from "./host-events.ts";
import type { HostTable } from "./host-table.ts";
import { noteSeen, startAnew } from "./presence.ts";
import type { HostAnnouncer } from "./host-announcer.ts";

/** Takes evidence of life of known hosts: where a host comes back, and changes its addresses. */
export interface Evidence {
  /** The last of any host, monotonic; what shows that the link carries answers. */
  readonly last: { readonly host: Host | null; readonly at: number };
  /** A host is alive, at this address if there is one. For each frame of a host. */
  note(host: Host, address: Uint8Array | null, source: EvidenceSource): void;
}

/** A DHCP name comes with the address; without any the host's own words are waited for. */
const SETTLE_IPV4_MS = 2000;
/** A host with that many addresses is a router or a proxy, and moves none of them. */
const MAX_DOUBTED = 8;

/** @param deps.events Learns of a new address, and of a host that an earlier run knew and that is seen again. */
export function createEvidence(deps: {
  readonly table: HostTable;
  readonly announcer: Pick<HostAnnouncer, "announceBy" | "announceChange">;
  readonly clock: Clock;
  readonly events: Pick<HostEvents, "onNewAddress" | "onReturned">;
}): Evidence {
  const { table, announcer, clock, events } = deps;
  const last: { host: Host | null; at: number } = { host: null, at: Number.NEGATIVE_INFINITY };

  const bind = (host: Host, bytes: Uint8Array, source: EvidenceSource) => {
    const now = clock.monotonic();
    const isFirstIpv4 = bytes.length === 4 && !hasIpv4(host);
    const binding = createBinding(formatIp(bytes), source, now, clock.now());
    if (!binding || !table.addBinding(host, binding)) return;
    noteSeen(binding.watch, now);
    doubtOthers(table, host, binding);
    if (host.published === null && isFirstIpv4) announcer.announceBy(host, now + (host.names.dhcp || host.names.mdns ? 0 : SETTLE_IPV4_MS));
    announcer.announceChange(host);
    events.onNewAddress(host);
  };
  return {
    last,
    note(host, address, source) {
      const now = clock.monotonic();
      if (host.published !== null && host.watch.seenAt === Number.NEGATIVE_INFINITY) events.onReturned();
      noteSeen(host.watch, now);
      last.host = host;
      last.at = now;
      host.lastSeenAt = clock.now();
      host.unsaved = true;
      host.unreported = true;
      if (host.presence === "offline") {
        table.setPresence(host, "online");
        host.confirmedOffline = false;
        for (const { watch } of host.bindings) startAnew(watch, now);
        announcer.announceBy(host, now);
      }
      if (!address) return;
      const binding = findBinding(host, address);
      if (!binding) return bind(host, address, source);
      noteSeen(binding.watch, now);
      binding.lastSeenAt = host.lastSeenAt;
      binding.doubted = false;
      if (source !== "traffic") binding.source = source;
    },
  };
}

/** @returns The address among the host's, or null. */
export function findBinding(host: Host, address: Uint8Array): Binding | null {
  for (const binding of host.bindings) {
    const { bytes } = binding;
    if (bytes.length !== address.length) continue;
    let at = bytes.length - 1;
    while (at >= 0 && bytes[at] === address[at]) at -= 1;
    if (at < 0) return binding;
  }
  return null;
}

/** A host that takes an address may have left another one of its family; and who had this one may have lost it. */
function doubtOthers(table: HostTable, host: Host, binding: Binding): void {
  if (host.bindings.length <= MAX_DOUBTED && binding.bytes.length === 4) {
    for (const other of host.bindings) if (other !== binding && other.bytes.length === 4) other.doubted = true;
  }
  for (const other of table.bindingsAt(binding.address)) if (other !== binding) other.doubted = true;
}
