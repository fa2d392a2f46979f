import { type LldpLinkAggregation, readLinkAggregation } from "./lldp-dot1.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.3-2018 clause 79 and 802.3bt-2018: link speed, Power over Ethernet, aggregation, frame size. */

/** TLVs of organization 00-12-0F that are decoded. @see IEEE 802.3-2018 clause 79 */
export type LldpDot3 =
  | {
      readonly kind: "mac-phy";
      /** 1 supported, 2 enabled. */
      readonly autonegotiation: number;
      /** Advertised abilities as bits of ifMauAutoNegCapAdvertisedBits, the first of them in the highest bit. */
      readonly advertised: number;
      /** dot3MauType, the last number of its name; 30 is 1000BASE-T in full duplex. */
      readonly mauType: number;
    }
  | LldpPower
  | LldpLinkAggregation
  | { readonly kind: "maximum-frame-size"; readonly octets: number };

/** Power via MDI. What 802.3at added is null in older frames, what 802.3bt added in older ones too. */
export interface LldpPower {
  readonly kind: "power";
  /** 1 power sourcing equipment (else a powered device), 2 supported, 4 enabled, 8 pair control. */
  readonly support: number;
  /** 1 signal pairs, 2 spare pairs. */
  readonly pair: number;
  /** 1 to 5 for classes 0 to 4. */
  readonly powerClass: number;
  readonly allocation: LldpPowerAllocation | null;
  readonly dualSignature: LldpDualSignaturePower | null;
}

interface LldpPowerAllocation {
  /** Two bits of type, two of source, four of extensions and priority, as on the wire. */
  readonly typeSourcePriority: number;
  /** Tenths of a watt. */
  readonly requested: number;
  /** Tenths of a watt. */
  readonly allocated: number;
}

/** What 802.3bt adds; all power in tenths of a watt. */
export interface LldpDualSignaturePower {
  readonly requestedA: number;
  readonly requestedB: number;
  readonly allocatedA: number;
  readonly allocatedB: number;
  readonly status: number;
  readonly systemSetup: number;
  readonly maximumAvailable: number;
  readonly autoclass: number;
  readonly powerDown: number;
}

const SUBTYPE = { macPhy: 1, power: 2, linkAggregation: 3, maximumFrameSize: 4 } as const;

/** @returns Null for a subtype that is not known, or a length that it cannot have. */
export function readDot3(subtype: number, information: Uint8Array): LldpDot3 | null {
  const reader = new Reader(information);
  const item = readItem(subtype, reader);
  return item === null || reader.failed || reader.remaining > 0 ? null : item;
}

function readItem(subtype: number, reader: Reader): LldpDot3 | null {
  switch (subtype) {
    case SUBTYPE.macPhy:
      return { kind: "mac-phy", autonegotiation: reader.u8(), advertised: reader.u16(), mauType: reader.u16() };
    case SUBTYPE.power:
      return readPower(reader);
    case SUBTYPE.linkAggregation:
      return readLinkAggregation("802.3", reader);
    case SUBTYPE.maximumFrameSize:
      return { kind: "maximum-frame-size", octets: reader.u16() };
    default:
      return null;
  }
}

function readPower(reader: Reader): LldpPower {
  const [support, pair, powerClass] = [reader.u8(), reader.u8(), reader.u8()];
  const allocation = reader.remaining === 0 ? null : { typeSourcePriority: reader.u8(), requested: reader.u16(), allocated: reader.u16() };
  const dualSignature = reader.remaining === 0 ? null : {
    requestedA: reader.u16(), requestedB: reader.u16(), allocatedA: reader.u16(), allocatedB: reader.u16(), status: reader.u16(),
    systemSetup: reader.u8(), maximumAvailable: reader.u16(), autoclass: reader.u8(), powerDown: reader.u24(),
  };
  return { kind: "power", support, pair, powerClass, allocation, dualSignature };
}

/** @returns The subtype, and what follows it. */
export function encodeDot3(item: LldpDot3): readonly [subtype: number, information: Uint8Array] {
  switch (item.kind) {
    case "mac-phy":
      return [SUBTYPE.macPhy, new Writer().u8(item.autonegotiation).u16(item.advertised).u16(item.mauType).finish()];
    case "power":
      return [SUBTYPE.power, encodePower(item)];
    case "link-aggregation":
      return [SUBTYPE.linkAggregation, new Writer().u8(item.status).u32(item.portId).finish()];
    case "maximum-frame-size":
    default:
      return [SUBTYPE.maximumFrameSize, new Writer().u16(item.octets).finish()];
  }
}

function encodePower({ support, pair, powerClass, allocation, dualSignature: dual }: LldpPower): Uint8Array {
  const writer = new Writer().u8(support).u8(pair).u8(powerClass);
  if (allocation) writer.u8(allocation.typeSourcePriority).u16(allocation.requested).u16(allocation.allocated);
  if (allocation && dual) {
    writer.u16(dual.requestedA).u16(dual.requestedB).u16(dual.allocatedA).u16(dual.allocatedB).u16(dual.status);
    writer.u8(dual.systemSetup).u16(dual.maximumAvailable).u8(dual.autoclass).u24(dual.powerDown);
  }
  return writer.finish();
}
