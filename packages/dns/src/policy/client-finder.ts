import { type AddressPrefix, createPrefix, formatMac, parseIp, parseMac, parsePrefix } from "@lanthorn/packets";
import type { DnsClient } from "./policy.ts";
import { clientOfDevice, type SiteDevice, type VlanNetwork } from "./site-policy.ts";

/** What an operator's scopes name at a site. */
export interface SiteClients {
  readonly siteId: string;
  readonly devices: readonly SiteDevice[];
  readonly vlans?: readonly VlanNetwork[] | undefined;
}

/** Finds who a client is. @param mac As `aa:bb:cc:dd:ee:ff`, where the network says which one has the client's address now; null where it is not known. */
export type FindClient = (client: DnsClient, mac?: string | null) => DnsClient;

/**
 * Finds clients by what the collector says of a site's devices and networks. A device is known by its MAC address first: others are given its addresses later, and in
 * IPv6 it makes itself new ones each day. Whoever has a device's address with a MAC address that is none of its own is another device.
 */
export function createClientFinder({ siteId, devices, vlans = [] }: SiteClients): FindClient {
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byAddress = new Map(devices.flatMap((device) => device.ips.flatMap((ip) => {
    const bytes = parseIp(ip);
    return bytes ? [[keyOf(bytes), device] as const] : [];
  })));
  const byMac = new Map(devices.flatMap((device) => device.macs.flatMap((text) => {
    const mac = parseMac(text);
    return mac ? [[formatMac(mac), device] as const] : [];
  })));
  const vlanOf = createVlanFinder(vlans);
  const find = ({ deviceId, address }: DnsClient, mac: string | null): SiteDevice | undefined => {
    // Whoever knows the device by more than its address is right.
    if (deviceId !== null) return byId.get(deviceId);
    const known = mac === null ? undefined : byMac.get(mac);
    if (known || byAddress.size === 0) return known;
    const device = byAddress.get(keyOf(address));
    return mac !== null && device !== undefined && device.macs.length > 0 ? undefined : device;
  };
  return (client, mac = null) => {
    const vlanId = client.vlanId ?? vlanOf(client.address);
    const device = find(client, mac);
    if (!device) return client.siteId === siteId && client.vlanId === vlanId ? client : { ...client, siteId, vlanId };
    const known = clientOfDevice(device, client);
    return { ...known, siteId, vlanId, groupIds: client.groupIds.length > 0 ? client.groupIds : known.groupIds, names: client.names.length > 0 ? client.names : known.names };
  };
}

/** The smallest of the networks that has the address counts. */
function createVlanFinder(vlans: readonly VlanNetwork[]): (address: Uint8Array) => number | null {
  const networks = vlans.flatMap(({ vlan, network }): { readonly vlan: number; readonly prefix: AddressPrefix }[] => {
    const prefix = parsePrefix(network);
    return prefix ? [{ vlan, prefix }] : [];
  });
  const lengths = [...new Set(networks.map(({ prefix }) => prefix.length))].toSorted((a, b) => b - a);
  const byNetwork = new Map(networks.map(({ vlan, prefix: { bytes, length } }) => [`${length} ${keyOf(bytes)}`, vlan]));
  return (address) => {
    for (const length of lengths) {
      if (length > address.length * 8) continue;
      const vlan = byNetwork.get(`${length} ${keyOf(createPrefix(address, length).bytes)}`);
      if (vlan !== undefined) return vlan;
    }
    return null;
  };
}

/** One character a byte. */
function keyOf(address: Uint8Array): string {
  return String.fromCodePoint(...address);
}
