import type { SwitchReport } from "@lanthorn/contract/uplink";
import { decodeObjectIdentifier, formatIp } from "@lanthorn/packets";
import { cleanText, LIMITS } from "../listen/advert.ts";
import { macOf, numberOf, type ReadColumn, textOf } from "./columns.ts";
import { type Heard, readForwarding } from "./read-forwarding.ts";
import { ownId, readCdpNeighbors, readLldpNeighbors } from "./read-neighbors.ts";
import type { Binding } from "./session/pdu.ts";
import type { SnmpSession } from "./session/session.ts";

/** A port as its agent reports it. */
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
  readonly forwarding: readonly Heard[];
  readonly addresses: SwitchReport["addresses"];
}

const SYSTEM = { description: "1.3.6.1.2.1.1.1.0", object: "1.3.6.1.2.1.1.2.0", name: "1.3.6.1.2.1.1.5.0" } as const;
/** RFC 2863. */
const IF = {
  description: "1.3.6.1.2.1.2.2.1.2", mac: "1.3.6.1.2.1.2.2.1.6", status: "1.3.6.1.2.1.2.2.1.8", name: "1.3.6.1.2.1.31.1.1.1.1",
  speed: "1.3.6.1.2.1.31.1.1.1.15", alias: "1.3.6.1.2.1.31.1.1.1.18",
} as const;
/** RFC 4188, dot1dBaseBridgeAddress. */
const BRIDGE_ADDRESS = "1.3.6.1.2.1.17.1.1.0";
/** RFC 4293. */
const IP = { media: "1.3.6.1.2.1.4.22.1.2", physical: "1.3.6.1.2.1.4.35.1.4" } as const;
const UP = 1;
const MAX_INTERFACES = 1024;

/** Asks for the tables, one after the other. @returns Null where it does not answer at all. */
export async function readSwitch(session: SnmpSession): Promise<SwitchTables | null> {
  const system = await session.get([...Object.values(SYSTEM), BRIDGE_ADDRESS, ...Object.values(ownId)]);
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
  const all = [macOf(system.get(BRIDGE_ADDRESS)?.value), chassis, ...[...interfaces.values()].map(({ mac }) => mac)];
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
  return new Map([...descriptions].slice(0, MAX_INTERFACES).map(([index, description]) => [Number(index), {
    name: cleanText(textOf(names.get(index))) || cleanText(textOf(description)) || index,
    alias: cleanText(textOf(aliases.get(index))), mac: macOf(macs.get(index)?.value), up: numberOf(states.get(index)) === UP,
    speedMbps: Math.min(numberOf(speeds.get(index)), 10_000_000),
  }]));
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
  return (bytes.length === 4 || bytes.length === 16) && bytes.every((byte) => byte >= 0 && byte < 256)
    ? formatIp(Uint8Array.from(bytes))
    : "";
}

function dottedOf(binding: Binding | undefined): string {
  return binding?.tag === 0x06 ? decodeObjectIdentifier(binding.value).slice(0, 255) : "";
}
