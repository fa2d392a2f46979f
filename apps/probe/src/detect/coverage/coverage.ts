import { MAX_COVERAGE_VLANS, type ProbeCoverage } from "@lanthorn/contract/uplink";
import { CDP_SNAP, ETHER_TYPE, parseIp, parseMac } from "@lanthorn/packets";
import { sameMac } from "../../capture/link.ts";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createConversations } from "./conversations.ts";
import { createFact } from "./fact.ts";

/** What the probe can see of its network, from the frames that it hears. It sends nothing. */
export interface Coverage {
  readonly guard: Guard;
  /** @returns Null before the first tick. */
  report(): ProbeCoverage | null;
}

const MINUTE_MS = 60_000;
/** How long what was seen counts. LLDP speaks every 30 s and CDP every 60 s; a lease is renewed after half its time, often 12 hours. */
const WINDOW_MS = {
  vlans: 60 * MINUTE_MS, otherHosts: 10 * MINUTE_MS, gateway: 10 * MINUTE_MS, lldp: 5 * MINUTE_MS, cdp: 5 * MINUTE_MS, spanningTree: 5 * MINUTE_MS,
  ipv6: 60 * MINUTE_MS, dhcpAnswered: 24 * 60 * MINUTE_MS, dhcpAsked: 24 * 60 * MINUTE_MS,
} as const;
type Sight = Exclude<keyof typeof WINDOW_MS, "vlans">;
const SIGHTS = Object.keys(WINDOW_MS).filter((key): key is Sight => key !== "vlans");

const LOOK_EVERY_MS = 5000;
/** A switch that has just forgotten all addresses floods both directions for some seconds: a mirror port shows them again and again. */
const MIRROR_LOOKS = 3;
const MAX_VLAN = 4094;
const REPLY = 2;
/** Offset of the protocol's number behind LLC and the SNAP organization. */
const SNAP_PROTOCOL_OFFSET = 6;

/** What changes while frames come; times are monotonic milliseconds. */
function createSights() {
  const at = Object.fromEntries(SIGHTS.map((sight) => [sight, Number.NEGATIVE_INFINITY])) as Record<Sight, number>;
  const seen = Object.fromEntries(SIGHTS.map((sight) => [sight, false])) as Record<Sight, boolean>;
  return {
    seen,
    settle(now: number) {
      for (const sight of SIGHTS) {
        if (seen[sight]) at[sight] = now;
        seen[sight] = false;
      }
    },
    isLate: (sight: Sight, now: number) => now - at[sight] < WINDOW_MS[sight],
  };
}

/** Frames set marks, which cost nothing; every five seconds the marks become facts. */
export function createCoverage({ clock, link }: Pick<GuardDeps, "clock" | "link">): Coverage {
  const sights = createSights();
  const { seen } = sights;
  const conversations = createConversations();
  const vlanAt = new Float64Array(MAX_VLAN + 1).fill(Number.NEGATIVE_INFINITY);
  let own: Uint8Array | null = null;
  let gateways: readonly Uint8Array[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  let mirrorLooks = 0;
  let facts: ReturnType<typeof createFacts> | null = null;

  const isOwn = ({ bytes, sourceMacOffset }: GuardFrame["frame"]) => own !== null && sameMac(own, bytes, sourceMacOffset);
  const isGateway = (address: Uint8Array | null) => address !== null && gateways.some((gateway) => isSame(gateway, address));

  function look(now: number): void {
    const wall = clock.now();
    const at = facts ?? createFacts(wall);
    facts = at;
    const { heard, bothWays } = conversations.take();
    if (heard) seen.otherHosts = true;
    sights.settle(now);
    const hearsOthers = sights.isLate("otherHosts", now);
    mirrorLooks = hearsOthers ? Math.min(MIRROR_LOOKS, mirrorLooks + (bothWays ? 1 : 0)) : 0;
    at.otherHosts.set(!hearsOthers ? "none" : mirrorLooks >= MIRROR_LOOKS ? "both_ways" : "one_way", wall);
    at.vlans.set(vlansAt(vlanAt, now), wall);
    at.gateway.set(gateways.length === 0 ? "none" : sights.isLate("gateway", now) ? "answers" : "silent", wall);
    at.dhcp.set(sights.isLate("dhcpAnswered", now) ? "answered" : sights.isLate("dhcpAsked", now) ? "asked" : "none", wall);
    for (const sight of ["lldp", "cdp", "spanningTree", "ipv6"] as const) at[sight].set(sights.isLate(sight, now), wall);
    const { mac, gateways: known = [] } = link() ?? { mac: "" };
    own = parseMac(mac);
    gateways = known.flatMap((text) => parseIp(text) ?? []);
  }

  const guard: Guard = {
    name: "Coverage",
    onAny({ frame }) {
      if (isOwn(frame)) return;
      if (frame.network === "ipv6") seen.ipv6 = true;
      if (frame.vlanTags.length > 0) for (const { vlanId } of frame.vlanTags) if (vlanId <= MAX_VLAN) vlanAt[vlanId] = lookedAt;
      if (frame.audience !== "unicast" || own === null || sameMac(own, frame.bytes, frame.destinationMacOffset)) return;
      conversations.hear(frame.bytes, frame.destinationMacOffset, frame.sourceMacOffset);
    },
    onArp(packet, { frame }) {
      if (!isOwn(frame) && isGateway(packet.senderProtocolAddress)) seen.gateway = true;
    },
    onNdp(message, { frame }) {
      if (isOwn(frame)) return;
      if (message.kind === "neighbor-advertisement" ? isGateway(message.target) : isGateway(frame.sourceIp)) seen.gateway = true;
    },
    onDhcp({ op }) {
      if (op === REPLY) seen.dhcpAnswered = true;
      else seen.dhcpAsked = true;
    },
    onLink({ frame }) {
      if (isOwn(frame)) return;
      if (frame.etherType === ETHER_TYPE.lldp) seen.lldp = true;
      else if (frame.network === "llc") hearLlc(frame, seen);
    },
    tick(now) {
      if (now - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = now;
      look(now);
    },
  };
  return { guard, report: () => facts && readFacts(facts) };
}

function createFacts(now: number) {
  return {
    vlans: createFact<number[]>([], now), otherHosts: createFact<ProbeCoverage["other_hosts"]["value"]>("none", now),
    gateway: createFact<ProbeCoverage["gateway"]["value"]>("none", now), dhcp: createFact<ProbeCoverage["dhcp"]["value"]>("none", now),
    lldp: createFact(false, now), cdp: createFact(false, now), spanningTree: createFact(false, now), ipv6: createFact(false, now),
  };
}

function readFacts({ vlans, otherHosts, gateway, lldp, cdp, spanningTree, ipv6, dhcp }: ReturnType<typeof createFacts>): ProbeCoverage {
  return {
    vlans: vlans.read(), other_hosts: otherHosts.read(), gateway: gateway.read(), lldp: lldp.read(), cdp: cdp.read(),
    spanning_tree: spanningTree.read(), ipv6: ipv6.read(), dhcp: dhcp.read(),
  };
}

/** Spanning tree goes to 01:80:c2:00:00:00, Cisco's own to 01:00:0c:cc:cc:cd; CDP to 01:00:0c:cc:cc:cc, as DTP and others do. @see IEEE 802.1Q-2018 table 8-1 */
function hearLlc({ bytes, destinationMacOffset: at, networkOffset, networkEnd }: GuardFrame["frame"], seen: Record<"cdp" | "spanningTree", boolean>): void {
  if (bytes[at] === 0x01 && bytes[at + 1] === 0x80 && bytes[at + 2] === 0xc2 && bytes[at + 5] === 0) seen.spanningTree = true;
  if (bytes[at] !== 0x01 || bytes[at + 1] !== 0x00 || bytes[at + 2] !== 0x0c || bytes[at + 3] !== 0xcc || bytes[at + 4] !== 0xcc) return;
  if (bytes[at + 5] === 0xcd) seen.spanningTree = true;
  const protocol = networkOffset + SNAP_PROTOCOL_OFFSET;
  if (bytes[at + 5] === 0xcc && protocol + 1 < networkEnd && (((bytes[protocol] ?? 0) << 8) | (bytes[protocol + 1] ?? 0)) === CDP_SNAP.protocol) seen.cdp = true;
}

/** VLANs that were seen of late, the lowest first. */
function vlansAt(seenAt: Float64Array, now: number): number[] {
  const vlans: number[] = [];
  for (let id = 1; id <= MAX_VLAN && vlans.length < MAX_COVERAGE_VLANS; id += 1) if (now - (seenAt[id] ?? 0) < WINDOW_MS.vlans) vlans.push(id);
  return vlans;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
