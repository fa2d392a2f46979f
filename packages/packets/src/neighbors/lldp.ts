import { badValue, decoded, type Decoded } from "../decoded.ts";
import { encodeDot1, type LldpDot1, readDot1 } from "./lldp-dot1.ts";
import { encodeDot3, type LldpDot3, readDot3 } from "./lldp-dot3.ts";
import { encodeMed, type LldpMed, readMed } from "./lldp-med.ts";
import { joinLldpTlvs, LLDP_ORGANIZATION, LLDP_TLV, type LldpTlv, splitLldpTlvs } from "./lldp-tlvs.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.1AB-2016: Link Layer Discovery Protocol, EtherType 0x88cc. */

/** Where switches send it: to the nearest bridge, the nearest that is no two-port relay, the nearest customer bridge. */
export const LLDP_DESTINATIONS = ["01:80:c2:00:00:0e", "01:80:c2:00:00:03", "01:80:c2:00:00:00"] as const;

/** @see IEEE 802.1AB-2016 table 8-2 */
export const LLDP_CHASSIS_SUBTYPE = {
  component: 1, interfaceAlias: 2, portComponent: 3, mac: 4, networkAddress: 5, interfaceName: 6, local: 7,
} as const;

/** @see IEEE 802.1AB-2016 table 8-3 */
export const LLDP_PORT_SUBTYPE = {
  interfaceAlias: 1, portComponent: 2, mac: 3, networkAddress: 4, interfaceName: 5, agentCircuit: 6, local: 7,
} as const;

/** The capability of each bit, from the lowest on. @see IEEE 802.1AB-2016 table 8-4 */
export const LLDP_CAPABILITIES = [
  "other", "repeater", "bridge", "wlan-ap", "router", "telephone", "docsis", "station", "c-vlan", "s-vlan", "two-port-relay",
] as const;

/** What a chassis or a port calls itself; `id` is to be read by `subtype`. */
export interface LldpId {
  readonly subtype: number;
  readonly id: Uint8Array;
}

/** Where the device can be managed, and by which of its interfaces. @see IEEE 802.1AB-2016 8.5.9 */
export interface LldpManagementAddress {
  readonly kind: "management-address";
  /** IANA address family: 1 IPv4, 2 IPv6, 6 a MAC. */
  readonly family: number;
  readonly address: Uint8Array;
  /** 1 unknown, 2 ifIndex, 3 port number. */
  readonly numbering: number;
  readonly interfaceNumber: number;
  /** An object identifier in BER, without its tag and length. */
  readonly objectId: Uint8Array;
}

/** What one TLV says. */
export type LldpItem =
  | { readonly kind: "chassis-id"; readonly value: LldpId }
  | { readonly kind: "port-id"; readonly value: LldpId }
  | { readonly kind: "time-to-live"; readonly seconds: number }
  | { readonly kind: "port-description" | "system-name" | "system-description"; readonly text: string }
  | { readonly kind: "system-capabilities"; readonly supported: number; readonly enabled: number }
  | LldpManagementAddress
  | LldpDot1
  | LldpDot3
  | LldpMed
  /** Of an organization or a subtype that is not decoded, or of a length that this subtype cannot have. */
  | { readonly kind: "organizational"; readonly organization: number; readonly subtype: number; readonly information: Uint8Array }
  /** Of a type that is not decoded, or of a length that this type cannot have. */
  | { readonly kind: "unknown"; readonly type: number; readonly value: Uint8Array };

/** One advertisement of one port. @see IEEE 802.1AB-2016 8.2 */
export interface LldpPdu {
  readonly chassisId: LldpId;
  readonly portId: LldpId;
  /** 0 says that the neighbor goes away. */
  readonly ttlSeconds: number;
  /** Everything behind the three, in wire order. */
  readonly items: readonly LldpItem[];
}

/**
 * @param pdu Bytes after EtherType 0x88cc, padding included.
 * @returns What they say, in views of `pdu`; `bad-value` at 0 unless chassis, port and time to live come first, and each once.
 * @see IEEE 802.1AB-2016 9.2.7.7: receivers discard such a PDU whole, but of all other TLVs only those that are wrong
 */
export function decodeLldp(pdu: Uint8Array): Decoded<LldpPdu> {
  const tlvs = splitLldpTlvs(pdu);
  if (!tlvs.ok) return tlvs;
  const [chassis, port, life, ...items] = tlvs.value.map(readLldpTlv);
  const isInOrder = chassis?.kind === "chassis-id" && port?.kind === "port-id" && life?.kind === "time-to-live";
  if (!isInOrder || tlvs.value.slice(3).some(({ type }) => type <= LLDP_TLV.timeToLive)) return badValue("lldp", 0);
  return decoded({ chassisId: chassis.value, portId: port.value, ttlSeconds: life.seconds, items });
}

/** @throws PacketsError for an item that has no encoding. */
export function encodeLldp({ chassisId, portId, ttlSeconds, items }: LldpPdu): Uint8Array {
  const head: readonly LldpItem[] = [
    { kind: "chassis-id", value: chassisId }, { kind: "port-id", value: portId }, { kind: "time-to-live", seconds: ttlSeconds },
  ];
  return joinLldpTlvs([...head, ...items].map(encodeItem));
}

/** What one TLV says; `unknown` or `organizational`, with its bytes, where that cannot be read. */
export function readLldpTlv(tlv: LldpTlv): LldpItem {
  const reader = new Reader(tlv.value);
  const item = readItem(tlv, reader);
  return item === null || reader.failed || reader.remaining > 0 ? { kind: "unknown", ...tlv } : item;
}

function readItem({ type }: LldpTlv, reader: Reader): LldpItem | null {
  switch (type) {
    case LLDP_TLV.chassisId:
      return readId("chassis-id", reader);
    case LLDP_TLV.portId:
      return readId("port-id", reader);
    case LLDP_TLV.timeToLive: {
      const seconds = reader.u16();
      // Standards to come may add to it.
      reader.rest();
      return { kind: "time-to-live", seconds };
    }
    case LLDP_TLV.portDescription:
      return { kind: "port-description", text: decodeUtf8(reader.rest()) };
    case LLDP_TLV.systemName:
      return { kind: "system-name", text: decodeUtf8(reader.rest()) };
    case LLDP_TLV.systemDescription:
      return { kind: "system-description", text: decodeUtf8(reader.rest()) };
    case LLDP_TLV.systemCapabilities:
      return { kind: "system-capabilities", supported: reader.u16(), enabled: reader.u16() };
    case LLDP_TLV.managementAddress:
      return readManagementAddress(reader);
    case LLDP_TLV.organizational:
      return readOrganizational(reader);
    default:
      return null;
  }
}

/** A subtype, and an identifier of at least one byte. */
function readId(kind: "chassis-id" | "port-id", reader: Reader): LldpItem {
  const value = { subtype: reader.u8(), id: reader.take(Math.max(reader.remaining, 1)) };
  return { kind, value };
}

function readManagementAddress(reader: Reader): LldpManagementAddress {
  // The length counts the family too.
  const length = reader.u8();
  const family = reader.u8();
  const address = reader.take(length - 1);
  return {
    kind: "management-address", family, address, numbering: reader.u8(), interfaceNumber: reader.u32(), objectId: reader.take(reader.u8()),
  };
}

function readOrganizational(reader: Reader): LldpItem {
  const organization = reader.u24();
  const subtype = reader.u8();
  const information = reader.rest();
  return readOf(organization, subtype, information) ?? { kind: "organizational", organization, subtype, information };
}

function readOf(organization: number, subtype: number, information: Uint8Array): LldpItem | null {
  switch (organization) {
    case LLDP_ORGANIZATION.dot1:
      return readDot1(subtype, information);
    case LLDP_ORGANIZATION.dot3:
      return readDot3(subtype, information);
    case LLDP_ORGANIZATION.med:
      return readMed(subtype, information);
    default:
      return null;
  }
}

function encodeItem(item: LldpItem): LldpTlv {
  switch (item.kind) {
    case "chassis-id":
    case "port-id": {
      const type = item.kind === "chassis-id" ? LLDP_TLV.chassisId : LLDP_TLV.portId;
      return { type, value: new Writer().u8(item.value.subtype).put(item.value.id).finish() };
    }
    case "time-to-live":
      return { type: LLDP_TLV.timeToLive, value: new Writer().u16(item.seconds).finish() };
    case "port-description":
      return { type: LLDP_TLV.portDescription, value: encodeUtf8(item.text) };
    case "system-name":
      return { type: LLDP_TLV.systemName, value: encodeUtf8(item.text) };
    case "system-description":
      return { type: LLDP_TLV.systemDescription, value: encodeUtf8(item.text) };
    case "system-capabilities":
      return { type: LLDP_TLV.systemCapabilities, value: new Writer().u16(item.supported).u16(item.enabled).finish() };
    case "management-address": {
      const writer = new Writer().u8(item.address.length + 1).u8(item.family).put(item.address).u8(item.numbering)
        .u32(item.interfaceNumber);
      return { type: LLDP_TLV.managementAddress, value: writer.u8(item.objectId.length).put(item.objectId).finish() };
    }
    case "unknown":
      return item;
    case "organizational":
      return organizational(item.organization, [item.subtype, item.information]);
    case "port-vlan":
    case "protocol-vlan":
    case "vlan-name":
    case "protocol-identity":
      return organizational(LLDP_ORGANIZATION.dot1, encodeDot1(item));
    case "link-aggregation":
      return item.organization === "802.1"
        ? organizational(LLDP_ORGANIZATION.dot1, encodeDot1(item))
        : organizational(LLDP_ORGANIZATION.dot3, encodeDot3(item));
    case "mac-phy":
    case "power":
    case "maximum-frame-size":
      return organizational(LLDP_ORGANIZATION.dot3, encodeDot3(item));
    case "med-capabilities":
    case "med-network-policy":
    case "med-location":
    case "med-power":
    case "med-inventory":
    default:
      return organizational(LLDP_ORGANIZATION.med, encodeMed(item));
  }
}

function organizational(organization: number, [subtype, information]: readonly [subtype: number, information: Uint8Array]): LldpTlv {
  return {
    type: LLDP_TLV.organizational, value: new Writer(4 + information.length).u24(organization).u8(subtype).put(information).finish(),
  };
}
