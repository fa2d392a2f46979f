import type { SwitchReport } from "@lanthorn/contract/uplink";
import { formatIp, formatMac } from "@lanthorn/packets";
import { decodeObjectIdentifier } from "../identify/protocols/asn1.ts";
import { cleanText, LIMITS } from "../listen/advert.ts";
import { numberOf, type ReadColumn, textOf } from "./columns.ts";
import { ownId, readCdpNeighbors, readLldpNeighbors } from "./read-neighbors.ts";
import type { Binding } from "./pdu.ts";
import type { SnmpSession } from "./session.ts";

/** A port as its agent tells of it. */
interface Interface {
  readonly name: string;
  readonly alias: string;
  readonly mac: string;
  readonly up: boolean;
  readonly speedMbps: number;
}

/** What a switch answered; the report but for what follows from it. */
export interface SwitchTables {
  readonly system: Pick<SwitchReport, "system_name" | "system_description" | "object_id" | "engine_id">;
  readonly macs: readonly string[];
  /** By ifIndex. */
  readonly interfaces: ReadonlyMap<number, Interface>;
  readonly neighbors: SwitchReport["neighbors"];
  /** The forwarding table: which port a MAC was heard at. */
  readonly forwarding: readonly { readonly mac: string; readonly port: string; readonly vlan: number | null }[];
  readonly addresses: SwitchReport["addresses"];
}

const SYSTEM = { description: "1.3.6.1.2.1.1.1.0", object: "1.3.6.1.2.1.1.2.0", name: "1.3.6.1.2.1.1.5.0" } as const;
/** RFC 2863. */
const IF = {
  description: "1.3.6.1.2.1.2.2.1.2", mac: "1.3.6.1.2.1.2.2.1.6", status: "1.3.6.1.2.1.2.2.1.8", name: "1.3.6.1.2.1.31.1.1.1.1",
  speed: "1.3.6.1.2.1.31.1.1.1.15", alias: "1.3.6.1.2.1.31.1.1.1.18",
} as const;
/** RFC 4188, RFC 4363. */
const BRIDGE = {
  address: "1.3.6.1.2.1.17.1.1.0", port: "1.3.6.1.2.1.17.1.4.1.2", fdb: "1.3.6.1.2.1.17.4.3.1.2", fdbStatus: "1.3.6.1.2.1.17.4.3.1.3",
  vlanFdb: "1.3.6.1.2.1.17.7.1.2.2.1.2", vlanFdbStatus: "1.3.6.1.2.1.17.7.1.2.2.1.3",
} as const;
/** RFC 4293. */
const IP = { media: "1.3.6.1.2.1.4.22.1.2", physical: "1.3.6.1.2.1.4.35.1.4" } as const;
/** `learned`, of dot1dTpFdbStatus; `self` and what was set by hand is no host that was heard. */
const LEARNED = 3;
const UP = 1;
const MOST_INTERFACES = 1024;

/** Asks for the tables, one after the other. @returns Null where it does not answer at all. */
export async function readSwitch(session: SnmpSession): Promise<SwitchTables | null> {
  const system = await session.get([...Object.values(SYSTEM), BRIDGE.address, ...Object.values(ownId)]);
  if (!system) return null;
  const table = async (root: string) => byIndex(root, await session.walk(root));
  const interfaces = await readInterfaces(table);
  const names = new Map([...interfaces].map(([index, { name }]) => [index, name]));
  const lldp = await readLldpNeighbors(table, names);
  const neighbors = [...lldp, ...(await readCdpNeighbors(table, names))].slice(0, 256);
  const forwarding = await readForwarding(table, names);
  const addresses = await readAddresses(table);
  const text = (name: string, longest?: number) => cleanText(textOf(system.get(name)), longest);
  const chassis = macOf(system.get(ownId.chassis)?.value);
  const all = [macOf(system.get(BRIDGE.address)?.value), chassis, ...[...interfaces.values()].map(({ mac }) => mac)];
  const macs = all.filter((mac) => mac !== "" && mac !== "00:00:00:00:00:00");
  return {
    system: {
      system_name: text(SYSTEM.name), system_description: text(SYSTEM.description, LIMITS.description), engine_id: session.engineId(),
      object_id: dottedOf(system.get(SYSTEM.object)),
    },
    macs: [...new Set(macs)].slice(0, 64), interfaces, neighbors, forwarding, addresses,
  };
}

function byIndex(root: string, rows: readonly Binding[]): ReadonlyMap<string, Binding> {
  return new Map(rows.map((row) => [row.name.slice(root.length + 1), row]));
}

async function readInterfaces(table: ReadColumn): Promise<ReadonlyMap<number, Interface>> {
  const descriptions = await table(IF.description);
  const [macs, states, names] = [await table(IF.mac), await table(IF.status), await table(IF.name)];
  const [speeds, aliases] = [await table(IF.speed), await table(IF.alias)];
  return new Map([...descriptions].slice(0, MOST_INTERFACES).map(([index, description]) => [Number(index), {
    name: cleanText(textOf(names.get(index))) || cleanText(textOf(description)) || index,
    alias: cleanText(textOf(aliases.get(index))), mac: macOf(macs.get(index)?.value), up: numberOf(states.get(index)) === UP,
    speedMbps: Math.min(numberOf(speeds.get(index)), 10_000_000),
  }]));
}

async function readForwarding(table: ReadColumn, names: ReadonlyMap<number, string>): Promise<SwitchTables["forwarding"]> {
  const ports = new Map([...(await table(BRIDGE.port))].map(([port, index]) => [Number(port), names.get(numberOf(index)) ?? ""]));
  const read = async (column: string, statusColumn: string, hasVlan: boolean) => {
    const found = await table(column);
    const states = found.size > 0 ? await table(statusColumn) : new Map<string, Binding>();
    return [...found].flatMap(([index, value]) => {
      const parts = index.split(".").map(Number);
      const mac = macOfIndex(parts.slice(hasVlan ? 1 : 0));
      const port = ports.get(numberOf(value)) ?? "";
      const state = states.get(index);
      const isHeard = mac !== "" && port !== "" && (!state || numberOf(state) === LEARNED);
      const vlan = parts[0] ?? 0;
      return isHeard ? [{ mac, port, vlan: hasVlan && vlan > 0 && vlan < 4095 ? vlan : null }] : [];
    });
  };
  const byVlan = await read(BRIDGE.vlanFdb, BRIDGE.vlanFdbStatus, true);
  // The older table says the same without VLANs; many switches have but one of the two.
  const plain = await read(BRIDGE.fdb, BRIDGE.fdbStatus, false);
  const known = new Set(byVlan.map(({ mac }) => mac));
  return [...byVlan, ...plain.filter(({ mac }) => !known.has(mac))];
}

async function readAddresses(table: ReadColumn): Promise<SwitchReport["addresses"]> {
  const found = new Map<string, string>();
  const take = (ip: string, value: Uint8Array) => {
    const mac = macOf(value);
    if (mac !== "" && mac !== "00:00:00:00:00:00" && ip !== "") found.set(ip, mac);
  };
  for (const [index, { value }] of await table(IP.media)) take(ipOfIndex(index.split(".").slice(1)), value);
  // ifIndex, address type, length, address.
  for (const [index, { value }] of await table(IP.physical)) take(ipOfIndex(index.split(".").slice(3)), value);
  return [...found].slice(0, 1024).map(([ip, mac]) => ({ ip, mac }));
}

function ipOfIndex(parts: readonly string[]): string {
  const bytes = parts.map(Number);
  return (bytes.length === 4 || bytes.length === 16) && bytes.every((byte) => byte >= 0 && byte < 256) ? formatIp(Uint8Array.from(bytes)) : "";
}

function macOfIndex(parts: readonly number[]): string {
  return parts.every((byte) => byte >= 0 && byte < 256) ? macOf(Uint8Array.from(parts)) : "";
}

/** Empty for what is none, and for groups' addresses. */
function macOf(bytes: Uint8Array | undefined): string {
  return bytes?.length === 6 && ((bytes[0] ?? 1) & 1) === 0 ? formatMac(bytes) : "";
}

function dottedOf(binding: Binding | undefined): string {
  return binding?.tag === 0x06 ? decodeObjectIdentifier(binding.value).slice(0, 255) : "";
}
