import type { Envelope } from "./envelope.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** RFC 7348: frames over UDP; draft-ietf-nvo3-vxlan-gpe says what else can be inside. */

/** The registered port, and the one that Linux used before. */
export const VXLAN_PORTS = [4789, 8472] as const;
/** @see draft-ietf-nvo3-vxlan-gpe-13 section 8.1 */
export const VXLAN_GPE_PORT = 4790;

const FLAG = { network: 0x08, group: 0x80 } as const;
const GPE_FLAG = { network: 0x08, nextProtocol: 0x04, operation: 0x01, version: 0x30 } as const;
/** What GPE's next protocols are called as EtherTypes. @see draft-ietf-nvo3-vxlan-gpe-13 section 3.1 */
const NEXT_PROTOCOLS: Readonly<Record<number, number>> = {
  1: ETHER_TYPE.ipv4, 2: ETHER_TYPE.ipv6, 3: ETHER_TYPE.ethernet, 5: ETHER_TYPE.mpls,
};
const ETHERNET_LENGTH = 14;

/**
 * Others use the port too, so the reserved bits must be 0; with the group bit 16 of them are a policy's number.
 * @returns Null for what is no VXLAN.
 * @see RFC 7348 section 5, draft-smith-vxlan-group-policy-05
 */
export function readVxlan(reader: Reader): Envelope | null {
  const flags = reader.u8();
  const reserved = reader.u24();
  const network = reader.u24();
  const last = reader.u8();
  const isGroup = (flags & FLAG.group) !== 0;
  if (reader.failed || reader.remaining < ETHERNET_LENGTH) return null;
  if ((flags & ~FLAG.group) !== FLAG.network || last !== 0 || (!isGroup && reserved !== 0)) return null;
  return { kind: "vxlan", etherType: ETHER_TYPE.ethernet, network };
}

/** @returns In words what is inside where it is no packet; null for what is no VXLAN. */
export function readVxlanGpe(reader: Reader): Envelope | string | null {
  const flags = reader.u8();
  const reserved = reader.u16();
  const nextProtocol = reader.u8();
  const network = reader.u24();
  const last = reader.u8();
  if (reader.failed || (flags & GPE_FLAG.network) === 0 || (flags & (GPE_FLAG.version | 0xc0)) !== 0 || reserved !== 0 || last !== 0) return null;
  if ((flags & GPE_FLAG.operation) !== 0) return "vxlan-gpe-operation";
  const etherType = (flags & GPE_FLAG.nextProtocol) === 0 ? ETHER_TYPE.ethernet : NEXT_PROTOCOLS[nextProtocol];
  return etherType === undefined ? `vxlan-gpe-${nextProtocol}` : { kind: "vxlan-gpe", etherType, network };
}
