import { type EncapsulationKind, IP_PROTOCOL } from "@lanthorn/packets";
import { macText } from "../tables/address-text.ts";
import { KEY_AT, type KeyIndex } from "../tables/key-index.ts";
import type { Flow, FlowEnding } from "./flow.ts";
import { type FlowSide, TCP_STATE } from "./flow-side.ts";
import { serviceOf } from "./inspect-flow.ts";
import { type ConnectionState, tcpConnectionState, udpConnectionState } from "./tcp-state.ts";
import { addressText, vlansOfEntry } from "./packet-key.ts";
import { openHoleBytes } from "./tcp-sequence.ts";

/**
 * What is said of a flow when it ends, or goes on for long: the fields of Zeek's conn.log. Of a flow that goes on for long there are several
 * with one id, each of what came since the one before.
 * @see https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html
 */
export interface FlowRecord {
  /** Zeek's uid. */
  readonly id: string;
  /** From 0 on; above 0 the flow was recorded before. */
  readonly part: number;
  /** ISO 8601 with microseconds. */
  readonly started_at: string;
  /** Seconds from the first packet to the last. */
  readonly duration: number;
  /** `tcp`, `udp`, `icmp`, `icmp6`, `gre`, …; `ip-N` for one without a name here. */
  readonly protocol: string;
  readonly originator_ip: string;
  /** Of ICMP the type. */
  readonly originator_port: number;
  readonly responder_ip: string;
  /** Of ICMP the type of the answer, or the code. */
  readonly responder_port: number;
  readonly icmp_id: number | null;
  /** What is spoken, by its content and not by its port; null where that is not known. */
  readonly service: string | null;
  readonly state: ConnectionState;
  readonly history: string;
  /** Payload; TCP's by sequence numbers. */
  readonly originator_bytes: number;
  readonly responder_bytes: number;
  /** TCP's bytes in both directions that were not in the capture. */
  readonly missed_bytes: number;
  /** A datagram in fragments is one packet. */
  readonly originator_packets: number;
  readonly responder_packets: number;
  /** From the IP header on. */
  readonly originator_ip_bytes: number;
  readonly responder_ip_bytes: number;
  /** Whole frames, with what the packets were wrapped in. */
  readonly originator_wire_bytes: number;
  readonly responder_wire_bytes: number;
  /** Frames of fragments beyond one a packet, and their bytes, which `wire_bytes` have in them. */
  readonly originator_fragment_frames: number;
  readonly responder_fragment_frames: number;
  readonly originator_fragment_bytes: number;
  readonly responder_fragment_bytes: number;
  /** Null without a link header. */
  readonly originator_mac: string | null;
  readonly responder_mac: string | null;
  readonly vlan_id: number | null;
  readonly inner_vlan_id: number | null;
  /** VXLAN's or Geneve's network, 802.1ah's service. */
  readonly network_id: number | null;
  /** What the packets were wrapped in, outermost first. */
  readonly encapsulations: readonly EncapsulationKind[];
  /** The ids of the flows around this one, outermost first. */
  readonly tunnel_parents: readonly string[];
  /** Its beginning is not in the capture. */
  readonly is_midstream: boolean;
  /** Only one of the two directions is in the capture. */
  readonly is_one_sided: boolean;
  readonly ended_by: FlowEnding;
}

const NAMES: Readonly<Record<number, string>> = {
  [IP_PROTOCOL.icmpv4]: "icmp", [IP_PROTOCOL.igmp]: "igmp", [IP_PROTOCOL.ipv4]: "ipv4", [IP_PROTOCOL.tcp]: "tcp", [IP_PROTOCOL.udp]: "udp", 33: "dccp",
  [IP_PROTOCOL.ipv6]: "ipv6", [IP_PROTOCOL.gre]: "gre", [IP_PROTOCOL.esp]: "esp", [IP_PROTOCOL.authentication]: "ah", [IP_PROTOCOL.icmpv6]: "icmp6",
  88: "eigrp", 89: "ospf", 103: "pim", [IP_PROTOCOL.vrrp]: "vrrp", 115: "l2tp", 132: "sctp", 136: "udplite",
};
const MICROSECONDS = 1e6;

/** @param index Has the flow's key. */
export function writeFlowRecord(flow: Flow, index: KeyIndex, id: string, endedBy: FlowEnding): FlowRecord {
  const { entry, originator, responder, isLowOriginator } = flow;
  const network = index.word(entry, KEY_AT.network);
  const [vlanId, innerVlanId] = vlansOfEntry(index, entry);
  const isOneSided = originator.packets === 0 || responder.packets === 0;
  return {
    id,
    part: flow.part,
    started_at: formatMicroseconds(flow.startedAt),
    duration: Math.max(0, Math.round(flow.lastAt - flow.startedAt)) / MICROSECONDS,
    protocol: NAMES[flow.protocol] ?? `ip-${flow.protocol}`,
    originator_ip: addressText(index, entry, isLowOriginator),
    originator_port: flow.originatorPort,
    responder_ip: addressText(index, entry, !isLowOriginator),
    responder_port: flow.responderPort,
    icmp_id: flow.icmpId < 0 ? null : flow.icmpId,
    service: serviceOf(flow) || null,
    state: stateOf(flow),
    history: flow.history,
    originator_bytes: originator.payloadBytes,
    responder_bytes: responder.payloadBytes,
    missed_bytes: originator.missedBytes + responder.missedBytes + (isOneSided ? openHoleBytes(originator) + openHoleBytes(responder) : 0),
    originator_packets: originator.packets,
    responder_packets: responder.packets,
    originator_ip_bytes: originator.ipBytes,
    responder_ip_bytes: responder.ipBytes,
    originator_wire_bytes: originator.wireBytes,
    responder_wire_bytes: responder.wireBytes,
    originator_fragment_frames: originator.fragmentFrames,
    responder_fragment_frames: responder.fragmentFrames,
    originator_fragment_bytes: originator.fragmentBytes,
    responder_fragment_bytes: responder.fragmentBytes,
    originator_mac: formatMacHalves(originator),
    responder_mac: formatMacHalves(responder),
    vlan_id: vlanId,
    inner_vlan_id: innerVlanId,
    network_id: network === 0 ? null : network,
    encapsulations: flow.encapsulations,
    tunnel_parents: flow.tunnelParents,
    is_midstream: flow.isMidstream,
    is_one_sided: isOneSided,
    ended_by: endedBy,
  };
}

function stateOf(flow: Flow): ConnectionState {
  if (flow.isTcp) return tcpConnectionState(flow.originator, flow.responder);
  return flow.protocol === IP_PROTOCOL.udp ? udpConnectionState(flow.originator, flow.responder) : "OTH";
}

/** Whether nothing more is expected of a TCP flow. */
export function isClosed({ originator, responder }: Flow): boolean {
  if (originator.state === TCP_STATE.reset || responder.state === TCP_STATE.reset) return true;
  return originator.state === TCP_STATE.closed && responder.state === TCP_STATE.closed;
}

function formatMacHalves({ macHigh: high, macLow: low }: FlowSide): string | null {
  return high < 0 ? null : macText(high, low);
}

/** The last instant that a date can be, in seconds. */
const LAST_SECOND = 8.64e12;

/** Instants as ISO 8601 with microseconds; the text of the last second is kept, as most come in order. */
function createInstantText(): (at: number) => string {
  let [lastSecond, text] = [-1, ""];
  return (at) => {
    const second = at > 0 ? Math.min(Math.floor(at / MICROSECONDS), LAST_SECOND) : 0;
    if (second !== lastSecond) {
      lastSecond = second;
      text = new Date(second * 1000).toISOString().slice(0, -4);
    }
    const rest = at > 0 ? Math.min(Math.floor(at - second * MICROSECONDS), MICROSECONDS - 1) : 0;
    return `${text}${String(MICROSECONDS + rest).slice(1)}Z`;
  };
}
const formatMicroseconds = createInstantText();
