import { isRecord, type IpRecord, numberOf, readIpRecords, recordsOf, textOf, textsOf } from "./ip-command.ts";
import { isInterfaceName, linkError } from "./link-state.ts";

/** An address of an interface. */
export interface InterfaceAddress {
  readonly family: "ipv4" | "ipv6";
  /** IPv4 dotted; IPv6 as RFC 5952 writes it, without a zone. */
  readonly ip: string;
  readonly prefixLength: number;
  readonly scope: "global" | "link" | "host" | "other";
}

/** What the kernel says about one interface. */
export interface InterfaceFacts {
  readonly name: string;
  /** The kernel's number for it; another one after it was removed and made again. */
  readonly index: number;
  /** Lower case with colons; empty where it has none, as a tunnel. */
  readonly mac: string;
  /** Octets of payload, without the Ethernet header. */
  readonly mtu: number;
  /** Set up by the administrator and carrying a signal. */
  readonly up: boolean;
  /** `ether`, `loopback`, `none`, … as iproute2 spells it. */
  readonly linkType: string;
  /** The 802.1Q tag when this is a VLAN interface. */
  readonly vlan: number | null;
  /** In the kernel's order. */
  readonly addresses: readonly InterfaceAddress[];
  /** Next hops of the default routes through this interface, best first, both families. */
  readonly gateways: readonly string[];
}

/** One entry of the kernel's neighbor table. */
export interface Neighbor {
  readonly interface: string;
  readonly ip: string;
  /** Lower case with colons; null while nobody has answered. */
  readonly mac: string | null;
  /** The kernel's words in lower case: `reachable`, `stale`, `failed`, `permanent`, … */
  readonly state: string;
  /** The neighbor says of itself, by NDP, that it is a router. */
  readonly router: boolean;
}

const SCOPES: readonly InterfaceAddress["scope"][] = ["global", "link", "host"];

/**
 * Asks the kernel, through `ip -j` of iproute2: three short processes of about 3 ms each, so ask on a change and not on a clock.
 * @throws PacketIoError `interface-missing` or `facts-unavailable`.
 */
export async function readInterface(name: string): Promise<InterfaceFacts> {
  if (!isInterfaceName(name)) throw linkError(name, "missing");
  const [links, routes, routes6] = await Promise.all([
    readIpRecords(["-d", "address", "show", "dev", name], name),
    readIpRecords(["-4", "route", "show", "default"], name),
    readIpRecords(["-6", "route", "show", "default"], name),
  ]);
  const link = links.find((record) => textOf(record["ifname"]) === name);
  if (!link) throw linkError(name, "missing");
  return toInterfaceFacts(name, link, [routes, routes6]);
}

/**
 * @param link What `ip -j -d address` says of the interface.
 * @param routesByFamily What `ip -j route show default` says, a list for each family.
 */
export function toInterfaceFacts(name: string, link: IpRecord, routesByFamily: readonly (readonly IpRecord[])[]): InterfaceFacts {
  const flags = textsOf(link["flags"]);
  return {
    name,
    index: numberOf(link["ifindex"]),
    mac: textOf(link["address"]),
    mtu: numberOf(link["mtu"]),
    up: flags.includes("UP") && flags.includes("LOWER_UP"),
    linkType: textOf(link["link_type"]),
    vlan: vlanOf(link["linkinfo"]),
    addresses: recordsOf(link["addr_info"]).flatMap(toAddress),
    gateways: routesByFamily.flatMap((routes) => gatewaysThrough(name, routes)),
  };
}

/** The kernel's neighbor table, both families. It stops at 1024 entries without an error; frames of one's own are not in it. */
export async function readNeighborTable(): Promise<readonly Neighbor[]> {
  const records = await readIpRecords(["neigh", "show"], null);
  return records.map((record) => ({
    interface: textOf(record["dev"]),
    ip: textOf(record["dst"]),
    mac: textOf(record["lladdr"]) || null,
    state: (textsOf(record["state"])[0] ?? "none").toLowerCase(),
    router: "router" in record,
  }));
}

function toAddress(record: IpRecord): readonly InterfaceAddress[] {
  const family = textOf(record["family"]);
  if (family !== "inet" && family !== "inet6") return [];
  return [{
    family: family === "inet" ? "ipv4" : "ipv6",
    ip: textOf(record["local"]),
    prefixLength: numberOf(record["prefixlen"]),
    scope: SCOPES.find((scope) => scope === record["scope"]) ?? "other",
  }];
}

function vlanOf(linkInfo: unknown): number | null {
  if (!isRecord(linkInfo) || linkInfo["info_kind"] !== "vlan" || !isRecord(linkInfo["info_data"])) return null;
  return numberOf(linkInfo["info_data"]["id"]);
}

/** A route has its next hop beside it, or several of them in `nexthops`; an IPv4 route by an IPv6 next hop has it in `via`. */
function gatewaysThrough(name: string, routes: readonly IpRecord[]): readonly string[] {
  const found = routes
    .toSorted((a, b) => numberOf(a["metric"]) - numberOf(b["metric"]))
    .flatMap((route) => [route, ...recordsOf(route["nexthops"])])
    .filter((hop) => hop["dev"] === name)
    .map((hop) => textOf(hop["gateway"]) || textOf(isRecord(hop["via"]) ? hop["via"]["host"] : ""));
  return [...new Set(found)].filter((gateway) => gateway !== "");
}
