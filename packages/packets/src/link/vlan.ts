import { badValue, type Malformed } from "../decoded.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** IEEE 802.1Q-2018 clause 9: a tag between the source address and the EtherType, several of them when stacked. */

/** Stacks on real links have two tags, three with a provider's provider. More are an attempt to make a decoder walk. */
export const MAX_VLAN_TAGS = 4;

/** One tag of a frame. @see IEEE 802.1Q-2018 clause 9.6 */
export interface VlanTag {
  /** The EtherType that announces the tag. */
  readonly protocol: number;
  /** Priority code point, 0–7. */
  readonly priority: number;
  readonly isDropEligible: boolean;
  /** 1–4094; 0 is a tag for its priority alone. */
  readonly vlanId: number;
}

/** True for 802.1Q, 802.1ad and the older 0x9100. */
export function isVlanTagType(etherType: number): boolean {
  return etherType === ETHER_TYPE.vlan || etherType === ETHER_TYPE.providerVlan || etherType === ETHER_TYPE.oldProviderVlan;
}

/**
 * Reads tags, the first of them announced by the EtherType before, into `into.vlanTags`.
 * @returns The EtherType behind the last one.
 */
export function scanVlanTags(reader: Reader, announced: number, into: { vlanTags: readonly VlanTag[] }): number | Malformed {
  const tags: VlanTag[] = [];
  let etherType = announced;
  while (isVlanTagType(etherType)) {
    if (tags.length === MAX_VLAN_TAGS) return badValue("vlan", reader.offset - 2);
    const control = reader.u16();
    tags.push({ protocol: etherType, priority: control >>> 13, isDropEligible: (control & 0x1000) !== 0, vlanId: control & 0xfff });
    etherType = reader.u16();
    if (reader.failed) return reader.malformed("vlan");
  }
  into.vlanTags = tags;
  return etherType;
}

/** The two bytes behind a tag's EtherType. */
export function encodeTagControl(tag: VlanTag): number {
  return (tag.priority << 13) | (tag.isDropEligible ? 0x1000 : 0) | tag.vlanId;
}
