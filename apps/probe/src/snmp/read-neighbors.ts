// What a switch reports of those that announce themselves to it. @see IEEE 802.1AB-2016 clause 11 (LLDP-MIB), CISCO-CDP-MIB
import type { SwitchNeighbor } from "@lanthorn/contract/uplink";
import { formatIp, type LldpItem } from "@lanthorn/packets";
import { cdpFacts } from "../listen/cdp-facts.ts";
import type { NeighborFacts } from "../listen/advert.ts";
import { lldpFacts } from "../listen/lldp-facts.ts";
import { numberOf, type ReadColumn, textOf } from "./columns.ts";

const LLDP = "1.0.8802.1.1.2.1";
/** Of the switch itself. */
export const ownId = { chassisKind: `${LLDP}.3.1.0`, chassis: `${LLDP}.3.2.0` } as const;
const LOCAL_PORT = { id: `${LLDP}.3.7.1.3`, description: `${LLDP}.3.7.1.4` } as const;
const REMOTE = {
  chassisKind: `${LLDP}.4.1.1.4`, chassis: `${LLDP}.4.1.1.5`, portKind: `${LLDP}.4.1.1.6`,
  port: `${LLDP}.4.1.1.7`, portDescription: `${LLDP}.4.1.1.8`,
  name: `${LLDP}.4.1.1.9`, description: `${LLDP}.4.1.1.10`, enabled: `${LLDP}.4.1.1.12`,
} as const;
/** The address is part of each row's index. */
const REMOTE_ADDRESS = `${LLDP}.4.2.1.3`;
const CDP = "1.3.6.1.4.1.9.9.23.1.2.1.1";
/** Of CDP's addresses. */
const IP_KIND = 1;
const MAX_NEIGHBORS = 256;

/** @param names Of ports, by ifIndex. */
export async function readLldpNeighbors(table: ReadColumn, names: ReadonlyMap<number, string>): Promise<readonly SwitchNeighbor[]> {
  const chassis = await table(REMOTE.chassis);
  if (chassis.size === 0) return [];
  const [chassisKinds, ports, portKinds] = [await table(REMOTE.chassisKind), await table(REMOTE.port), await table(REMOTE.portKind)];
  const [portTexts, systems] = [await table(REMOTE.portDescription), await table(REMOTE.name)];
  const [descriptions, enabled] = [await table(REMOTE.description), await table(REMOTE.enabled)];
  const addresses = addressesOf([...(await table(REMOTE_ADDRESS)).keys()]);
  const [localIds, localTexts] = [await table(LOCAL_PORT.id), await table(LOCAL_PORT.description)];
  const all = new Set(names.values());
  /** LLDP counts ports by itself: mostly by ifIndex, else its id or its description is an interface's name. */
  const portName = (number: string) => {
    const said = [textOf(localIds.get(number)), textOf(localTexts.get(number))];
    return said.find((name) => all.has(name)) ?? names.get(Number(number)) ?? said.find((name) => name !== "") ?? number;
  };
  return [...chassis].slice(0, MAX_NEIGHBORS).map(([index, { value }]) => {
    const items: LldpItem[] = [
      { kind: "port-description", text: textOf(portTexts.get(index)) }, { kind: "system-name", text: textOf(systems.get(index)) },
      { kind: "system-description", text: textOf(descriptions.get(index)) },
      { kind: "system-capabilities", supported: 0, enabled: bitsOf(enabled.get(index)?.value) },
    ];
    const facts = lldpFacts({
      chassisId: { subtype: numberOf(chassisKinds.get(index)), id: value }, ttlSeconds: 0, items,
      portId: { subtype: numberOf(portKinds.get(index)), id: ports.get(index)?.value ?? new Uint8Array() },
    });
    return toNeighbor("lldp", portName(index.split(".")[1] ?? ""), {
      ...facts, management_addresses: addresses.get(index)?.slice(0, 16) ?? [],
    });
  });
}

/** At most 256, as `readLldpNeighbors`. Empty for a switch without CISCO-CDP-MIB. @param names Of ports, by ifIndex. */
export async function readCdpNeighbors(table: ReadColumn, names: ReadonlyMap<number, string>): Promise<readonly SwitchNeighbor[]> {
  const devices = await table(`${CDP}.6`);
  if (devices.size === 0) return [];
  const [addressKinds, addresses, versions, ports, platforms, capabilities] = [
    await table(`${CDP}.3`), await table(`${CDP}.4`), await table(`${CDP}.5`), await table(`${CDP}.7`),
    await table(`${CDP}.8`), await table(`${CDP}.9`),
  ];
  return [...devices].slice(0, MAX_NEIGHBORS).flatMap(([index, device]) => {
    const bits = (capabilities.get(index)?.value ?? new Uint8Array()).subarray(0, 4).reduce((sum, byte) => ((sum << 8) | byte) >>> 0, 0);
    const facts = cdpFacts({
      version: 2, ttlSeconds: 0, checksum: 0, items: [
        { kind: "device-id", text: textOf(device) }, { kind: "port-id", text: textOf(ports.get(index)) },
        { kind: "platform", text: textOf(platforms.get(index)) },
        { kind: "version", text: textOf(versions.get(index)) }, { kind: "capabilities", bits },
      ],
    });
    const address = numberOf(addressKinds.get(index)) === IP_KIND ? addresses.get(index)?.value : undefined;
    const ips = address?.length === 4 ? [formatIp(address)] : [];
    return facts ? [toNeighbor("cdp", names.get(Number(index.split(".")[0])) ?? index, { ...facts, management_addresses: ips })] : [];
  });
}

function toNeighbor(protocol: "lldp" | "cdp", port: string, facts: NeighborFacts): SwitchNeighbor {
  return { protocol, port: port.slice(0, 255), ...facts };
}

/** Time mark, local port, number, then the address with its kind and length. */
function addressesOf(indexes: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const index of indexes) {
    const parts = index.split(".").map(Number);
    const [family, length, ...address] = parts.slice(3);
    const isIp = (family === 1 && length === 4) || (family === 2 && length === 16);
    if (!isIp || address.length !== length || address.some((byte) => byte > 255)) continue;
    const key = parts.slice(0, 3).join(".");
    found.set(key, [...(found.get(key) ?? []), formatIp(Uint8Array.from(address))]);
  }
  return found;
}

/** SNMP counts bits from the highest of the first byte, LLDP from the lowest. */
function bitsOf(bytes: Uint8Array | undefined): number {
  return (bytes ?? new Uint8Array()).subarray(0, 2).reduce((sum, byte, at) => {
    let bits = sum;
    for (let bit = 0; bit < 8; bit += 1) if ((byte & (0x80 >> bit)) !== 0) bits |= 1 << (at * 8 + bit);
    return bits;
  }, 0);
}
