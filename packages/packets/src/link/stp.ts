import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.1D-2004 clause 9 (STP and RSTP) and 802.1Q-2018 clause 14 (MSTP): bridge protocol data units, and Cisco's for each VLAN. */

/** Where bridges send BPDUs: customer bridges, and provider bridges. @see IEEE 802.1Q-2018 table 8-1, table 8-2 */
export const STP_DESTINATIONS = ["01:80:c2:00:00:00", "01:80:c2:00:00:08"] as const;
/** LLC access point of a BPDU. @see IEEE 802.1D-2004 clause 9.2 */
export const STP_ACCESS_POINT = 0x42;
/** Where Cisco's switches send a BPDU for each VLAN. There is no standard. */
export const PVST_DESTINATION = "01:00:0c:cc:cc:cd";
/** SNAP organization and protocol of a BPDU for one VLAN. @see IEEE 802-2014 clause 9 */
export const PVST_SNAP = { organization: 0x00000c, protocol: 0x010b } as const;

const TYPE = { configuration: 0x00, rapid: 0x02, topologyChangeNotification: 0x80 } as const;
const VERSION = { stp: 0, rstp: 2, mstp: 3 } as const;
const FLAG = { topologyChange: 0x01, acknowledgment: 0x80 } as const;
/** Without the instances, which are not read. */
const MIN_MSTP_LENGTH = 64;
const MST_NAME_LENGTH = 32;
const PVST_VLAN_TLV = { type: 0, length: 2 } as const;

/** Who a bridge is. The lower one wins: first by priority, then by MAC. @see IEEE 802.1D-2004 clause 9.2.5 */
export interface BridgeId {
  /** In steps of 4096: the upper four bits. */
  readonly priority: number;
  /** VLAN or instance; 0–4095. */
  readonly systemId: number;
  /** Six bytes, a view. */
  readonly mac: Uint8Array;
}

/** What a bridge says of the tree at one of its ports. Times are seconds. */
export interface StpConfiguration {
  readonly kind: "configuration";
  /** 0 STP, 2 RSTP, 3 MSTP. */
  readonly version: number;
  readonly flags: number;
  readonly isTopologyChange: boolean;
  readonly isTopologyChangeAcknowledged: boolean;
  readonly root: BridgeId;
  readonly rootPathCost: number;
  /** In MSTP the root of its region. */
  readonly bridge: BridgeId;
  readonly portId: number;
  readonly messageAge: number;
  readonly maxAge: number;
  readonly helloTime: number;
  readonly forwardDelay: number;
  /** Null but in MSTP. */
  readonly region: MstRegion | null;
}

/** The region of an MSTP bridge, without its instances. @see IEEE 802.1Q-2018 clause 14.4 */
export interface MstRegion {
  readonly name: string;
  readonly revision: number;
  /** Sixteen bytes over the table of VLANs, a view. */
  readonly digest: Uint8Array;
  readonly internalRootPathCost: number;
  readonly bridge: BridgeId;
  readonly remainingHops: number;
}

/** A BPDU. `vlanId` is what Cisco's has behind it; null in the others. */
export type StpPdu = (StpConfiguration | { readonly kind: "topology-change-notification"; readonly version: number }) & {
  readonly vlanId: number | null;
};

/**
 * @param bytes What follows LLC or SNAP; padding may follow.
 * @returns Views of `bytes`. Versions above 3 are read as 3. `bad-value` for another protocol or type.
 */
export function decodeStp(bytes: Uint8Array): Decoded<StpPdu> {
  const reader = new Reader(bytes);
  const protocol = reader.u16();
  const version = reader.u8();
  const type = reader.u8();
  if (reader.failed) return reader.malformed("stp");
  if (protocol !== 0) return badValue("stp", 0);
  if (type === TYPE.topologyChangeNotification) return decoded({ kind: "topology-change-notification", version, vlanId: null });
  if (type !== TYPE.configuration && type !== TYPE.rapid) return badValue("stp", 3);
  const configuration = readConfiguration(reader, version);
  if (reader.failed) return reader.malformed("stp");
  if (type === TYPE.configuration) return decoded({ ...configuration, region: null, vlanId: readVlan(reader) });
  const version1Length = reader.u8();
  if (reader.failed) return reader.malformed("stp");
  const region = version >= VERSION.mstp && version1Length === 0 ? readRegion(reader) : null;
  if (region !== null && "ok" in region) return region;
  return decoded({ ...configuration, region, vlanId: region === null ? readVlan(reader) : null });
}

/** @throws PacketsError for a field that has no encoding. MSTP is not encoded. */
export function encodeStp(pdu: Omit<StpConfiguration, "kind" | "region" | "isTopologyChange" | "isTopologyChangeAcknowledged"> & {
  /** Behind it, as Cisco's switches write it. */
  readonly vlanId?: number;
}): Uint8Array {
  requireRange("stp.version", pdu.version, 0, VERSION.rstp);
  requireRange("stp.flags", pdu.flags, 0, 0xff);
  requireRange("stp.rootPathCost", pdu.rootPathCost, 0, 0xffff_ffff);
  requireRange("stp.portId", pdu.portId, 0, 0xffff);
  const isRapid = pdu.version >= VERSION.rstp;
  const writer = new Writer(48).u16(0).u8(pdu.version).u8(isRapid ? TYPE.rapid : TYPE.configuration).u8(pdu.flags);
  writeBridgeId(writer, pdu.root);
  writer.u32(pdu.rootPathCost);
  writeBridgeId(writer, pdu.bridge);
  writer.u16(pdu.portId);
  for (const field of ["messageAge", "maxAge", "helloTime", "forwardDelay"] as const) {
    const ticks = Math.round(pdu[field] * 256);
    requireRange(`stp.${field}`, ticks, 0, 0xffff);
    writer.u16(ticks);
  }
  if (isRapid) writer.u8(0);
  if (pdu.vlanId !== undefined) {
    requireRange("stp.vlanId", pdu.vlanId, 0, 0xfff);
    writer.zeros(isRapid ? 0 : 1).u16(PVST_VLAN_TLV.type).u16(PVST_VLAN_TLV.length).u16(pdu.vlanId);
  }
  return writer.finish();
}

function readConfiguration(reader: Reader, version: number): Omit<StpConfiguration, "region"> {
  const flags = reader.u8();
  return {
    kind: "configuration", version, flags,
    isTopologyChange: (flags & FLAG.topologyChange) !== 0,
    isTopologyChangeAcknowledged: version === VERSION.stp && (flags & FLAG.acknowledgment) !== 0,
    root: readBridgeId(reader), rootPathCost: reader.u32(), bridge: readBridgeId(reader), portId: reader.u16(),
    messageAge: reader.u16() / 256, maxAge: reader.u16() / 256, helloTime: reader.u16() / 256, forwardDelay: reader.u16() / 256,
  };
}

function readRegion(reader: Reader): MstRegion | null | Malformed {
  const length = reader.u16();
  if (reader.failed) return reader.malformed("stp");
  // Switches before the standard, and RSTP with rests of memory behind it.
  if (length < MIN_MSTP_LENGTH) return null;
  reader.limit(length);
  const selector = reader.u8();
  const name = reader.take(MST_NAME_LENGTH);
  const [revision, digest, internalRootPathCost] = [reader.u16(), reader.take(16), reader.u32()];
  const [bridge, remainingHops] = [readBridgeId(reader), reader.u8()];
  if (reader.failed) return reader.malformed("stp");
  if (selector !== 0) return null;
  const end = name.indexOf(0);
  return { name: decodeUtf8(end < 0 ? name : name.subarray(0, end)), revision, digest, internalRootPathCost, bridge, remainingHops };
}

/** What Cisco's switches write behind a BPDU: a byte of padding in STP, and the VLAN. */
function readVlan(reader: Reader): number | null {
  for (const padding of [0, 1]) {
    const tlv = new Reader(reader.bytes, reader.offset + padding, reader.end);
    const [type, length, vlanId] = [tlv.u16(), tlv.u16(), tlv.u16()];
    if (!tlv.failed && type === PVST_VLAN_TLV.type && length === PVST_VLAN_TLV.length && vlanId > 0 && vlanId <= 0xfff) return vlanId;
  }
  return null;
}

function readBridgeId(reader: Reader): BridgeId {
  const bits = reader.u16();
  return { priority: bits & 0xf000, systemId: bits & 0x0fff, mac: reader.take(6) };
}

function writeBridgeId(writer: Writer, { priority, systemId, mac }: BridgeId): void {
  requireRange("stp.priority", priority, 0, 0xf000);
  requireRange("stp.systemId", systemId, 0, 0xfff);
  requireLength("stp.mac", mac, 6);
  writer.u16((priority & 0xf000) | systemId).put(mac);
}
