import { holdsPort, readPortRanges } from "@lanthorn/contract";
import type { DeviceNow } from "../compare/combine.ts";
import type { NeighborNow } from "../compare/neighbors.ts";
import type { Look, PortNow } from "../compare/ports.ts";
import type { LookRow, PortRow } from "../store/inventory.ts";

/** Rows of many devices, by device. */
export type ByDevice<T> = ReadonlyMap<string, readonly T[]>;

/** Sorts rows by their device. */
export function byDevice<T extends { readonly device_id: string }>(rows: readonly T[]): ByDevice<T> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const list = found.get(row.device_id);
    if (list) list.push(row);
    else found.set(row.device_id, [row]);
  }
  return found;
}

/** What the collector has of devices, read for many at once. */
export interface DeviceRows {
  readonly ports: ByDevice<PortRow>;
  readonly certificates: ByDevice<{ readonly device_id: string; readonly value: string; readonly seen_at: string }>;
  readonly looks: ByDevice<Look & { readonly device_id: string }>;
  readonly neighbors: ReadonlyMap<string, readonly NeighborNow[]>;
}

const SHA_256 = /^[0-9a-f]{64}$/;

/** What is seen of one device. */
export function deviceNow(deviceId: string, { ports, certificates, looks, neighbors }: DeviceRows): DeviceNow {
  return {
    ports: (ports.get(deviceId) ?? []).map(toPort),
    looks: looks.get(deviceId) ?? [],
    certificates: (certificates.get(deviceId) ?? []).map(({ value, seen_at: seenAt }) => ({ fingerprint: value.toLowerCase().replaceAll(":", ""), seenAt }))
      .filter(({ fingerprint }) => SHA_256.test(fingerprint)),
    neighbors: neighbors.get(deviceId) ?? [],
  };
}

/** The line in the banner of an SSH server that has its key, as the probe writes it. */
const HOST_KEY = /^host key: ([a-z0-9@.-]{1,64} SHA256:[\w+/]{16,64})$/m;

function toPort({ protocol, port, state, service, version, banner, last_scanned: seenAt }: PortRow): PortNow {
  return { protocol, port, state, service, version, hostKey: HOST_KEY.exec(banner)?.[1] ?? null, seenAt };
}

/**
 * Looks with what they cover.
 * @param scopes Lists of ports as `PortRanges`. A look whose list is not there any more says nothing.
 */
export function toLooks(
  rows: readonly LookRow[], scopes: readonly { readonly id: string; readonly tcp: string; readonly udp: string }[],
): readonly (Look & { readonly device_id: string })[] {
  const covers = new Map(scopes.map(({ id, tcp, udp }): [string, Look["covers"]] => {
    const [overTcp, overUdp] = [readPortRanges(tcp), readPortRanges(udp)];
    return [id, (protocol, port) => holdsPort(protocol === "udp" ? overUdp : overTcp, port)];
  }));
  return rows.flatMap(({ device_id, scope_id: scopeId, looked_at: lookedAt, profile }) => {
    const ofScope = covers.get(scopeId);
    return ofScope ? [{ device_id, scopeId, lookedAt, covers: ofScope, scope: profile === null ? "scan" : `scan ${profile}` }] : [];
  });
}
