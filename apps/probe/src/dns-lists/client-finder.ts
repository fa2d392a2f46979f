import { clientOfDevice, type DnsClient, type SiteDevice } from "@lanthorn/dns";
import { parseIp } from "@lanthorn/packets";

/** Finds who a client is by what the collector says of devices. */
export function createClientFinder(devices: readonly SiteDevice[], siteId: string): (client: DnsClient) => DnsClient {
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byAddress = new Map(devices.flatMap((device) => device.ips.flatMap((ip): [string, SiteDevice][] => {
    const bytes = parseIp(ip);
    return bytes ? [[keyOf(bytes), device]] : [];
  })));
  return (client) => {
    // Whoever knows the device by more than its address is right.
    const byKey = byAddress.size === 0 ? undefined : byAddress.get(keyOf(client.address));
    const device = client.deviceId === null ? byKey : byId.get(client.deviceId);
    if (!device) return client.siteId === siteId ? client : { ...client, siteId };
    const known = clientOfDevice(device, client);
    return { ...known, siteId, groupIds: client.groupIds.length > 0 ? client.groupIds : known.groupIds, names: client.names.length > 0 ? client.names : known.names };
  };
}

/** One character a byte. */
function keyOf(address: Uint8Array): string {
  return String.fromCodePoint(...address);
}
