import type { Severity } from "@lanthorn/contract/uplink";
import { DHCP_OP, type DhcpMessage, dhcpNameServers, dhcpRouters, dhcpServerIdentifier, formatIp, type NdpMessage, parseIp } from "@lanthorn/packets";
import { createBoundedMap } from "../../../bounded-map.ts";
import type { GuardDeps, GuardFrame } from "../../guard.ts";
import type { Binding } from "../binding.ts";
import { addressKey, bindingText } from "../binding-table.ts";
import { sourceOf } from "../claim.ts";
import { macText } from "../mac-number.ts";
import { createBelievedRoles } from "./believed-roles.ts";
import { createSleepProxies } from "./sleep-proxies.ts";

/** What an address is for the link. */
export type Role = "gateway" | "server" | "host";
type KnownRole = Exclude<Role, "host">;

/** Who is a gateway, a DNS or DHCP server, or a sleep proxy, as the interface, DHCP, router advertisements and Multicast DNS say. */
export interface Roles {
  roleOf(binding: Pick<Binding, "key">): Role;
  /** Whether the interface or the settings name it as a gateway: no frame can make an address one. */
  isOwnGateway(binding: Pick<Binding, "key">): boolean;
  isSleepProxy(mac: number): boolean;
  onDhcp(message: DhcpMessage, at: GuardFrame): void;
  onNdp(message: NdpMessage, at: GuardFrame): void;
  onUdp(at: GuardFrame): void;
  /** Takes the interface's gateways and those of the settings, and what was said a while ago by who was not accused since. */
  refresh(now: number): void;
  /** Keys of gateways and servers. */
  addresses(): Iterable<string>;
  /** Keys of gateways. */
  gateways(): Iterable<string>;
}

/** How bad it is when such an address is impersonated. */
export const SEVERITY_OF: Readonly<Record<Role, Severity>> = { gateway: "critical", server: "high", host: "medium" };

const SCOPE = "address-roles";
/** The system takes a way out from each router that is forged. */
const MAX_INTERFACE_GATEWAYS = 16;
const ROUTER_KINDS = ["router_advertisement", "unexpected_ipv6"] as const;
/** Forged messages make no more of them; who was named longest ago gives way. */
const MAX_OF_ONE_ROLE = 64;

/** Gateways and servers come back after a restart. */
export function createRoles(deps: Pick<GuardDeps, "clock" | "incidents" | "link" | "settings" | "learned">): Roles {
  const { incidents, learned } = deps;
  const known = { gateway: createBoundedMap<string, true>(MAX_OF_ONE_ROLE), server: createBoundedMap<string, true>(MAX_OF_ONE_ROLE) };
  const own = new Set<string>();
  const proxies = createSleepProxies();
  const { hear, take } = createBelievedRoles(deps);
  const rowOf = (role: KnownRole, key: string) => `${role} ${bindingText({ key })}`;
  for (const [row, role] of learned.load(SCOPE)) {
    const bytes = parseIp(row.split(" ").at(-1) ?? "");
    if (bytes) known[role === "gateway" ? "gateway" : "server"].put(addressKey(bytes), true);
  }
  function learn(key: string, role: KnownRole): void {
    const addresses = known[role];
    if (!addresses.has(key)) {
      const [oldest] = addresses.size >= MAX_OF_ONE_ROLE ? addresses.keys() : [];
      if (oldest !== undefined) learned.remove(SCOPE, rowOf(role, oldest));
      learned.put(SCOPE, rowOf(role, key), role);
    }
    addresses.put(key, true);
  }
  const isAccusedRouter = (ip: string) => ip.includes(":") && ROUTER_KINDS.some((kind) => incidents.hasMany(kind) || incidents.isOpen(kind, ip));
  /** Those of the interface, IPv4 first, but for newcomers that are accused. */
  function takeInterfaceGateways(before: ReadonlySet<string>): void {
    const isIpv6 = (ip: string) => Number(ip.includes(":"));
    for (const ip of (deps.link()?.gateways ?? []).toSorted((a, b) => isIpv6(a) - isIpv6(b)).slice(0, MAX_INTERFACE_GATEWAYS)) {
      const bytes = parseIp(ip);
      const key = bytes && addressKey(bytes);
      if (key === null || (!before.has(key) && isAccusedRouter(ip))) continue;
      own.add(key);
      if (!known.gateway.has(key)) learn(key, "gateway");
    }
  }
  return {
    roleOf({ key }) {
      if (own.has(key) || known.gateway.has(key)) return "gateway";
      return known.server.has(key) ? "server" : "host";
    },
    isOwnGateway: ({ key }) => own.has(key),
    isSleepProxy: proxies.has,
    gateways: () => new Set([...own, ...known.gateway.keys()]),
    addresses: () => [...own, ...known.gateway.keys(), ...known.server.keys()],
    onDhcp({ op, options }, at) {
      if (op !== DHCP_OP.bootReply) return;
      const server = dhcpServerIdentifier(options);
      const sign = () => ({ kinds: ["dhcp_server"], senders: [...(server ? [formatIp(server)] : []), macText(sourceOf(at))] } as const);
      hear(dhcpRouters(options) ?? [], "gateway", sign);
      hear([...(dhcpNameServers(options) ?? []), ...(server ? [server] : [])], "server", sign);
    },
    onNdp(message, at) {
      const router = at.frame.sourceIp;
      if (message.kind !== "router-advertisement" || !router) return;
      const sign = () => ({ kinds: ROUTER_KINDS, senders: [formatIp(router), macText(sourceOf(at))] } as const);
      if (message.routerLifetimeSeconds > 0) hear([router], "gateway", sign);
      for (const option of message.options) if (option.kind === "recursive-dns-servers") hear(option.servers, "server", sign);
    },
    onUdp: proxies.onUdp,
    refresh(now) {
      const before = new Set(own);
      own.clear();
      takeInterfaceGateways(before);
      for (const ip of deps.settings().routers) {
        const bytes = parseIp(ip);
        if (bytes) own.add(addressKey(bytes));
      }
      for (const { key, role } of take(now)) learn(key, role);
    },
  };
}
