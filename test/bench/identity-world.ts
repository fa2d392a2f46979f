import { seededRandom } from "@lanthorn/runtime";

/** One interface of a machine as it is on the network in some hour. */
export interface Presence {
  readonly machine: string;
  readonly mac: string;
  readonly hostname: string;
  /** Fields of identity evidence that the machine shows. */
  readonly keys: Readonly<Record<string, string>>;
  /** Where the address is not the DHCP server's choice. */
  readonly ip?: string;
}

/** A hundred machines of a site, and who of them is on the network when. */
export interface World {
  readonly machines: readonly string[];
  presentAt(day: number, hour: number): readonly Presence[];
}

/** An adapter of a VPN client, which has the same address on every machine. */
export const SHARED_MAC = "00:05:9a:3c:7a:00";
const DOCKS = 5;
const IMAGE_KEYS = { ssh_host_key: "ssh-ed25519 SHA256:the-key-in-the-image", dhcp_duid: "0002ab119a1f00c0ffee0001" };

type Script = (day: number, hour: number) => readonly Omit<Presence, "machine">[];

/**
 * Thirty desktops, twenty laptops of which twelve go from dock to dock, six with another random MAC each day, twenty phones with
 * one random MAC, one that takes a new one in the middle of the month and shows nothing else, eight servers of which three
 * get a new network card, eight virtual machines of which five are copies of one image, four behind VPN adapters with one
 * MAC for all, and three printers on cable and Wi-Fi.
 */
export function createWorld(seed: number): World {
  const random = seededRandom(seed);
  const scripts = new Map<string, Script>();
  const add = (kind: string, count: number, make: (index: number) => Script) => {
    for (let index = 0; index < count; index += 1) scripts.set(`${kind}-${index}`, make(index));
  };
  const mac = (prefix: string, index: number, last = 0) => `${prefix}:${pair(index >> 8)}:${pair(index)}:${pair(last)}`;
  const duid = (index: number) => `000100012abb${pair(index)}dd${pair(index * 7)}11`;
  const office = (index: number, hour: number) => hour >= 7 + (index % 3) && hour < 17 + (index % 4);

  add("desktop", 30, (index) => (_, hour) => (office(index, hour)
    ? [{ mac: mac("3c:22:fb", index), hostname: `pc-${index}`, keys: { dhcp_client_id: `013c22fb00${pair(index)}00` } }] : []));

  // Who has which dock: drawn for each half of each day, so that every dock goes through many hands.
  const docked = Array.from({ length: 62 }, () => shuffle(Array.from({ length: 12 }, (__, index) => index), random).slice(0, DOCKS));
  add("laptop", 20, (index) => (day, hour) => {
    if (!office(index, hour) || (day + index) % 9 === 0) return [];
    const hostname = `laptop-${index}`;
    const keys = { dhcp_duid: duid(index) };
    const dock = (docked[day * 2 + (hour < 12 ? 0 : 1)] ?? []).indexOf(index);
    const wireless = { mac: mac("f0:18:98", index), hostname, keys };
    if (dock === -1) return [wireless];
    const wired = { mac: mac("64:4b:f0", dock, 0xd0), hostname, keys };
    return hour % 4 === 0 ? [wired, wireless] : [wired];
  });
  add("private", 6, (index) => (day, hour) => (office(index, hour)
    ? [{ mac: mac("da:a1:19", day, index), hostname: `private-${index}`, keys: { dhcp_duid: duid(100 + index) } }] : []));
  add("phone", 20, (index) => (day, hour) => ((hour * 7 + index * 5 + day) % 11 < 6
    ? [{ mac: mac("7a:4f:43", index), hostname: index % 3 === 0 ? "android" : `phone-${index}`, keys: {} }] : []));
  add("forgetful", 1, () =>
    (day, hour) => (office(0, hour) ? [{ mac: mac("9e:00:01", day < 15 ? 1 : 2), hostname: "iPhone", keys: {} }] : []));
  add("server", 8, (index) => (day, hour) => {
    const replacedOn = index < 3 ? 10 + index * 4 : 99;
    if (day === replacedOn && hour >= 9 && hour < 12) return [];
    const isNew = day > replacedOn || (day === replacedOn && hour >= 12);
    const keys = {
      ssh_host_key: `ssh-ed25519 SHA256:server-key-number-${index}`,
      ...(index % 2 === 0 ? { lldp_chassis_id: `server-chassis-${index}` } : {}),
    };
    return [{ mac: mac(isNew ? "a0:36:9f" : "00:25:90", index), hostname: `server-${index}`, keys }];
  });
  add("vm", 8, (index) => (day) => {
    const isCopy = index < 5;
    if (isCopy && day < index * 2) return [];
    // Two of the copies get keys of their own after some days; the others never do.
    const isRenewed = isCopy && (index === 1 || index === 2) && day >= 12;
    const own = { ssh_host_key: `ssh-ed25519 SHA256:own-key-of-vm-number-${index}`, dhcp_duid: duid(200 + index) };
    return [{
      mac: mac("52:54:00", 0x3000 + index, 7), hostname: isCopy && !isRenewed ? "template" : `vm-${index}`,
      keys: isCopy && !isRenewed ? IMAGE_KEYS : own,
    }];
  });
  add("vpn", 4, (index) => (_, hour) => (office(index, hour)
    ? [{ mac: SHARED_MAC, hostname: "", keys: {}, ip: `10.0.1.${10 + index}` }] : []));
  add("printer", 3, (index) => (day, hour) => {
    const shown = { hostname: `printer-${index}`, keys: { snmp_engine_id: `80001f8880aa${pair(index)}bb55` } };
    const cable = { mac: mac("30:05:5c", index), ...shown };
    return (day + hour) % 6 === 0 ? [cable, { mac: mac("30:05:5d", index), ...shown }] : [cable];
  });
  return {
    machines: [...scripts.keys()],
    presentAt: (day, hour) => [...scripts].flatMap(([machine, script]) => script(day, hour).map((one) => ({ machine, ...one }))),
  };
}

function pair(value: number): string {
  return (value & 0xff).toString(16).padStart(2, "0");
}

function shuffle<T>(values: readonly T[], random: (below: number) => number): readonly T[] {
  return values.map((value) => ({ value, at: random(1_000_000) })).toSorted((a, b) => a.at - b.at).map(({ value }) => value);
}
