import type { NeighborDiscovered, NeighborProtocol } from "@lanthorn/contract/uplink";

/** What a neighbor says of itself, whatever its protocol; what the event says but for where and when. */
export type NeighborFacts = Omit<Required<NeighborDiscovered>, "protocol" | "local_interface" | "ttl_seconds" | "source_mac" | "changed">;

/** One advertisement. */
export interface Advert {
  readonly protocol: NeighborProtocol;
  /** Six lower-case pairs with colons. */
  readonly sourceMac: string;
  /** 0 says that the neighbor goes away; `facts.port_id` is then empty where it did not name the port. */
  readonly ttlSeconds: number;
  readonly facts: NeighborFacts;
  /** It names VLANs only: the rest is in another frame of the same sender. */
  readonly isVlansOnly: boolean;
}

/** Nothing known of a neighbor but what names it. */
export function emptyFacts(names: Pick<NeighborFacts, "chassis_id" | "chassis_id_type" | "port_id" | "port_id_type">): NeighborFacts {
  return {
    ...names, port_description: "", system_name: "", system_description: "", capabilities: [], management_addresses: [], vlan_ids: [],
    platform: "", vlan_names: [], native_vlan: null, voice_vlan: null, power: null,
  };
}

/** The contract's limits. */
export const LIMITS = { name: 255, description: 1024, addresses: 16, vlans: 64, vlanName: 64 } as const;

/** A text as it may be shown: control and format characters, line ends and zeros become blanks; what is too long is cut. */
export function cleanText(text: string, longest: number = LIMITS.name): string {
  const clean = text.slice(0, longest * 4).replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim().slice(0, longest);
  // Half of a character beyond 16 bits is none.
  return /[\ud800-\udbff]$/.test(clean) ? clean.slice(0, -1) : clean;
}

/** Each number once, in order, as many as the contract takes. */
export function cleanVlans(ids: readonly number[]): number[] {
  return [...new Set(ids)].filter((id) => id > 0 && id < 4095).toSorted((a, b) => a - b).slice(0, LIMITS.vlans);
}

/** Each address once, without those that mean none. */
export function cleanAddresses(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].filter((address) => address !== "0.0.0.0" && address !== "::").slice(0, LIMITS.addresses);
}

/** The words of the bits that are set; `names` from the lowest bit on. */
export function wordsOf(bits: number, names: readonly string[]): string[] {
  return names.filter((name, bit) => name !== "" && (bits & (1 << bit)) !== 0);
}

/** Of a union of items, those that may have this kind. */
type OfKind<Item, K> = Item extends { readonly kind: infer Kind } ? (K extends Kind ? Item : never) : never;

/** A PDU's items of one kind, in wire order. */
export function itemsOf<Item extends { readonly kind: string }, K extends Item["kind"]>(
  items: readonly Item[], kind: K,
): readonly OfKind<Item, K>[] {
  return items.filter((item): item is Item & OfKind<Item, K> => item.kind === kind);
}
