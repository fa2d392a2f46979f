/** By which name a device is followed: its MAC address, or its address where it is behind a router. */

/** The devices of a site as flows show them. */
export interface SiteDevices {
  /** Takes note of an end of a flow. @returns The device's name; null for a host outside. */
  note(ip: string, mac: string | null): string | null;
  /** The device that had the address last; null while there is none. */
  nameAt(ip: string): string | null;
  /** A device of which only the MAC address is known. @returns Null for one that forwards packets of others. */
  nameOf(mac: string): string | null;
  /** Where it is; "" for what is not known. */
  placeOf(device: string): { readonly ip: string; readonly mac: string };
}

/** A device has some addresses of IPv4. Who speaks for more of them forwards packets of others. */
const MAX_ADDRESSES_OF_DEVICE = 16;
/** Of addresses and of MAC addresses: who was not heard for longest is forgotten. */
const MAX_KNOWN = 16_384;

interface Sender {
  readonly ips: Set<string>;
  isRouter: boolean;
}

/** @param isInside Whether an address is one of the site's. */
export function createSiteDevices(isInside: (ip: string) => boolean): SiteDevices {
  const senders = new Map<string, Sender>();
  const nameByIp = new Map<string, string>();
  const ipByName = new Map<string, string>();

  function keep<T>(map: Map<string, T>, key: string, value: T): void {
    map.delete(key);
    map.set(key, value);
    if (map.size > MAX_KNOWN) map.delete(map.keys().next().value ?? "");
  }

  /** A router is known by addresses of others, of which IPv6 says nothing: one device has very many. */
  function isRouter(ip: string, mac: string, inside: boolean): boolean {
    const sender = senders.get(mac) ?? { ips: new Set<string>(), isRouter: false };
    keep(senders, mac, sender);
    if (!ip.includes(":") && !sender.isRouter) {
      sender.ips.add(ip);
      sender.isRouter = !inside || sender.ips.size > MAX_ADDRESSES_OF_DEVICE;
      if (sender.isRouter) sender.ips.clear();
    }
    return sender.isRouter;
  }

  return {
    note(ip, mac) {
      const inside = isInside(ip);
      // A host that was only spoken to has not shown its MAC address.
      if (mac === null) return inside ? nameByIp.get(ip) ?? ip : null;
      const isBehindRouter = isRouter(ip, mac, inside);
      if (!inside) return null;
      const name = isBehindRouter ? ip : mac;
      keep(nameByIp, ip, name);
      // People know a device by its address of IPv4, where it has one.
      const before = ipByName.get(name);
      keep(ipByName, name, ip.includes(":") && before?.includes(".") ? before : ip);
      return name;
    },
    nameAt: (ip) => nameByIp.get(ip) ?? null,
    nameOf: (mac) => (senders.get(mac)?.isRouter === true ? null : mac),
    placeOf: (device) => ({ ip: ipByName.get(device) ?? (isMac(device) ? "" : device), mac: isMac(device) ? device : "" }),
  };
}

function isMac(device: string): boolean {
  return /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(device);
}
