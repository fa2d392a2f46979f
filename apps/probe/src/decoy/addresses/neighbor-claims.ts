/** Who claims an address of IPv6, or looks whether it is free. @see RFC 4861 sections 4.3 and 4.4, RFC 4862 section 5.4 */
import { decodeFrame, decodeIcmpv6 } from "@lanthorn/packets";

/** A host that has an address, or is about to take it. */
export interface NeighborClaim {
  /** The frame's sender. */
  readonly mac: Uint8Array;
  readonly target: Uint8Array;
}

/** @param bytes A whole frame. @returns Null for one that claims nothing. */
export function readNeighborClaim(bytes: Uint8Array): NeighborClaim | null {
  const frame = decodeFrame(bytes);
  if (!frame.ok || frame.value.transport !== "icmpv6") return null;
  const { sourceMac: mac, sourceIp: source, transportBytes } = frame.value;
  const message = decodeIcmpv6(transportBytes);
  if (!message.ok || mac === null || source === null) return null;
  if (message.value.kind === "neighbor-advertisement") return { mac, target: message.value.target };
  const isLooking = message.value.kind === "neighbor-solicitation" && source.every((octet) => octet === 0);
  return isLooking ? { mac, target: message.value.target } : null;
}
