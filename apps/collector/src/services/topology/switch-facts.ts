import type { NeighborDiscovered, PortRole, SwitchReport } from "@lanthorn/contract";
import type { NeighborFact, SwitchFact } from "./store.ts";

/** What names a switch among those that a site's probes ask. */
export function switchKey({ probeId, report }: SwitchFact): string {
  return `${probeId} ${report.ip}`;
}

/** A switch's own words, as if it and those at its ports had announced themselves. */
export function factsOfSwitch(fact: SwitchFact): readonly NeighborFact[] {
  const { report, siteId, probeId, firstSeen, lastSeen, isCurrent } = fact;
  const key = switchKey(fact);
  const seen = { siteId, probeId, firstSeen, lastSeen, isCurrent };
  const byMac = report.macs.map((mac) => ({ chassis_id: mac, chassis_id_type: "mac" as const }));
  const names = byMac.length > 0 ? byMac : [{ chassis_id: report.ip, chassis_id_type: "network-address" as const }];
  return [
    // By each of its MACs: whichever its neighbors or the inventory know it by.
    ...names.map((name): NeighborFact => ({ ...seen, data: { ...selfOf(report), ...name }, origin: { kind: "self", key } })),
    ...report.neighbors.map(({ port, ...said }): NeighborFact => ({
      ...seen, data: { ...said, local_interface: port, ttl_seconds: 0 }, origin: { kind: "switch", key, role: roleOf(report, port) },
    })),
  ];
}

function selfOf(report: SwitchReport): Omit<NeighborDiscovered, "chassis_id" | "chassis_id_type"> {
  return {
    protocol: "lldp", local_interface: "", port_id: "", port_description: "", system_name: report.system_name,
    system_description: report.system_description, capabilities: report.ports.some(({ mac_count: count }) => count > 0) ? ["bridge"] : [],
    management_addresses: [report.ip], vlan_ids: [], ttl_seconds: 0,
  };
}

function roleOf({ ports }: SwitchReport, port: string): PortRole {
  return ports.find(({ name }) => name === port)?.role ?? "uplink";
}
