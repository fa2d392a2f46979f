import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import type { FrameFields } from "../frame-fields.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.2 clause 3, and SNAP of IEEE 802-2014 clause 9: what 802.3 frames carry in place of an EtherType. */

const SNAP_SAP = 0xaa;
const UNNUMBERED_INFORMATION = 0x03;

/** The LLC header and what follows it, SNAP too where it is there. @see IEEE 802.2 clause 3 */
export interface LlcHeader {
  readonly destinationServiceAccessPoint: number;
  readonly sourceServiceAccessPoint: number;
  /** One byte in unnumbered frames, two in all others. */
  readonly control: number;
  /** Null unless both access points are 0xaa. */
  readonly snap: SnapHeader | null;
  readonly payload: Uint8Array;
}

/** Which protocol the payload is of. @see IEEE 802-2014 clause 9 */
export interface SnapHeader {
  /** Whose protocol numbers these are; 0 means EtherTypes. */
  readonly organization: number;
  readonly protocol: number;
}

/** @param bytes From the destination access point on, without padding. @returns Views of `bytes`. */
export function decodeLlc(bytes: Uint8Array): Decoded<LlcHeader> {
  const reader = new Reader(bytes);
  const header = readLlc(reader);
  return "ok" in header ? header : decoded({ ...header, payload: reader.rest() });
}

/** @throws PacketsError for a field that has no encoding. */
export function encodeLlc(header: LlcHeader): Uint8Array {
  requireRange("llc.destinationServiceAccessPoint", header.destinationServiceAccessPoint, 0, 0xff);
  requireRange("llc.sourceServiceAccessPoint", header.sourceServiceAccessPoint, 0, 0xff);
  requireRange("llc.control", header.control, 0, 0xffff);
  const writer = new Writer(9 + header.payload.length).u8(header.destinationServiceAccessPoint).u8(header.sourceServiceAccessPoint);
  if (header.control <= 0xff && isUnnumbered(header.control)) writer.u8(header.control);
  else writer.u16(header.control);
  if (header.snap) {
    requireRange("snap.organization", header.snap.organization, 0, 0xff_ffff);
    requireRange("snap.protocol", header.snap.protocol, 0, 0xffff);
    writer.u24(header.snap.organization).u16(header.snap.protocol);
  }
  return writer.put(header.payload).finish();
}

/** Looks for an EtherType behind SNAP; without one, `network` stays `llc` and begins at the access points. */
export function scanLlc(reader: Reader, fields: FrameFields): Malformed | null {
  const header = readLlc(reader);
  if ("ok" in header) return header;
  if (header.snap?.organization === 0 && header.snap.protocol >= 0x0600) {
    fields.etherType = header.snap.protocol;
    fields.network = "other";
    fields.networkOffset = reader.offset;
  }
  return null;
}

function readLlc(reader: Reader): Omit<LlcHeader, "payload"> | Malformed {
  const start = reader.offset;
  const destinationServiceAccessPoint = reader.u8();
  const sourceServiceAccessPoint = reader.u8();
  const first = reader.u8();
  const control = isUnnumbered(first) ? first : (first << 8) | reader.u8();
  if (reader.failed) return reader.malformed("llc");
  const isSnap = destinationServiceAccessPoint === SNAP_SAP && sourceServiceAccessPoint === SNAP_SAP;
  if (!isSnap) return { destinationServiceAccessPoint, sourceServiceAccessPoint, control, snap: null };
  if (control !== UNNUMBERED_INFORMATION) return badValue("llc", start + 2);
  const snap = { organization: reader.u24(), protocol: reader.u16() };
  if (reader.failed) return reader.malformed("snap");
  return { destinationServiceAccessPoint, sourceServiceAccessPoint, control, snap };
}

/** The two low bits tell the formats apart. */
function isUnnumbered(control: number): boolean {
  return (control & 0x03) === 0x03;
}
