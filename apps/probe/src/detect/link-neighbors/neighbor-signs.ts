import type { GuardDeps } from "../guard.ts";
import { FLOOD_SUBJECT } from "../incidents/incident.ts";
import type { KnownNeighbor } from "./known-neighbors.ts";
import { FLOOD } from "./new-neighbors.ts";

const KIND = "neighbor_spoofing";

/** One advert of a neighbor that is not known. */
export interface NewNeighbor {
  readonly neighbor: KnownNeighbor;
  readonly protocol: string;
  readonly vlanId: number | null;
  readonly packet: Uint8Array;
}

/** What the guard reports, in words. */
export interface NeighborSigns {
  flood(sign: NewNeighbor): void;
  /** It claims to be the victim. */
  spoofed(sign: NewNeighbor, victim: KnownNeighbor): void;
  /** A switch that is new. @param only The one switch that this port had; null where it may be right. */
  another(sign: NewNeighbor, only: KnownNeighbor | null): void;
  isOpen(mac: string): boolean;
}

/** Reports to the register. */
export function createNeighborSigns(incidents: GuardDeps["incidents"]): NeighborSigns {
  const factsOf = ({ neighbor: { chassis, port, name }, protocol }: NewNeighbor) => ({ protocol, chassis, port, ...(name === "" ? {} : { name }) });
  return {
    isOpen: (mac) => incidents.isOpen(KIND, mac),
    flood: ({ protocol, vlanId, packet }) => incidents.report({
      kind: KIND, subject: FLOOD_SUBJECT, severity: "medium", ip: "", mac: "", vlanId, packet,
      detail: `More than ${FLOOD.neighbors} new neighbors spoke ${protocol} within ${FLOOD.withinMs / 1000} s. Somebody forges them, which fills the tables of switches. `
        + "Find the port that they come from, and switch LLDP and CDP off on the ports of hosts.",
    }),
    spoofed: (sign, { mac, name, chassis }) => incidents.report({
      kind: KIND, subject: sign.neighbor.mac, severity: "high", ip: "", mac: sign.neighbor.mac, expectedMacs: [mac], vlanId: sign.vlanId, packet: sign.packet, facts: factsOf(sign),
      detail: `${sign.neighbor.mac} says by ${sign.protocol} that it is ${name === "" ? chassis : name}, the switch that is known here by ${mac}, which is alive. `
        + "Phones and management systems believe it. Find the host and take it off the network.",
    }),
    another: (sign, only) => incidents.report({
      kind: KIND, subject: sign.neighbor.mac, severity: only ? "medium" : "info", ip: "", mac: sign.neighbor.mac, expectedMacs: only ? [only.mac] : [], vlanId: sign.vlanId,
      packet: sign.packet, facts: factsOf(sign),
      detail: `${sign.neighbor.mac} says by ${sign.protocol} that it is a switch or router, ${sign.neighbor.name === "" ? sign.neighbor.chassis : sign.neighbor.name}. ${only
        ? "This port showed one switch and nobody else, so a second one was connected to it, or a host claims to be one. Find it; where it is right, add an exception."
        : "It is new here, and is taken as normal after ten minutes."}`,
    }),
  };
}
