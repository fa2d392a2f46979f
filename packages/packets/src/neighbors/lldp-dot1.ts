import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.1Q-2018 annex D.2: what a port says about its VLANs. */

/** TLVs of organization 00-80-C2 that are decoded. @see IEEE 802.1Q-2018 annex D.2 */
export type LldpDot1 =
  /** The VLAN of untagged frames; 0 where there is none. */
  | { readonly kind: "port-vlan"; readonly vlanId: number }
  /** `flags`: 2 supported, 4 enabled. */
  | { readonly kind: "protocol-vlan"; readonly flags: number; readonly vlanId: number }
  | { readonly kind: "vlan-name"; readonly vlanId: number; readonly name: string }
  /** The first bytes of the protocol's frames. */
  | { readonly kind: "protocol-identity"; readonly identity: Uint8Array }
  | LldpLinkAggregation;

/** 802.1's own, and the same in 802.3, where it was before. */
export interface LldpLinkAggregation {
  readonly kind: "link-aggregation";
  readonly organization: "802.1" | "802.3";
  /** 1 capable, 2 in an aggregation. */
  readonly status: number;
  /** The aggregated port's interface number; 0 without one. */
  readonly portId: number;
}

const SUBTYPE = { portVlan: 1, protocolVlan: 2, vlanName: 3, protocolIdentity: 4, linkAggregation: 7 } as const;

/** @returns Null for a subtype that is not known, or a length that it cannot have. */
export function readDot1(subtype: number, information: Uint8Array): LldpDot1 | null {
  const reader = new Reader(information);
  const item = readItem(subtype, reader);
  return item === null || reader.failed || reader.remaining > 0 ? null : item;
}

function readItem(subtype: number, reader: Reader): LldpDot1 | null {
  switch (subtype) {
    case SUBTYPE.portVlan:
      return { kind: "port-vlan", vlanId: reader.u16() };
    case SUBTYPE.protocolVlan:
      return { kind: "protocol-vlan", flags: reader.u8(), vlanId: reader.u16() };
    case SUBTYPE.vlanName:
      return { kind: "vlan-name", vlanId: reader.u16(), name: decodeUtf8(reader.take(reader.u8())) };
    case SUBTYPE.protocolIdentity:
      return { kind: "protocol-identity", identity: reader.take(reader.u8()) };
    case SUBTYPE.linkAggregation:
      return readLinkAggregation("802.1", reader);
    default:
      return null;
  }
}

/** The five bytes that both organizations write alike. */
export function readLinkAggregation(organization: LldpLinkAggregation["organization"], reader: Reader): LldpLinkAggregation {
  return { kind: "link-aggregation", organization, status: reader.u8(), portId: reader.u32() };
}

/** @returns The subtype, and what follows it. */
export function encodeDot1(item: LldpDot1): readonly [subtype: number, information: Uint8Array] {
  switch (item.kind) {
    case "port-vlan":
      return [SUBTYPE.portVlan, new Writer().u16(item.vlanId).finish()];
    case "protocol-vlan":
      return [SUBTYPE.protocolVlan, new Writer().u8(item.flags).u16(item.vlanId).finish()];
    case "vlan-name": {
      const name = encodeUtf8(item.name);
      return [SUBTYPE.vlanName, new Writer().u16(item.vlanId).u8(name.length).put(name).finish()];
    }
    case "protocol-identity":
      return [SUBTYPE.protocolIdentity, new Writer().u8(item.identity.length).put(item.identity).finish()];
    case "link-aggregation":
    default:
      return [SUBTYPE.linkAggregation, new Writer().u8(item.status).u32(item.portId).finish()];
  }
}
