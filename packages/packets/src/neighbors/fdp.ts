import { type CdpAddress, type CdpTlv, readCdpAddresses, readCdpEnvelope, writeCdpAddresses, writeCdpEnvelope } from "./cdp-tlvs.ts";
import { decoded, type Decoded } from "../decoded.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";

/** Foundry Discovery Protocol, of Foundry's and Brocade's switches: CDP's frame, but with the capability as a word. */

/** Multicast address of every FDP frame. */
export const FDP_DESTINATION = "01:e0:52:cc:cc:cc";
/** SNAP organization and protocol of an FDP frame. @see IEEE 802-2014 clause 9 */
export const FDP_SNAP = { organization: 0x00e052, protocol: 0x2000 } as const;

const TEXT_TYPES = { "device-id": 1, "port-id": 3, capability: 4, version: 5, platform: 6 } as const;
const ADDRESSES = 2;

/** What one TLV says. */
export type FdpItem =
  /** A capability is `Router`, `Switch`, `Bridge` or another word. */
  | { readonly kind: keyof typeof TEXT_TYPES; readonly text: string }
  | { readonly kind: "addresses"; readonly addresses: readonly CdpAddress[] }
  /** Of a type that is not decoded (a map of VLANs, a tag), or of a length that this type cannot have. */
  | { readonly kind: "unknown"; readonly type: number; readonly value: Uint8Array };

/** One advertisement of one device. Its checksum is as on the wire and not checked. */
export interface FdpPdu {
  readonly version: number;
  readonly ttlSeconds: number;
  readonly checksum: number;
  /** In wire order. */
  readonly items: readonly FdpItem[];
}

const TEXT_KINDS = new Map(Object.entries(TEXT_TYPES).map(([kind, type]) => [type as number, kind as keyof typeof TEXT_TYPES]));

/** @param bytes What follows SNAP, without padding. @returns Views of `bytes`. A TLV that runs past the end is `truncated`. */
export function decodeFdp(bytes: Uint8Array): Decoded<FdpPdu> {
  const envelope = readCdpEnvelope(bytes, "fdp");
  if (!envelope.ok) return envelope;
  const { version, ttlSeconds, checksum, tlvs } = envelope.value;
  return decoded({ version, ttlSeconds, checksum, items: tlvs.map(readTlv) });
}

/** Fills the checksum. @throws PacketsError for an item that is too long. */
export function encodeFdp({ version, ttlSeconds, items }: Omit<FdpPdu, "checksum">): Uint8Array {
  return writeCdpEnvelope({ version, ttlSeconds, tlvs: items.map(encodeItem) });
}

function readTlv(tlv: CdpTlv): FdpItem {
  const kind = TEXT_KINDS.get(tlv.type);
  if (kind) return { kind, text: decodeUtf8(tlv.value) };
  const addresses = tlv.type === ADDRESSES ? readCdpAddresses(tlv.value) : null;
  return addresses ? { kind: "addresses", addresses } : { kind: "unknown", ...tlv };
}

function encodeItem(item: FdpItem): CdpTlv {
  if (item.kind === "unknown") return item;
  if (item.kind === "addresses") return { type: ADDRESSES, value: writeCdpAddresses(item.addresses) };
  return { type: TEXT_TYPES[item.kind], value: encodeUtf8(item.text) };
}
