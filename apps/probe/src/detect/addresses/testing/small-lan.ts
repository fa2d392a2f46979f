import {
  ARP_OPERATION, BROADCAST_MAC, decodeArp, decodeFrame, decodeIcmpv6, encodeArp, encodeEthernet, encodeIcmpv6, encodeIpv6, equalBytes, ETHER_TYPE, formatIp,
  IP_PROTOCOL, multicastMac, parseIp, parseMac, solicitedNodeAddress,
} from "@lanthorn/packets";
import { createGuardScene, type GuardScene } from "../../testing/guard-scene.ts";
import { createAddressGuard } from "../address-guard.ts";

/** A host of the test's LAN, which answers for what it has. */
export interface LanHost {
  readonly mac: string;
  addresses: readonly string[];
  /** MACs under which it hears, beside its own. */
  readonly alsoHears?: readonly string[];
  /** Under which MAC it answers; its own unless given. */
  readonly answersBy?: () => string;
  /** It answers for every address. */
  readonly answersAll?: boolean;
}

/** The hosts around a scene: what the guards ask is answered at once. */
export interface SmallLan {
  scene: GuardScene;
  readonly hosts: LanHost[];
  /** Time passes, with questions answered each 50 ms. */
  run(ms: number): Promise<void>;
}

const bytesOf = (mac: string) => parseMac(mac) as Uint8Array;
const ipOf = (ip: string) => parseIp(ip) as Uint8Array;
const ALL_NODES = ipOf("ff02::1");

/** @param options.arrives Whether frames of the guards reach anybody. @param options.onSent Gets them. */
export function createSmallLan(scene: GuardScene, hosts: LanHost[], options: {
  readonly arrives?: boolean; readonly onSent?: (frames: readonly Uint8Array[]) => void;
} = {}): SmallLan {
  const lan: SmallLan = {
    scene, hosts,
    async run(ms) {
      for (let passed = 0; passed < ms; passed += 50) {
        await lan.scene.clock.advance(50);
        const asked = lan.scene.sent.splice(0);
        if (asked.length > 0) options.onSent?.(asked);
        if (options.arrives !== false) for (const frame of asked) lan.scene.hear(...answersTo(frame, hosts));
      }
    },
  };
  return lan;
}

/** A LAN whose hosts were there for long enough to be trusted, with the address guard alone. @param options.settings Of `[guards]`. */
export async function createSettledLan(hosts: LanHost[], options: { readonly arrives?: boolean; readonly settings?: object } = {}): Promise<SmallLan> {
  const lan = createSmallLan(createGuardScene({ guards: [createAddressGuard], settings: options.settings ?? {} }), hosts, options);
  await settle(lan);
  return lan;
}

/** Lets the hosts be seen for long enough to be trusted. */
export async function settle({ scene, hosts, run }: SmallLan): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    for (const { mac, addresses } of hosts) {
      for (const ip of addresses) scene.hear(ip.includes(":") ? solicitation(mac, ip, "fe80::77") : arpRequest(mac, ip, "192.168.1.2"));
    }
    await run(12_000);
  }
}

function answersTo(bytes: Uint8Array, hosts: readonly LanHost[]): Uint8Array[] {
  const decoded = decodeFrame(bytes);
  if (!decoded.ok) return [];
  const { networkBytes, network, transportBytes, audience, destinationIp, destinationMac, sourceMac } = decoded.value;
  const hearing = hosts.filter(({ mac, alsoHears = [] }) => audience !== "unicast" || [mac, ...alsoHears].some((own) => equalBytes(bytesOf(own), destinationMac as Uint8Array)));
  const having = (ip: string) => hearing.filter(({ addresses, answersAll }) => answersAll === true || addresses.includes(ip));
  if (network === "arp") {
    const arp = decodeArp(networkBytes);
    if (!arp.ok) return [];
    const ip = formatIp(arp.value.targetProtocolAddress);
    return having(ip).map(({ mac, answersBy }) => arpReply(answersBy?.() ?? mac, ip, { to: sourceMac as Uint8Array, target: arp.value.senderProtocolAddress }));
  }
  const icmp = decodeIcmpv6(transportBytes);
  if (!icmp.ok || icmp.value.kind !== "neighbor-solicitation") return [];
  const ip = formatIp(icmp.value.target);
  // As Linux does: who is asked by unicast answers without the override flag.
  return having(ip).map(({ mac }) => advertisement(mac, ip, destinationIp?.[0] === 0xff));
}

/** A reply, unasked for unless it is said to whom it goes. */
export function arpReply(mac: string, ip: string, options: {
  readonly to?: Uint8Array; readonly target?: Uint8Array; readonly source?: string; readonly vlanId?: number;
} = {}): Uint8Array {
  const { to = BROADCAST_MAC, target = ipOf(ip), source = mac, vlanId } = options;
  return encodeEthernet({
    destination: to, source: bytesOf(source), etherType: ETHER_TYPE.arp,
    vlanTags: vlanId === undefined ? [] : [{ protocol: 0x8100, priority: 0, isDropEligible: false, vlanId }],
    payload: encodeArp({
      operation: ARP_OPERATION.reply, senderHardwareAddress: bytesOf(mac), senderProtocolAddress: ipOf(ip), targetHardwareAddress: to, targetProtocolAddress: target,
    }),
  });
}

/** A request to all: `who has target, tell ip`. With `0.0.0.0` a probe, with the same address twice an announcement. */
export function arpRequest(mac: string, ip: string, target: string): Uint8Array {
  return encodeEthernet({
    destination: BROADCAST_MAC, source: bytesOf(mac), etherType: ETHER_TYPE.arp,
    payload: encodeArp({
      operation: ARP_OPERATION.request, senderHardwareAddress: bytesOf(mac), senderProtocolAddress: ipOf(ip), targetHardwareAddress: new Uint8Array(6),
      targetProtocolAddress: ipOf(target),
    }),
  });
}

/** A Neighbor Advertisement to all nodes, with the override flag unless it is said. */
export function advertisement(mac: string, ip: string, isOverride = true): Uint8Array {
  const payload = encodeIcmpv6({
    kind: "neighbor-advertisement", isRouter: false, isSolicited: false, isOverride, target: ipOf(ip),
    options: [{ kind: "target-link-layer-address", address: bytesOf(mac) }],
  }, { source: ipOf(ip), destination: ALL_NODES });
  return ipv6Frame(mac, ip, ALL_NODES, payload);
}

/** A Neighbor Solicitation for an address; from `::` it is duplicate address detection. */
export function solicitation(mac: string, ip: string, target: string): Uint8Array {
  const destination = solicitedNodeAddress(ipOf(target));
  const options = ip === "::" ? [] : [{ kind: "source-link-layer-address" as const, address: bytesOf(mac) }];
  const payload = encodeIcmpv6({ kind: "neighbor-solicitation", target: ipOf(target), options }, { source: ipOf(ip), destination });
  return ipv6Frame(mac, ip, destination, payload);
}

function ipv6Frame(mac: string, ip: string, destination: Uint8Array, payload: Uint8Array): Uint8Array {
  return encodeEthernet({
    destination: multicastMac(destination), source: bytesOf(mac), etherType: ETHER_TYPE.ipv6,
    payload: encodeIpv6({ source: ipOf(ip), destination, protocol: IP_PROTOCOL.icmpv6, hopLimit: 255, payload }),
  });
}
