import { createFrameCursor, type FrameBlock, type FrameView } from "@lanthorn/packet-io";

/** What of a frame says who speaks: `arp` has addresses too. */
export type NetworkKind = "none" | "ipv4" | "ipv6" | "arp";

/** A frame with the place of its network layer. Its fields change with each frame. */
export interface HeaderView extends FrameView {
  readonly kind: NetworkKind;
  /** Where the network layer begins in `bytes`; 0 for `none`. */
  readonly networkAt: number;
  /** Which frame of its block it is, from 0. */
  readonly index: number;
}

/** Frames of blocks, each decoded once however many look at it, and not at all while nobody does. */
export interface FrameHeaders {
  /** Calls back for each frame from `first` on. @param visit Returns false to stop; the view is good during the call. @returns Where it stopped: the index of that frame, or the number of frames. */
  visit(block: FrameBlock, first: number, visit: (frame: HeaderView) => boolean): number;
}

const KINDS: readonly NetworkKind[] = ["none", "ipv4", "ipv6", "arp"];
const [NONE, IPV4, IPV6, ARP] = [0, 1, 2, 3] as const;
const MAC_OCTETS = 12;
const MAX_TAGS = 4;
const IPV4_OCTETS = 20;
const IPV6_OCTETS = 40;
const ARP_OCTETS = 28;

/** Keeps what it read of the last block. */
export function createFrameHeaders(): FrameHeaders {
  const cursor = createFrameCursor();
  let last: FrameBlock | null = null;
  let kinds = new Uint8Array(1024);
  let places = new Uint32Array(1024);
  let decoded = 0;
  const view = {
    bytes: Buffer.alloc(0) as Buffer, offset: 0, length: 0, wireLength: 0, seconds: 0, nanoseconds: 0, isOutgoing: false,
    kind: "none" as NetworkKind, networkAt: 0, index: 0,
  };

  function decode(index: number): void {
    if (index >= kinds.length) {
      kinds = grow(kinds, new Uint8Array(kinds.length * 2));
      places = grow(places, new Uint32Array(places.length * 2));
    }
    let at = cursor.offset + MAC_OCTETS;
    const end = cursor.offset + cursor.length;
    const { bytes } = cursor;
    let type = 0;
    for (let tag = 0; tag <= MAX_TAGS && at + 2 <= end; tag += 1) {
      type = bytes.readUInt16BE(at);
      at += 2;
      if (type !== 0x8100 && type !== 0x88a8 && type !== 0x9100) break;
      at += 2;
    }
    const left = end - at;
    const kind = type === 0x0800 && left >= IPV4_OCTETS ? IPV4 : type === 0x86dd && left >= IPV6_OCTETS ? IPV6
      : type === 0x0806 && left >= ARP_OCTETS && isArpOfIpv4(bytes, at) ? ARP : NONE;
    kinds[index] = kind;
    places[index] = kind === NONE ? 0 : at;
    decoded = index + 1;
  }

  return {
    visit(block, first, visit) {
      if (block !== last) {
        last = block;
        decoded = 0;
      }
      cursor.start(block);
      let index = 0;
      for (; cursor.next(); index += 1) {
        if (index >= decoded) decode(index);
        if (index < first) continue;
        view.bytes = cursor.bytes;
        view.offset = cursor.offset;
        view.length = cursor.length;
        view.wireLength = cursor.wireLength;
        view.seconds = cursor.seconds;
        view.nanoseconds = cursor.nanoseconds;
        view.isOutgoing = cursor.isOutgoing;
        view.kind = KINDS[kinds[index] as number] as NetworkKind;
        view.networkAt = places[index] as number;
        view.index = index;
        if (!visit(view)) return index;
      }
      return index;
    },
  };
}

/** Ethernet and IPv4, the only ones whose addresses lie where ours are looked for. @see RFC 826 */
function isArpOfIpv4(bytes: Buffer, at: number): boolean {
  return bytes.readUInt16BE(at) === 1 && bytes.readUInt16BE(at + 2) === 0x0800 && bytes[at + 4] === 6 && bytes[at + 5] === 4;
}

function grow<T extends Uint8Array | Uint32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
