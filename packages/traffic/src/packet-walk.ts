import { decodeFrame, encodeEthernet, ETHER_TYPE, type Frame, LINK_TYPE, type LinkType, MAX_ENCAPSULATIONS, unwrapFrame } from "@lanthorn/packets";
import type { FlowTable, PacketWay } from "./flows/flow-table.ts";
import { PacketFacts, readPacketFacts } from "./flows/packet-facts.ts";
import type { Defragmenter, WholePacket } from "./fragments/defragmenter.ts";
import { createKindCounter } from "./kind-counter.ts";

/** EtherTypes that are known and carry no IP: they are no flows, and nothing is missed. */
const WITHOUT_IP: ReadonlySet<number> = new Set([ETHER_TYPE.lldp, 0x888e, 0x8863, 0x9000, 0x8809, 0x88e5, 0x8902, 0x890d, 0x88f7, 0x8892, 0x8035]);
const PLAIN: PacketWay = { encapsulations: [], parents: [], isInspected: true };
const PLAIN_TUNNEL: PacketWay = { ...PLAIN, isInspected: false };

/** Goes from a frame's outermost packet to the innermost and counts each in its flow. */
export interface PacketWalk {
  /** @param at Packet time in microseconds. */
  walk(outermost: Frame, wireBytes: number, at: number): void;
  /** IP packets that were counted in flows. */
  packets(): number;
  readonly notIp: ReturnType<typeof createKindCounter>;
  readonly notUnderstood: ReturnType<typeof createKindCounter>;
}

/** A walk into one table. */
export function createPacketWalk({ store, packet: countInTable }: FlowTable, defragmenter: Defragmenter): PacketWalk {
  const facts = new PacketFacts();
  const notIp = createKindCounter();
  const notUnderstood = createKindCounter();
  let packets = 0;

  /** What a fragment is a part of; null while others are missing. Where the snap length cuts fragments, the first one stands for them. */
  function wholeOf(frame: Frame): Frame | null {
    const packet = defragmenter.add(frame, facts.wireBytes, facts.network, facts.at);
    if (packet === "cut") return frame.fragmentOffset === 0 ? frame : null;
    if (packet === null) return null;
    facts.fragmentFrames += packet.earlierFrames;
    facts.fragmentBytes += packet.earlierWireBytes;
    facts.wireBytes += packet.earlierWireBytes;
    const whole = decodeWhole(packet, frame);
    if (whole === null) notUnderstood.add("malformed-datagram");
    return whole;
  }

  /** @returns The id of the flow, where it is a tunnel: only then somebody asks. */
  function countPacket(frame: Frame, way: PacketWay): string {
    if (!readPacketFacts(facts, frame)) {
      notUnderstood.add("cut");
      return "";
    }
    packets += 1;
    const flow = countInTable(facts, frame, way);
    return way.isInspected ? "" : store.idOf(flow);
  }

  function noteOther({ network, etherType }: Frame): void {
    if (network === "llc" || network === "arp") notIp.add(network);
    else (WITHOUT_IP.has(etherType) ? notIp : notUnderstood).add(`ethertype-${etherType.toString(16).padStart(4, "0")}`);
  }

  return {
    walk(outermost, wireBytes, at) {
      facts.at = at;
      facts.wireBytes = wireBytes;
      facts.fragmentFrames = 0;
      facts.fragmentBytes = 0;
      facts.network = 0;
      let [frame, way] = [outermost, PLAIN];
      for (let depth = 0; ; depth += 1) {
        if (frame.moreFragments || frame.fragmentOffset > 0) {
          const whole = wholeOf(frame);
          if (whole === null) return;
          frame = whole;
        }
        const inside = unwrapFrame(frame);
        const isIp = frame.ipLength > 0;
        if (inside === null) {
          if (isIp) countPacket(frame, way);
          else noteOther(frame);
          return;
        }
        const isEnd = !inside.ok || depth === MAX_ENCAPSULATIONS;
        const parent = isIp ? countPacket(frame, way === PLAIN ? PLAIN_TUNNEL : { ...way, isInspected: false }) : "";
        if (isEnd) {
          notUnderstood.add(inside.ok ? "too-deep" : inside.reason);
          return;
        }
        if (inside.network !== 0) facts.network = inside.network;
        way = {
          encapsulations: [...way.encapsulations, inside.kind], parents: parent === "" ? way.parents : [...way.parents, parent], isInspected: true,
        };
        ({ frame } = inside);
      }
    },
    packets: () => packets,
    notIp,
    notUnderstood,
  };
}

/** A packet that was put together, as a frame with the addresses and tags of the last of its fragments; null where it makes no sense. */
function decodeWhole({ bytes, isIpv4 }: WholePacket, last: Frame): Frame | null {
  const { destinationMac: destination, sourceMac: source } = last;
  let linkType: LinkType = LINK_TYPE.rawIp;
  let whole = bytes;
  if (destination !== null && source !== null) {
    linkType = LINK_TYPE.ethernet;
    whole = encodeEthernet({
      destination, source, vlanTags: last.vlanTags.slice(0, 4), etherType: isIpv4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6, payload: bytes, minimumLength: 0,
    });
  }
  const decoded = decodeFrame(whole, { linkType });
  return decoded.ok ? decoded.value : null;
}
