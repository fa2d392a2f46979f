/** What the engine knows of one flow beside its bytes. A plain record: there is one for each flow, half-open ones too. */

import type { FlowKey, WatchedPacket } from "@lanthorn/traffic";
import type { Direction } from "../../applications/application.ts";
import type { FlowMemory } from "../../states/flow-memory.ts";
import type { HeaderEnd } from "../rule-base/header-test.ts";
import type { SessionSide, TcpSession } from "./tcp-session.ts";

/** One direction. */
export interface FlowStateSide extends SessionSide {
  packets: number;
  octets: number;
}

/** One flow, as rules see it; without TCP its session stays as it begins. */
export interface FlowState extends TcpSession {
  readonly key: () => FlowKey;
  /** Who sent the first packet, whatever its ports: `to-server` goes to the other. */
  readonly client: HeaderEnd;
  readonly server: HeaderEnd;
  readonly isClientOriginator: boolean;
  readonly protocol: number;
  readonly isTcp: boolean;
  readonly startedAt: number;
  readonly toServer: FlowStateSide;
  readonly toClient: FlowStateSide;
  /** What was recognized; `""` as long as nothing is, `failed` where nothing will be. */
  application: string;
  /** Made when a rule first sets something. */
  memory: FlowMemory | null;
  /** A `pass` rule matched its stream or a transaction: nothing more of it is looked at. */
  isPassed: boolean;
  lastAt: number;
}

/** @param packet The flow's first. */
export function createFlowState(packet: WatchedPacket, key: () => FlowKey): FlowState {
  const length = packet.isIpv4 ? 4 : 16;
  const at = packet.networkOffset + (packet.isIpv4 ? IPV4_SOURCE_AT : IPV6_SOURCE_AT);
  return {
    key, client: endAt(packet, at, packet.sourcePort), server: endAt(packet, at + length, packet.destinationPort), isClientOriginator: packet.isFromOriginator,
    protocol: packet.protocol, isTcp: packet.isTcp, startedAt: packet.at, lastAt: packet.at, stage: "new", isOpen: false,
    toServer: { packets: 0, octets: 0, initial: -1, next: 0 }, toClient: { packets: 0, octets: 0, initial: -1, next: 0 }, application: "", memory: null, isPassed: false,
  };
}

/** @returns What is known of a direction. */
export function sideOf({ toServer, toClient }: FlowState, direction: Direction): FlowStateSide {
  return direction === "to-server" ? toServer : toClient;
}

const IPV4_SOURCE_AT = 12;
const IPV6_SOURCE_AT = 8;

function endAt({ isIpv4, bytes }: WatchedPacket, at: number, port: number): HeaderEnd {
  if (isIpv4) return { isIpv4, ipv4: uint32(bytes, at), ipv6: 0n, port };
  let ipv6 = 0n;
  for (let word = 0; word < 4; word += 1) ipv6 = (ipv6 << 32n) | BigInt(uint32(bytes, at + word * 4));
  return { isIpv4, ipv4: 0, ipv6, port };
}

/** @returns Four bytes as a number without a sign; 0 for what is not there. */
export function uint32(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}

/** @returns Whether both have spoken: of TCP, by a handshake. */
export function isEstablished({ isTcp, isOpen, toServer, toClient }: FlowState): boolean {
  return isTcp ? isOpen : toServer.packets > 0 && toClient.packets > 0;
}
