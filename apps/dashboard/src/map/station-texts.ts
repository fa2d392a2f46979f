import type { TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { showForeign } from "../texts/foreign.tsx";
import type { Fold } from "./picture.ts";

/** What the state of a link means. */
export const STATE_TEXTS: Readonly<Record<TopologyEdge["state"], string>> = { up: "up", unknown: "unknown while the probe is silent", gone: "gone" };

const CAPABILITIES: Readonly<Record<string, string>> = { router: "router", "wlan-ap": "access point", bridge: "switch", telephone: "telephone" };
const LONGEST_PORT = 16;

/** What a node of the map is, in a word or two. @param isSwitch Whether it reports its own ports. */
export function kindOf({ kind, device_type: type, capabilities }: TopologyNode, isSwitch: boolean): string {
  if (kind === "probe") return "probe";
  const does = Object.keys(CAPABILITIES).find((name) => capabilities.includes(name));
  return type !== "unknown" ? DEVICE_TYPE_NAMES[type] : does === undefined ? (isSwitch ? "switch" : "neighbor") : CAPABILITIES[does] ?? does;
}

/** The hosts at a port, as `Gi1/0/3 · 14 hosts`. */
export function foldText({ port, ports, hosts }: Fold): string {
  const where = ports > 1 ? `${ports} ports` : showForeign(port, LONGEST_PORT) || "port unknown";
  const [first] = hosts;
  return `${where} · ${hosts.length === 1 && first ? showForeign(first.node.name, LONGEST_PORT) : `${hosts.length.toLocaleString("en")} hosts`}`;
}
