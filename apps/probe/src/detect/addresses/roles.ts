import type { Binding } from "./binding.ts";
import { DHCP_OP, type DhcpMessage, dhcpNameServers, dhcpRouters, dhcpServerIdentifier, decodeDns, type NdpMessage, parseIp } from "@lanthorn/packets";
import type { Severity } from "@lanthorn/contract/uplink";
import type { GuardDeps, GuardFrame } from "../guard.ts";
import { addressKey } from "./binding-table.ts";
import { sourceOf } from "./claim.ts";

/** What an address is for the link. */
export type Role = "gateway" | "server" | "host";

/** Who is a gateway, a DNS or DHCP server, or a sleep proxy, as the interface, DHCP, router advertisements and Multicast DNS say. */
export interface Roles {
  roleOf(binding: Pick<Binding, "key">): Role;
  /** Whether the interface or the settings name it as a gateway: no frame can make an address one. */
  isOwnGateway(binding: Pick<Binding, "key">): boolean;
  isSleepProxy(mac: number): boolean;
  onDhcp(message: DhcpMessage): void;
  onNdp(message: NdpMessage, at: GuardFrame): void;
  onUdp(at: GuardFrame): void;
  /** Takes the interface's gateways and those of the settings. */
  refresh(): void;
  /** Keys of gateways and servers. */
  addresses(): Iterable<string>;
  /** Keys of gateways. */
  gateways(): Iterable<string>;
}

/** How bad it is when such an address is impersonated. */
export const SEVERITY_OF: Readonly<Record<Role, Severity>> = { gateway: "critical", server: "high", host: "medium" };

/** Forged messages make no more of them. */
const MAX_OF_ONE_ROLE = 64;
const MDNS_PORT = 5353;
/** RFC 6762 section 17. */
const MAX_MDNS_BYTES = 9000;
const SLEEP_PROXY = "_sleep-proxy._udp";

/** The roles that were learned come back after a restart. */
export function createRoles(deps: Pick<GuardDeps, "link" | "settings" | "learned">): Roles {
  const gateways = new Set<string>();
  const servers = new Set<string>();
  const own = new Set<string>();
  const proxies = new Set<number>();
  const SCOPE = "address-roles";
  for (const [ip, role] of deps.learned.load(SCOPE)) {
    const bytes = parseIp(ip);
    if (bytes) add(role === "gateway" ? gateways : servers, bytes);
  }
  function add(set: Set<string>, address: Uint8Array): void {
    if (set.size < MAX_OF_ONE_ROLE) set.add(addressKey(address));
  }
  return {
    roleOf({ key }) {
      if (gateways.has(key)) return "gateway";
      return servers.has(key) ? "server" : "host";
    },
    isOwnGateway: ({ key }) => own.has(key),
    isSleepProxy: (mac) => proxies.has(mac),
    gateways: () => gateways,
    addresses: () => [...gateways, ...servers],
    onDhcp({ op, options }) {
      if (op !== DHCP_OP.bootReply) return;
      for (const router of dhcpRouters(options) ?? []) add(gateways, router);
      for (const server of dhcpNameServers(options) ?? []) add(servers, server);
      const server = dhcpServerIdentifier(options);
      if (server) add(servers, server);
    },
    onNdp(message, { frame }) {
      if (message.kind === "router-advertisement" && message.routerLifetimeSeconds > 0 && frame.sourceIp) add(gateways, frame.sourceIp);
    },
    onUdp(at) {
      if (at.frame.sourcePort !== MDNS_PORT || proxies.size >= MAX_OF_ONE_ROLE) return;
      const { payload } = at.frame;
      if (payload.length > MAX_MDNS_BYTES) return;
      if (!Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes("_sleep-proxy")) return;
      const message = decodeDns(payload);
      if (message.ok && message.value.isResponse && message.value.answers.some(({ name }) => name.toLowerCase().startsWith(SLEEP_PROXY))) {
        proxies.add(sourceOf(at));
      }
    },
    refresh() {
      own.clear();
      for (const ip of [...(deps.link()?.gateways ?? []), ...deps.settings().routers]) {
        const bytes = parseIp(ip);
        if (bytes) own.add(addressKey(bytes));
        if (bytes && !gateways.has(addressKey(bytes))) {
          add(gateways, bytes);
          deps.learned.put(SCOPE, ip, "gateway");
        }
      }
    },
  };
}
