import { ARP_OPERATION, type ArpPacket, isUnspecifiedIp, ndpLinkLayerAddress, type NdpMessage } from "@lanthorn/packets";
import type { GuardFrame } from "../guard.ts";
import { macNumber } from "./mac-number.ts";

/** Somebody says which MAC has an address. */
export interface Claim {
  /** Four or sixteen bytes, a view of the frame. */
  readonly address: Uint8Array;
  readonly vlanId: number;
  /** The MAC that is said to have it. */
  readonly mac: number;
  /** The MAC that the frame comes from. */
  readonly source: number;
  /** As the answer to a probe looks, which had no sender's address. */
  readonly isAnswer: boolean;
  /** A reply or advertisement that nobody was heard asking for. */
  readonly isUnsolicited: boolean;
  /** Of an ARP reply, the MAC that it is said to answer; else null. */
  readonly repliesTo: number | null;
  readonly packet: Uint8Array;
}

/** The first tag's VLAN; 0 without one. */
export function vlanOf({ frame }: GuardFrame): number {
  return frame.vlanTags[0]?.vlanId ?? 0;
}

/** The MAC that a frame comes from. */
export function sourceOf({ frame }: GuardFrame): number {
  return macNumber(frame.bytes, frame.sourceMacOffset);
}

/** Whether one host can have it: neither unspecified, nor multicast or broadcast, nor loopback. @param address Four or sixteen bytes. */
export function isHostAddress(address: Uint8Array): boolean {
  const first = address[0] as number;
  if (address.length === 4) return first !== 0 && first < 224 && first !== 127;
  if (first === 0xff) return false;
  for (let at = 0; at < 15; at += 1) if (address[at] !== 0) return true;
  return (address[15] as number) > 1;
}

/** @param wasAsked Whether somebody was heard asking for the address. @returns Null for a probe, and what is no host's address. */
export function readArpClaim(packet: ArpPacket, at: GuardFrame, wasAsked: (address: Uint8Array, vlanId: number) => boolean): Claim | null {
  const address = packet.senderProtocolAddress;
  if (!isHostAddress(address)) return null;
  const vlanId = vlanOf(at);
  const isReply = packet.operation === ARP_OPERATION.reply;
  const isAnswer = isReply && isUnspecifiedIp(packet.targetProtocolAddress);
  return {
    address, vlanId, mac: macNumber(packet.senderHardwareAddress), source: sourceOf(at), isAnswer,
    isUnsolicited: isReply && !isAnswer && !wasAsked(address, vlanId), packet: at.captured.bytes,
    repliesTo: isReply ? macNumber(packet.targetHardwareAddress) : null,
  };
}

/**
 * Advertisements claim their target, other messages their sender's address.
 * @returns Null for duplicate address detection, and for what changes nobody's neighbor cache: an advertisement without the override flag,
 * as of a proxy or an anycast address.
 * @see RFC 4861 section 7.2.5
 */
export function readNdpClaim(message: NdpMessage, at: GuardFrame, wasAsked: (address: Uint8Array, vlanId: number) => boolean): Claim | null {
  const isAdvertisement = message.kind === "neighbor-advertisement";
  if (message.kind === "redirect" || (isAdvertisement && !message.isOverride)) return null;
  const address = isAdvertisement ? message.target : at.frame.sourceIp;
  const option = ndpLinkLayerAddress(message);
  if (!address || !isHostAddress(address) || (option && option.length !== 6) || (!option && !isAdvertisement)) return null;
  const vlanId = vlanOf(at);
  const source = sourceOf(at);
  return {
    address, vlanId, source, mac: option ? macNumber(option) : source, isAnswer: isAdvertisement,
    isUnsolicited: isAdvertisement && !wasAsked(address, vlanId), repliesTo: null, packet: at.captured.bytes,
  };
}
