import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** ANSI/TIA-1057 clause 10: LLDP for Media Endpoint Devices. */

/** TLVs of organization 00-12-BB that are decoded. @see ANSI/TIA-1057 clause 10 */
export type LldpMed =
  | {
      readonly kind: "med-capabilities";
      /** 1 capabilities, 2 network policy, 4 location, 8 power of a source, 16 power of a device, 32 inventory. */
      readonly capabilities: number;
      /** 1 to 3 for endpoint classes I to III (III is a phone), 4 for network connectivity. */
      readonly deviceType: number;
    }
  | LldpMedNetworkPolicy
  /** `format`: 1 coordinates, 2 civic address, 3 emergency number. `location` is as on the wire. */
  | { readonly kind: "med-location"; readonly format: number; readonly location: Uint8Array }
  /** `typeSourcePriority` as on the wire; `power` in tenths of a watt. */
  | { readonly kind: "med-power"; readonly typeSourcePriority: number; readonly power: number }
  | { readonly kind: "med-inventory"; readonly field: LldpInventoryField; readonly text: string };

/** What the VLAN of voice, video and their signalling is to be. */
export interface LldpMedNetworkPolicy {
  readonly kind: "med-network-policy";
  /** 1 voice, 2 voice signalling, 3 guest voice, 4 its signalling, 5 softphone, 6 video conference, 7 streaming, 8 its signalling. */
  readonly application: number;
  /** The device needs a policy and knows none. */
  readonly isUnknown: boolean;
  readonly isTagged: boolean;
  readonly vlanId: number;
  readonly priority: number;
  readonly dscp: number;
}

/** In the order of their subtypes, the first of which is 5. */
export const LLDP_INVENTORY_FIELDS = [
  "hardware-revision", "firmware-revision", "software-revision", "serial-number", "manufacturer", "model", "asset-id",
] as const;
type LldpInventoryField = (typeof LLDP_INVENTORY_FIELDS)[number];

const SUBTYPE = { capabilities: 1, networkPolicy: 2, location: 3, power: 4, firstInventory: 5 } as const;

/** @returns Null for a subtype that is not known, or a length that it cannot have. */
export function readMed(subtype: number, information: Uint8Array): LldpMed | null {
  const reader = new Reader(information);
  const item = readItem(subtype, reader);
  return item === null || reader.failed || reader.remaining > 0 ? null : item;
}

function readItem(subtype: number, reader: Reader): LldpMed | null {
  switch (subtype) {
    case SUBTYPE.capabilities:
      return { kind: "med-capabilities", capabilities: reader.u16(), deviceType: reader.u8() };
    case SUBTYPE.networkPolicy:
      return readPolicy(reader.u8(), reader.u24());
    case SUBTYPE.location:
      return { kind: "med-location", format: reader.u8(), location: reader.rest() };
    case SUBTYPE.power:
      return { kind: "med-power", typeSourcePriority: reader.u8(), power: reader.u16() };
    default: {
      const field = LLDP_INVENTORY_FIELDS[subtype - SUBTYPE.firstInventory];
      return field === undefined ? null : { kind: "med-inventory", field, text: decodeUtf8(reader.rest()) };
    }
  }
}

/** Behind the application: unknown, tagged, one reserved bit, 12 of VLAN, 3 of priority, 6 of DSCP. */
function readPolicy(application: number, bits: number): LldpMedNetworkPolicy {
  return {
    kind: "med-network-policy", application, isUnknown: (bits & 0x80_0000) !== 0, isTagged: (bits & 0x40_0000) !== 0,
    vlanId: (bits >>> 9) & 0xfff, priority: (bits >>> 6) & 0x7, dscp: bits & 0x3f,
  };
}

/** @returns The subtype, and what follows it. */
export function encodeMed(item: LldpMed): readonly [subtype: number, information: Uint8Array] {
  switch (item.kind) {
    case "med-capabilities":
      return [SUBTYPE.capabilities, new Writer().u16(item.capabilities).u8(item.deviceType).finish()];
    case "med-network-policy": {
      const flags = (item.isUnknown ? 0x80_0000 : 0) | (item.isTagged ? 0x40_0000 : 0);
      const bits = flags | (item.vlanId << 9) | (item.priority << 6) | item.dscp;
      return [SUBTYPE.networkPolicy, new Writer().u8(item.application).u24(bits).finish()];
    }
    case "med-location":
      return [SUBTYPE.location, new Writer().u8(item.format).put(item.location).finish()];
    case "med-power":
      return [SUBTYPE.power, new Writer().u8(item.typeSourcePriority).u16(item.power).finish()];
    case "med-inventory":
    default:
      return [SUBTYPE.firstInventory + LLDP_INVENTORY_FIELDS.indexOf(item.field), encodeUtf8(item.text)];
  }
}
