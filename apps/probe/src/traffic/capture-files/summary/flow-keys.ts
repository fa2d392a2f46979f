import { decodeFrame, ETHER_TYPE, type Frame, isLinkType, LINK_TYPE } from "@lanthorn/packets";
import type { FrameView } from "@lanthorn/packet-io";

/**
 * Which flow a frame is of, as words that a table compares: the address of the one end in words 0 to 3, of the other in 4 to 7, both
 * ports in word 8, and in word 9 what the addresses are and the protocol, 0 where nothing could be read. The lower end comes first, so that both directions are one flow.
 */
export type FlowKey = Uint32Array;

/** Words of a key. */
export const KEY_WORDS = 10;
/** Word 9: the two addresses are MACs, of frames without IP; the lower half is the EtherType. */
export const FAMILY_MAC = 0x1_0000;
/** Word 9: IPv4; the lower half is the IP protocol. */
export const FAMILY_IPV4 = 0x2_0000;
/** Word 9: IPv6; the lower half is the next header. */
export const FAMILY_IPV6 = 0x3_0000;
/** In the lower half of word 9: ARP, whose ends are the IPv4 addresses in it. No IP protocol has this number. */
export const PROTOCOL_ARP = 0x100;

/** The ports of a key, before which the addresses are, and what these are. */
const PORTS_AT = 8;
const FAMILY_AT = 9;

/** Reads the key of one frame after the other into the same words. */
export interface FlowKeyReader {
  readonly key: FlowKey;
  /** Fills `key`. @returns Whether the sender is the first of the two ends. */
  read(frame: FrameView): boolean;
}

/** @param linkType What frames begin with; 1 is Ethernet. */
export function createFlowKeyReader(linkType = 1): FlowKeyReader {
  const key = new Uint32Array(KEY_WORDS);
  let memory: Uint8Array | null = null;
  let view = new DataView(new ArrayBuffer(0)) as DataView;

  function isPlain(frame: FrameView): boolean {
    // Frames lie in few stretches of memory: a view is made only for another one.
    if (frame.bytes !== memory) {
      memory = frame.bytes;
      view = new DataView(memory.buffer, memory.byteOffset, memory.length);
    }
    return readPlain(view, frame.offset, frame.length, key);
  }

  return {
    key,
    read(frame) {
      if (linkType !== LINK_TYPE.ethernet || !isPlain(frame)) readDecoded(frame, linkType, key);
      return order(key);
    },
  };
}

const ETHERNET_BYTES = 14;
const IPV4_BYTES = 20;
const IPV6_BYTES = 40;
const TCP = 6;
const UDP = 17;

/**
 * What nearly all frames are, at fixed places: Ethernet with at most one VLAN tag, IP without options or extensions, TCP or UDP. It runs
 * for each frame that is written, and a decoded frame costs five times as much.
 * @returns False for any other frame.
 */
function readPlain(view: DataView, offset: number, length: number, key: FlowKey): boolean {
  let at = offset + ETHERNET_BYTES;
  const end = offset + length;
  if (end - at < IPV4_BYTES + 4) return false;
  let type = view.getUint16(at - 2);
  if (type === ETHER_TYPE.vlan) {
    type = view.getUint16(at + 2);
    at += 4;
  }
  if (type === ETHER_TYPE.ipv4) {
    if (end - at < IPV4_BYTES + 4 || view.getUint8(at) !== 0x45 || (view.getUint16(at + 6) & 0x3fff) !== 0) return false;
    const protocol = view.getUint8(at + 9);
    if (protocol !== TCP && protocol !== UDP) return false;
    key[0] = view.getUint32(at + 12);
    key[4] = view.getUint32(at + 16);
    key[1] = key[2] = key[3] = key[5] = key[6] = key[7] = 0;
    key[8] = view.getUint32(at + IPV4_BYTES);
    key[9] = FAMILY_IPV4 | protocol;
    return true;
  }
  if (type !== ETHER_TYPE.ipv6 || end - at < IPV6_BYTES + 4) return false;
  const protocol = view.getUint8(at + 6);
  if (view.getUint8(at) >>> 4 !== 6 || (protocol !== TCP && protocol !== UDP)) return false;
  for (let index = 0; index < 8; index += 1) key[index] = view.getUint32(at + 8 + 4 * index);
  key[8] = view.getUint32(at + IPV6_BYTES);
  key[9] = FAMILY_IPV6 | protocol;
  return true;
}

function readDecoded(frame: FrameView, linkType: number, key: FlowKey): void {
  key.fill(0);
  if (!isLinkType(linkType)) return;
  const bytes = frame.bytes.subarray(frame.offset, frame.offset + frame.length);
  const decoded = decodeFrame(bytes, { linkType, wireLength: frame.wireLength });
  if (decoded.ok) fill(decoded.value, key);
}

function fill(fields: Frame, key: FlowKey): void {
  const { bytes, ipLength, sourceIpOffset, sourceMacOffset, destinationMacOffset } = fields;
  if (ipLength > 0) {
    for (let index = 0; index < ipLength / 4; index += 1) {
      key[index] = word(bytes, sourceIpOffset + 4 * index);
      key[4 + index] = word(bytes, sourceIpOffset + ipLength + 4 * index);
    }
    if (fields.sourcePort >= 0) key[8] = ((fields.sourcePort << 16) | fields.destinationPort) >>> 0;
    key[9] = (ipLength === 4 ? FAMILY_IPV4 : FAMILY_IPV6) | (fields.ipProtocol & 0xff);
    return;
  }
  if (fields.network === "arp" && fields.networkEnd - fields.networkOffset >= ARP_BYTES && isForIpv4(bytes, fields.networkOffset)) {
    key[0] = word(bytes, fields.networkOffset + 14);
    key[4] = word(bytes, fields.networkOffset + 24);
    key[9] = FAMILY_IPV4 | PROTOCOL_ARP;
    return;
  }
  if (sourceMacOffset < 0 || destinationMacOffset < 0) return;
  key[0] = word(bytes, sourceMacOffset);
  key[1] = (word(bytes, sourceMacOffset + 2) << 16) >>> 0;
  key[4] = word(bytes, destinationMacOffset);
  key[5] = (word(bytes, destinationMacOffset + 2) << 16) >>> 0;
  key[9] = FAMILY_MAC | (fields.etherType & 0xffff);
}

const ARP_BYTES = 28;

/** Addresses of 6 and 4 octets, and protocol 0x0800. @see RFC 826 */
function isForIpv4(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 2] === 8 && bytes[at + 3] === 0 && bytes[at + 4] === 6 && bytes[at + 5] === 4;
}

/** Four octets, the first one highest; what is beyond the end reads as 0. */
function word(bytes: Uint8Array, at: number): number {
  return (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
}

/** Puts the lower end first. @returns Whether the sender is it. */
function order(key: FlowKey): boolean {
  const ports = key[8] as number;
  let difference = 0;
  for (let index = 0; index < 4 && difference === 0; index += 1) difference = (key[index] as number) - (key[4 + index] as number);
  if (difference === 0) difference = (ports >>> 16) - (ports & 0xffff);
  if (difference <= 0) return true;
  for (let index = 0; index < 4; index += 1) {
    const held = key[index] as number;
    key[index] = key[4 + index] as number;
    key[4 + index] = held;
  }
  key[8] = ((ports << 16) | (ports >>> 16)) >>> 0;
  return false;
}

/** @returns Whether `key` lies at `at` of `keys`. */
export function isKeyAt(keys: Uint32Array, at: number, key: FlowKey): boolean {
  for (let index = 0; index < KEY_WORDS; index += 1) if (keys[at + index] !== key[index]) return false;
  return true;
}

/** Mixes all words, so that addresses that follow each other are spread. @see MurmurHash3, its finalizer */
export function hashOfKey(key: FlowKey): number {
  let hash = 0;
  // Of the words of IPv4 only every fourth is not 0.
  const step = ((key[FAMILY_AT] as number) & 0xf_0000) === FAMILY_IPV4 ? 4 : 1;
  for (let index = 0; index < KEY_WORDS; index += index < PORTS_AT ? step : 1) {
    hash = Math.imul(hash ^ (key[index] as number), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
