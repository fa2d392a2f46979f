import { decoded, type Decoded } from "../decoded.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/**
 * SynOptics Network Management Protocol, behind SNAP, of Nortel's and Avaya's switches; also called Nortel Discovery Protocol.
 * There is no standard.
 */

/** Its hello says everything; the same goes to `01:00:81:00:01:01` under another protocol number for whole networks. */
export const SONMP_DESTINATION = "01:00:81:00:01:00";
/** SNAP organization and protocol of a SONMP hello. @see IEEE 802-2014 clause 9 */
export const SONMP_SNAP = { organization: 0x000081, protocol: 0x01a2 } as const;

/** One hello of one switch port. */
export interface SonmpHello {
  /** IPv4. */
  readonly address: Uint8Array;
  /** Three bytes: unit, slot and port, as far as the switch has them. */
  readonly segment: Uint8Array;
  /** The model, by the manufacturer's numbers. */
  readonly chassisType: number;
  readonly backplaneType: number;
  /** 1 changed, 2 unchanged, 3 new. */
  readonly state: number;
  readonly links: number;
}

/** @param bytes What follows SNAP. @returns Views of `bytes`. */
export function decodeSonmp(bytes: Uint8Array): Decoded<SonmpHello> {
  const reader = new Reader(bytes);
  const hello = {
    address: reader.take(4), segment: reader.take(3), chassisType: reader.u8(), backplaneType: reader.u8(), state: reader.u8(),
    links: reader.u8(),
  };
  return reader.failed ? reader.malformed("sonmp") : decoded(hello);
}

/** @throws PacketsError for a field that has no encoding. */
export function encodeSonmp(hello: SonmpHello): Uint8Array {
  requireLength("sonmp.address", hello.address, 4);
  requireLength("sonmp.segment", hello.segment, 3);
  for (const field of ["chassisType", "backplaneType", "state", "links"] as const) requireRange(`sonmp.${field}`, hello[field], 0, 0xff);
  const writer = new Writer(11).put(hello.address).put(hello.segment);
  return writer.u8(hello.chassisType).u8(hello.backplaneType).u8(hello.state).u8(hello.links).finish();
}
