import type { FrameFields } from "../frame-fields.ts";
import type { Reader } from "../reader.ts";

/** What a packet can be wrapped in. */
export type EncapsulationKind =
  | "4in6" | "6in4" | "6in6" | "cfp" | "e-tag" | "erspan" | "geneve" | "gre" | "ipip" | "mpls" | "pbb" | "pppoe" | "teredo" | "vn-tag" | "vxlan"
  | "vxlan-gpe";

/** What the header of an encapsulation says of the packet inside. */
export interface Envelope {
  readonly kind: EncapsulationKind;
  /** What is inside; `ETHER_TYPE.ethernet` for a whole frame. */
  readonly etherType: number;
  /** VXLAN's and Geneve's network, 802.1ah's service: the same addresses in another one are other hosts. 0 without one. */
  readonly network?: number;
  /** The VLAN that a mirror names for a frame whose tag it took off; 0 without one. */
  readonly vlanId?: number;
  /** The frame inside was cut before it was wrapped. */
  readonly isCut?: boolean;
}

/**
 * Reads the header of one encapsulation and leaves `reader` at the packet inside. It may read too far: `reader.failed` says so.
 * @returns What is inside; in words what it is where it cannot be read (`gre-version-3`); null where this is no such encapsulation.
 */
export type ReadEnvelope = (reader: Reader, outer: Readonly<FrameFields>) => Envelope | string | null;
