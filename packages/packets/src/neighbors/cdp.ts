import { decoded, type Decoded } from "../decoded.ts";
import { type CdpAddress, type CdpTlv, readCdpAddresses, readCdpEnvelope, writeCdpAddresses, writeCdpEnvelope } from "./cdp-tlvs.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/**
 * Cisco Discovery Protocol, versions 1 and 2, behind SNAP. There is no standard; everybody follows Cisco's "Frame Formats" of CDP and
 * what its switches send.
 */

/** Multicast address of every CDP frame. Cisco devices take it in and do not forward it. */
export const CDP_DESTINATION = "01:00:0c:cc:cc:cc";
/** SNAP organization and protocol of a CDP frame. @see IEEE 802-2014 clause 9 */
export const CDP_SNAP = { organization: 0x00000c, protocol: 0x2000 } as const;

/** The capability of each bit, from the lowest on. */
export const CDP_CAPABILITIES = [
  "router", "transparent-bridge", "source-route-bridge", "switch", "host", "igmp", "repeater", "phone",
  "remotely-managed", "cvta", "two-port-relay",
] as const;

const TYPE = {
  deviceId: 1, addresses: 2, portId: 3, capabilities: 4, version: 5, platform: 6, vtpDomain: 9, nativeVlan: 10, duplex: 11,
  voiceVlanReply: 14, voiceVlanQuery: 15, powerConsumption: 16, mtu: 17, systemName: 20, managementAddresses: 22,
  powerRequested: 25, powerAvailable: 26,
} as const;

/** What one TLV says. */
export type CdpItem =
  | { readonly kind: "device-id" | "port-id" | "version" | "platform" | "vtp-domain" | "system-name"; readonly text: string }
  | { readonly kind: "addresses" | "management-addresses"; readonly addresses: readonly CdpAddress[] }
  | { readonly kind: "capabilities"; readonly bits: number }
  | { readonly kind: "native-vlan"; readonly vlanId: number }
  | { readonly kind: "duplex"; readonly isFull: boolean }
  /** `appliance`: 1 a phone. */
  | { readonly kind: "voice-vlan-reply" | "voice-vlan-query"; readonly appliance: number; readonly vlanId: number }
  | { readonly kind: "power-consumption"; readonly milliwatts: number }
  | { readonly kind: "mtu"; readonly octets: number }
  /** Levels in milliwatts: those that a device asks for, or those that a source has. */
  | {
      readonly kind: "power-requested" | "power-available";
      readonly requestId: number;
      readonly managementId: number;
      readonly levels: readonly number[];
    }
  /** Of a type that is not decoded, or of a length that this type cannot have. */
  | { readonly kind: "unknown"; readonly type: number; readonly value: Uint8Array };

/** One advertisement of one device. Its checksum is as on the wire and not checked. */
export interface CdpPdu {
  /** 1 or 2. */
  readonly version: number;
  /** 0 says that the neighbor goes away. */
  readonly ttlSeconds: number;
  readonly checksum: number;
  /** In wire order. */
  readonly items: readonly CdpItem[];
}

/** @param bytes What follows SNAP, without padding. @returns Views of `bytes`. A TLV that runs past the end is `truncated`. */
export function decodeCdp(bytes: Uint8Array): Decoded<CdpPdu> {
  const envelope = readCdpEnvelope(bytes, "cdp");
  if (!envelope.ok) return envelope;
  const { version, ttlSeconds, checksum, tlvs } = envelope.value;
  return decoded({ version, ttlSeconds, checksum, items: tlvs.map(readTlv) });
}

/** Fills the checksum. @throws PacketsError for an item that is too long. */
export function encodeCdp({ version, ttlSeconds, items }: Omit<CdpPdu, "checksum">): Uint8Array {
  return writeCdpEnvelope({ version, ttlSeconds, tlvs: items.map(encodeItem) });
}

function readTlv(tlv: CdpTlv): CdpItem {
  const reader = new Reader(tlv.value);
  const item = readItem(tlv, reader);
  return item === null || reader.failed || reader.remaining > 0 ? { kind: "unknown", ...tlv } : item;
}

function readItem({ type, value }: CdpTlv, reader: Reader): CdpItem | null {
  switch (type) {
    case TYPE.deviceId:
      return { kind: "device-id", text: decodeUtf8(reader.rest()) };
    case TYPE.portId:
      return { kind: "port-id", text: decodeUtf8(reader.rest()) };
    case TYPE.version:
      return { kind: "version", text: decodeUtf8(reader.rest()) };
    case TYPE.platform:
      return { kind: "platform", text: decodeUtf8(reader.rest()) };
    case TYPE.vtpDomain:
      return { kind: "vtp-domain", text: decodeUtf8(reader.rest()) };
    case TYPE.systemName:
      return { kind: "system-name", text: decodeUtf8(reader.rest()) };
    case TYPE.addresses:
    case TYPE.managementAddresses: {
      const addresses = readCdpAddresses(value);
      reader.rest();
      return addresses && { kind: type === TYPE.addresses ? "addresses" : "management-addresses", addresses };
    }
    default:
      return readNumbers(type, reader);
  }
}

function readNumbers(type: number, reader: Reader): CdpItem | null {
  switch (type) {
    case TYPE.capabilities:
      return { kind: "capabilities", bits: reader.u32() };
    case TYPE.nativeVlan:
      return { kind: "native-vlan", vlanId: reader.u16() };
    case TYPE.duplex:
      return { kind: "duplex", isFull: reader.u8() !== 0 };
    case TYPE.voiceVlanReply:
    case TYPE.voiceVlanQuery:
      return { kind: type === TYPE.voiceVlanReply ? "voice-vlan-reply" : "voice-vlan-query", appliance: reader.u8(), vlanId: reader.u16() };
    case TYPE.powerConsumption:
      return { kind: "power-consumption", milliwatts: reader.u16() };
    case TYPE.mtu:
      return { kind: "mtu", octets: reader.u32() };
    case TYPE.powerRequested:
    case TYPE.powerAvailable: {
      const [requestId, managementId, levels] = [reader.u16(), reader.u16(), [] as number[]];
      while (!reader.failed && reader.remaining > 0) levels.push(reader.u32());
      return { kind: type === TYPE.powerRequested ? "power-requested" : "power-available", requestId, managementId, levels };
    }
    default:
      return null;
  }
}

const TEXT_TYPES = {
  "device-id": TYPE.deviceId, "port-id": TYPE.portId, version: TYPE.version, platform: TYPE.platform, "vtp-domain": TYPE.vtpDomain,
  "system-name": TYPE.systemName,
} as const;

function encodeItem(item: CdpItem): CdpTlv {
  switch (item.kind) {
    case "addresses":
    case "management-addresses":
      return { type: item.kind === "addresses" ? TYPE.addresses : TYPE.managementAddresses, value: writeCdpAddresses(item.addresses) };
    case "capabilities":
      return { type: TYPE.capabilities, value: new Writer().u32(item.bits).finish() };
    case "native-vlan":
      return { type: TYPE.nativeVlan, value: new Writer().u16(item.vlanId).finish() };
    case "duplex":
      return { type: TYPE.duplex, value: Uint8Array.of(item.isFull ? 1 : 0) };
    case "voice-vlan-reply":
    case "voice-vlan-query": {
      const type = item.kind === "voice-vlan-reply" ? TYPE.voiceVlanReply : TYPE.voiceVlanQuery;
      return { type, value: new Writer().u8(item.appliance).u16(item.vlanId).finish() };
    }
    case "power-consumption":
      return { type: TYPE.powerConsumption, value: new Writer().u16(item.milliwatts).finish() };
    case "mtu":
      return { type: TYPE.mtu, value: new Writer().u32(item.octets).finish() };
    case "power-requested":
    case "power-available": {
      const writer = new Writer().u16(item.requestId).u16(item.managementId);
      for (const level of item.levels) writer.u32(level);
      return { type: item.kind === "power-requested" ? TYPE.powerRequested : TYPE.powerAvailable, value: writer.finish() };
    }
    case "unknown":
      return item;
    case "device-id":
    case "port-id":
    case "version":
    case "platform":
    case "vtp-domain":
    case "system-name":
    default:
      return { type: TEXT_TYPES[item.kind], value: encodeUtf8(item.text) };
  }
}
