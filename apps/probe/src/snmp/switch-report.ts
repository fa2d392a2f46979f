import type { PortRole, SwitchReport } from "@lanthorn/contract/uplink";
import type { Heard } from "./read-forwarding.ts";
import type { SwitchTables } from "./read-switch.ts";

/** A phone, its computer and some machines of its own are fewer; behind another switch are more. */
const MAX_MACS_OF_ACCESS = 8;
/** A switch forgets who is silent for five minutes; where he was is where he is, unless he is heard elsewhere. */
const KEPT_MS = 3_600_000;
const MAX_HOSTS = 1024;
const MAX_PORTS = 512;
const PASSES_ON: ReadonlySet<string> = new Set(["bridge", "router", "wlan-ap", "repeater"]);

/** Makes reports of one switch, which change when something moves and not when somebody is silent. */
export interface SwitchMemory {
  /** @param now Monotonic. */
  report(ip: string, tables: SwitchTables, now: number): SwitchReport;
}

/** For one switch. A MAC that is no longer in its table is reported at its port for one hour more; 8192 are kept. */
export function createSwitchMemory(): SwitchMemory {
  let heard = new Map<string, { readonly entry: Heard; readonly at: number }>();
  return {
    report(ip, tables, now) {
      const own = new Set(tables.macs);
      const fresh = tables.forwarding.filter(({ mac }) => !own.has(mac)).map((entry) => [entry.mac, { entry, at: now }] as const);
      heard = new Map([...[...heard].filter(([, { at }]) => now - at < KEPT_MS), ...fresh].slice(-MAX_KEPT));
      return toReport(ip, tables, [...heard.values()].map(({ entry }) => entry));
    },
  };
}

/** As many as a walk brings, twice. */
const MAX_KEPT = 8192;

function toReport(ip: string, { system, macs, interfaces, neighbors, addresses }: SwitchTables, heard: readonly Heard[]): SwitchReport {
  const counts = new Map<string, number>();
  for (const { port } of heard) counts.set(port, (counts.get(port) ?? 0) + 1);
  // A phone bridges for the computer behind it, and is no way to other switches.
  const passesOn = (words: readonly string[]) => !words.includes("telephone") && words.some((word) => PASSES_ON.has(word));
  const links = new Set(neighbors.filter(({ capabilities }) => passesOn(capabilities)).map(({ port }) => port));
  const roleOf = (port: string): PortRole => {
    const count = counts.get(port) ?? 0;
    if (links.has(port) || count > MAX_MACS_OF_ACCESS) return "uplink";
    return count > 0 || neighbors.some((neighbor) => neighbor.port === port) ? "access" : "unused";
  };
  const ports = [...interfaces.values()].slice(0, MAX_PORTS).map(({ name, alias, mac, up, speedMbps }) => ({
    name, alias, mac, up, speed_mbps: speedMbps, role: roleOf(name), mac_count: counts.get(name) ?? 0,
  }));
  const hosts = heard.filter(({ port }) => roleOf(port) === "access").toSorted((a, b) => (a.mac < b.mac ? -1 : 1)).slice(0, MAX_HOSTS);
  return { ip, answers: true, ...system, macs: [...macs], ports, neighbors, hosts, addresses };
}

/** Of a switch that cannot be read, or is not asked any more. @param problem Why it cannot; empty for one that is not asked. */
export function silentReport(ip: string, problem: string): SwitchReport {
  return {
    ip, answers: false, problem, system_name: "", system_description: "", object_id: "", engine_id: "", macs: [], ports: [], neighbors: [],
    hosts: [],
    addresses: [],
  };
}

/** What makes a report another one: how many MACs are behind an uplink, and who was spoken to, changes all the time. */
export function reportText(report: SwitchReport): string {
  const ports = report.ports.map((port) => ({ ...port, mac_count: port.role === "access" ? port.mac_count : 0 }));
  return JSON.stringify({ ...report, addresses: [], ports });
}
