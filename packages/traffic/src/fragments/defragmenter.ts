import { decodeIpv6, type Frame, IP_PROTOCOL } from "@lanthorn/packets";
import { KeyIndex, IPV4_BIT, KEY_AT } from "../tables/key-index.ts";
import { IdleLists } from "../tables/idle-lists.ts";
import { int32 } from "../flows/packet-facts.ts";
import { Datagram, type FragmentFault } from "./datagram.ts";

/** What may wait for its other fragments. */
export interface FragmentLimits {
  readonly maxDatagrams: number;
  readonly maxBytes: number;
  /** From the first fragment on. */
  readonly seconds: number;
}

/** Linux's 4 MB and 30 s. @see https://docs.kernel.org/networking/ip-sysctl.html, ipfrag_high_thresh and ipfrag_time */
export const FRAGMENT_LIMITS: FragmentLimits = { maxDatagrams: 4096, maxBytes: 4 * 1024 * 1024, seconds: 30 };

/** What came of the fragments. */
export interface FragmentCounters {
  readonly fragments: number;
  /** Datagrams that were put together. */
  readonly whole: number;
  /** Fragments of IPv4 that overlapped others: the bytes that came first stayed. */
  readonly overlaps: number;
  /** Datagrams that waited too long. */
  readonly timedOut: number;
  /** Datagrams that had to go before their time. */
  readonly evicted: number;
  /** Fragments that the snap length had cut, or whose header is wrong. */
  readonly unusable: number;
  /** Datagrams that were given up, by reason. */
  readonly faults: Readonly<Record<FragmentFault, number>>;
  readonly waiting: number;
  readonly heldBytes: number;
}

/** A datagram that is whole. */
export interface WholePacket {
  /** From the IP header on, which says nothing of fragments any more. IPv6's extension headers before the fragments' are left out. */
  readonly bytes: Uint8Array;
  readonly isIpv4: boolean;
  /** Of all fragments but the last one to come. */
  readonly earlierFrames: number;
  readonly earlierWireBytes: number;
}

interface Fragment {
  readonly identification: number;
  readonly header: Uint8Array;
  /** What the payload is. */
  readonly protocol: number;
  readonly payload: Uint8Array;
}

const IPV4_HEADER_LENGTH = 20;
const IPV6_HEADER_LENGTH = 40;

/** Puts fragments together. */
export interface Defragmenter {
  /**
   * Takes a frame for which `moreFragments` or `fragmentOffset` says that it is one.
   * @returns The whole when this was the last of it; null while others are missing; `cut` where the capture has not all of this one.
   */
  add(frame: Frame, wireBytes: number, network: number, at: number): WholePacket | "cut" | null;
  /** Gives up what has waited too long. @param at Packet time in microseconds. */
  expire(at: number): void;
  counters(): FragmentCounters;
}

/** Puts fragments of IPv4 and IPv6 together, within limits. @param random From 0 to below 1: keys the hashes. */
export function createDefragmenter(limits: FragmentLimits, random: () => number): Defragmenter {
  const index = new KeyIndex(limits.maxDatagrams, random);
  const lists = new IdleLists(1);
  const datagrams: (Datagram | undefined)[] = [];
  const faults: Record<FragmentFault, number> = { overlap: 0, "too-long": 0, inconsistent: 0, "too-many-pieces": 0 };
  let [fragments, whole, overlaps, timedOut, evicted, unusable, heldBytes] = [0, 0, 0, 0, 0, 0, 0];

  function remove(entry: number): void {
    heldBytes -= datagrams[entry]?.heldBytes ?? 0;
    datagrams[entry] = undefined;
    lists.remove(entry);
    index.remove(entry);
  }

  function evictOldest(): void {
    const oldest = lists.last(0);
    if (oldest < 0) return;
    evicted += 1;
    remove(oldest);
  }

  function open(isIpv4: boolean, at: number): number {
    if (index.isFull) evictOldest();
    const entry = index.add();
    datagrams[entry] = new Datagram(isIpv4, at);
    lists.add(entry, 0);
    return entry;
  }

  function take(datagram: Datagram, frame: Frame, fragment: Fragment): void {
    const before = datagram.heldBytes;
    if (frame.fragmentOffset === 0 && datagram.header === null) {
      datagram.header = fragment.header.slice();
      datagram.protocol = fragment.protocol;
    }
    if (datagram.add(frame.fragmentOffset, fragment.payload, !frame.moreFragments)) overlaps += 1;
    if (datagram.fault !== null) faults[datagram.fault] += 1;
    heldBytes += datagram.heldBytes - before;
  }

  return {
    add(frame, wireBytes, network, at) {
      fragments += 1;
      const isIpv4 = frame.network === "ipv4";
      const fragment = isIpv4 ? readIpv4Fragment(frame) : readIpv6Fragment(frame);
      if (fragment === null || !isUsable(fragment, frame)) {
        unusable += 1;
        return fragment === null ? "cut" : null;
      }
      fillKey(index.key, frame, isIpv4 ? frame.ipProtocol | IPV4_BIT : IP_PROTOCOL.fragment, fragment.identification, network);
      let entry = index.find();
      if (entry < 0) entry = open(isIpv4, at);
      const datagram = datagrams[entry] as Datagram;
      datagram.frames += 1;
      datagram.wireBytes += wireBytes;
      if (datagram.fault !== null) return null;
      take(datagram, frame, fragment);
      if (!datagram.isWhole) {
        while (heldBytes > limits.maxBytes) evictOldest();
        return null;
      }
      whole += 1;
      remove(entry);
      return {
        bytes: joinDatagram(datagram), isIpv4, earlierFrames: datagram.frames - 1, earlierWireBytes: datagram.wireBytes - wireBytes,
      };
    },
    expire(at) {
      const before = at - limits.seconds * 1e6;
      for (let entry = lists.last(0); entry >= 0 && (datagrams[entry]?.startedAt ?? 0) < before; entry = lists.last(0)) {
        if (datagrams[entry]?.fault === null) timedOut += 1;
        remove(entry);
      }
    },
    counters: () => ({ fragments, whole, overlaps, timedOut, evicted, unusable, faults: { ...faults }, waiting: index.size, heldBytes }),
  };
}

/** All but the last have a multiple of eight bytes. @see RFC 791 section 3.2, RFC 8200 section 4.5 */
function isUsable({ payload }: Fragment, { moreFragments }: Frame): boolean {
  return payload.length > 0 && (!moreFragments || payload.length % 8 === 0);
}

function fillKey(key: Int32Array, frame: Frame, protocol: number, identification: number, network: number): void {
  const words = frame.ipLength / 4;
  for (let word = 0; word < 4; word += 1) {
    key[KEY_AT.low + word] = word < words ? int32(frame.bytes, frame.sourceIpOffset + word * 4) : 0;
    key[KEY_AT.high + word] = word < words ? int32(frame.bytes, frame.sourceIpOffset + frame.ipLength + word * 4) : 0;
  }
  key[KEY_AT.ports] = identification;
  key[KEY_AT.protocol] = protocol;
  key[KEY_AT.vlans] = frame.vlanTags[0]?.vlanId ?? -1;
  key[KEY_AT.network] = network;
}

/** @returns Null where the capture has not all of it. */
function readIpv4Fragment(frame: Frame): Fragment | null {
  const { bytes, networkOffset, networkEnd } = frame;
  const headerLength = ((bytes[networkOffset] as number) & 0x0f) * 4;
  const length = ((bytes[networkOffset + 2] as number) << 8) | (bytes[networkOffset + 3] as number);
  if (length !== networkEnd - networkOffset) return null;
  return {
    identification: ((bytes[networkOffset + 4] as number) << 8) | (bytes[networkOffset + 5] as number),
    header: bytes.subarray(networkOffset, networkOffset + headerLength), protocol: bytes[networkOffset + 9] as number,
    payload: bytes.subarray(networkOffset + headerLength, networkEnd),
  };
}

/** @returns Null where the capture has not all of it. */
function readIpv6Fragment(frame: Frame): Fragment | null {
  const packet = decodeIpv6(frame.networkBytes);
  if (!packet.ok) return null;
  const header = packet.value.extensionHeaders.find(({ type }) => type === IP_PROTOCOL.fragment)?.bytes;
  if (!header) return null;
  // What the first fragment has behind its header belongs to what is put together: other extension headers too.
  const start = header.byteOffset + header.length - frame.bytes.byteOffset;
  return {
    identification: int32(header, 4), header: frame.bytes.subarray(frame.networkOffset, frame.networkOffset + IPV6_HEADER_LENGTH),
    protocol: header[0] as number, payload: frame.bytes.subarray(start, frame.networkEnd),
  };
}

function joinDatagram(datagram: Datagram): Uint8Array {
  const header = datagram.header ?? new Uint8Array(datagram.isIpv4 ? IPV4_HEADER_LENGTH : IPV6_HEADER_LENGTH);
  const bytes = new Uint8Array(header.length + datagram.length);
  bytes.set(header);
  datagram.join(bytes.subarray(header.length));
  const length = datagram.isIpv4 ? Math.min(bytes.length, 0xffff) : datagram.length;
  const lengthAt = datagram.isIpv4 ? 2 : 4;
  bytes[lengthAt] = length >>> 8;
  bytes[lengthAt + 1] = length & 0xff;
  if (datagram.isIpv4) bytes.fill(0, 6, 8);
  else bytes[6] = datagram.protocol;
  return bytes;
}
