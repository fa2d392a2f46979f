import type { Severity } from "@lanthorn/contract/uplink";
import { DHCP_OP, type DhcpMessage, dhcpNameServers, dhcpRouters, dhcpServerIdentifier, decodeDns, formatIp, type NdpMessage, parseIp } from "@lanthorn/packets";
import { createBoundedMap } from "../bounded-map.ts";
import type { GuardDeps, GuardFrame } from "../guard.ts";
import type { Binding } from "./binding.ts";
import { addressKey, bindingText } from "./binding-table.ts";
import { sourceOf } from "./claim.ts";
import { macText } from "./mac-number.ts";

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

/** Somebody has said what an address is. */
interface Said {
  readonly key: string;
  readonly role: KnownRole;
  /** By what the sender would be accused: its address, and its MAC. */
  readonly senders: readonly string[];
  readonly kinds: readonly ("dhcp_server" | "router_advertisement" | "unexpected_ipv6")[];
  readonly at: number;
}

/** How bad it is when such an address is impersonated. */
export const SEVERITY_OF: Readonly<Record<Role, Severity>> = { gateway: "critical", server: "high", host: "medium" };

const SCOPE = "address-roles";
/** Forged messages make no more of them; who was named longest ago gives way. */
const MAX_OF_ONE_ROLE = 64;
const MAX_SAID = 256;
/** Within this a false server or router is accused, and what it says is not learned. */
const BELIEVED_AFTER_MS = 5000;
const MDNS_PORT = 5353;
/** RFC 6762 section 17. */
const MAX_MDNS_BYTES = 9000;
const SLEEP_PROXY = "_sleep-proxy._udp";

/** Gateways and servers come back after a restart. */
export function createRoles(deps: Pick<GuardDeps, "clock" | "incidents" | "link" | "settings" | "learned">): Roles {
  const { incidents, learned } = deps;
  const known = { gateway: createBoundedMap<string, true>(MAX_OF_ONE_ROLE), server: createBoundedMap<string, true>(MAX_OF_ONE_ROLE) };
  const own = new Set<string>();
  const proxies = createBoundedMap<number, true>(MAX_OF_ONE_ROLE);
  const said = createBoundedMap<string, Said>(MAX_SAID);
  for (const [ip, role] of learned.load(SCOPE)) {
    const bytes = parseIp(ip);
    if (bytes) known[role === "gateway" ? "gateway" : "server"].put(addressKey(bytes), true);
  }
  function learn(key: string, role: KnownRole): void {
    const addresses = known[role];
    if (!addresses.has(key)) {
      const [oldest] = addresses.size >= MAX_OF_ONE_ROLE ? addresses.keys() : [];
      if (oldest !== undefined) learned.remove(SCOPE, bindingText({ key: oldest }));
      learned.put(SCOPE, bindingText({ key }), role);
    }
    addresses.put(key, true);
  }
  function hear(addresses: readonly Uint8Array[], sign: Omit<Said, "key" | "at">): void {
    for (const address of addresses) {
      const key = addressKey(address);
      const id = `${sign.role} ${key}`;
      if (!said.has(id)) said.put(id, { ...sign, key, at: deps.clock.monotonic() });
    }
  }
  const isAccused = ({ kinds, senders }: Said) =>
    kinds.some((kind) => incidents.hasMany(kind) || senders.some((sender) => incidents.isOpen(kind, sender)));
  return {
    roleOf({ key }) {
      if (known.gateway.has(key)) return "gateway";
      return known.server.has(key) ? "server" : "host";
    },
    isOwnGateway: ({ key }) => own.has(key),
    isSleepProxy: (mac) => proxies.has(mac),
    gateways: () => known.gateway.keys(),
    addresses: () => [...known.gateway.keys(), ...known.server.keys()],
    onDhcp({ op, options }, at) {
      if (op !== DHCP_OP.bootReply) return;
      const server = dhcpServerIdentifier(options);
      const sign = { kinds: ["dhcp_server"], senders: [...(server ? [formatIp(server)] : []), macText(sourceOf(at))] } as const;
      hear(dhcpRouters(options) ?? [], { ...sign, role: "gateway" });
      hear([...(dhcpNameServers(options) ?? []), ...(server ? [server] : [])], { ...sign, role: "server" });
    },
    onNdp(message, at) {
      const router = at.frame.sourceIp;
      if (message.kind !== "router-advertisement" || !router) return;
      const sign = { kinds: ["router_advertisement", "unexpected_ipv6"], senders: [formatIp(router), macText(sourceOf(at))] } as const;
      if (message.routerLifetimeSeconds > 0) hear([router], { ...sign, role: "gateway" });
      for (const option of message.options) if (option.kind === "recursive-dns-servers") hear(option.servers, { ...sign, role: "server" });
    },
    onUdp(at) {
      if (at.frame.sourcePort !== MDNS_PORT) return;
      const { payload } = at.frame;
      if (payload.length > MAX_MDNS_BYTES) return;
      if (!Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes("_sleep-proxy")) return;
      const message = decodeDns(payload);
      if (message.ok && message.value.isResponse && message.value.answers.some(({ name }) => name.toLowerCase().startsWith(SLEEP_PROXY))) {
        proxies.put(sourceOf(at), true);
      }
    },
    refresh(now) {
      own.clear();
      for (const ip of [...(deps.link()?.gateways ?? []), ...deps.settings().routers]) {
        const bytes = parseIp(ip);
        if (!bytes) continue;
        own.add(addressKey(bytes));
        learn(addressKey(bytes), "gateway");
      }
      for (const [id, one] of said) {
        if (now - one.at < BELIEVED_AFTER_MS) break;
        said.delete(id);
        if (!isAccused(one)) learn(one.key, one.role);
      }
    },
  };
}
