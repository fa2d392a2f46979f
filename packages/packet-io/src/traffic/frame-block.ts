/**
 * Frames in memory, in the layout in which the kernel's ring gives them: a `struct tpacket3_hdr`, a `struct sockaddr_ll`, a gap, the frame.
 * @see linux/if_packet.h, packet(7)
 */

/** Frames in one stretch of memory, one record after the other. */
export interface FrameBlock {
  /** The receiver's own from the call on, in the memory that its `allocate` gave. */
  readonly bytes: Buffer;
  /** Of the first record in `bytes`. */
  readonly offset: number;
  /** Behind the last record. */
  readonly end: number;
  readonly frames: number;
}

/** What a writer or a decoder needs to know of the frame at which a cursor stands. */
export interface FrameView {
  /** Holds the frame from `offset` on, from its destination address, VLAN tags in place. */
  readonly bytes: Buffer;
  readonly offset: number;
  /** Octets that were kept. */
  readonly length: number;
  /** Octets on the wire; more than `length` where the snap length cut the frame. */
  readonly wireLength: number;
  /** When the kernel saw it: seconds since the epoch. */
  readonly seconds: number;
  /** 0 to 999,999,999, to be added to `seconds`. */
  readonly nanoseconds: number;
  /** This host sent it. */
  readonly isOutgoing: boolean;
}

/** Walks blocks without making an object for a frame: its own fields change with each step. */
export interface FrameCursor extends FrameView {
  /** Goes to the next frame. @returns False where there is none; the fields are then those of the last one. */
  next(): boolean;
  /** Stands before the first frame of a block, so that one cursor serves all blocks. */
  start(block: FrameBlock): void;
}

/** Records begin at multiples of this, where the memory that `allocate` gave does. */
export const RECORD_ALIGNMENT = 8;

/** `struct tpacket3_hdr`, then `struct sockaddr_ll`: the fields that are read here. */
const NEXT_AT = 0;
const SECONDS_AT = 4;
const NANOSECONDS_AT = 8;
const KEPT_AT = 12;
const WIRE_AT = 16;
const STATUS_AT = 20;
const FRAME_AT = 24;
const VLAN_TCI_AT = 32;
const VLAN_TPID_AT = 36;
const PACKET_TYPE_AT = 58;
/** TPACKET3_HDRLEN: no frame begins before. */
const HEADER_OCTETS = 68;
const TP_STATUS_VLAN_VALID = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID = 1 << 6;
const PACKET_OUTGOING = 4;
const MAC_OCTETS = 12;
const TAG_OCTETS = 4;
const TPID_8021Q = 0x8100;
/** Where a frame lies in records of our own: room for the header, and for a tag that nobody needs any more. */
const OWN_FRAME_AT = 72;

/**
 * A cursor that stands before the first frame of a block, or before nothing.
 *
 * It stops before a record that does not fit, so a damaged block ends early. A VLAN tag that the kernel took off is put back into the
 * block's memory when the cursor first comes by.
 */
export function createFrameCursor(block?: FrameBlock): FrameCursor {
  const cursor = new BlockCursor();
  if (block) cursor.start(block);
  return cursor;
}

/** A class, whose methods are the same functions for each cursor: V8 compiles them into who calls them. */
class BlockCursor implements FrameCursor {
  bytes = Buffer.alloc(0) as Buffer;
  offset = 0;
  length = 0;
  wireLength = 0;
  seconds = 0;
  nanoseconds = 0;
  isOutgoing = false;
  private view = new DataView(new ArrayBuffer(0)) as DataView;
  private at = 0;
  private end = 0;
  private left = 0;

  start(next: FrameBlock): void {
    const { bytes } = next;
    // Blocks lie in few stretches of memory: a view is made only where the stretch is another one.
    if (bytes !== this.bytes) {
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      this.bytes = bytes;
    }
    this.at = next.offset;
    this.end = Math.min(next.end, bytes.length);
    this.left = next.frames;
  }

  next(): boolean {
    // Values that do not change: V8 looks once at what they are, and not at each read.
    const [record, end, from] = [this.at, this.end, this.view];
    if (this.left <= 0 || record < 0 || record + HEADER_OCTETS > end) return false;
    if ((from.getUint32(record + STATUS_AT, true) & TP_STATUS_VLAN_VALID) !== 0) restoreTag(from, record, end);
    const offset = record + from.getUint16(record + FRAME_AT, true);
    const length = from.getUint32(record + KEPT_AT, true);
    if (offset < record + HEADER_OCTETS - TAG_OCTETS || offset + length > end) {
      this.left = 0;
      return false;
    }
    this.offset = offset;
    this.length = length;
    this.wireLength = from.getUint32(record + WIRE_AT, true);
    this.seconds = from.getUint32(record + SECONDS_AT, true);
    this.nanoseconds = from.getUint32(record + NANOSECONDS_AT, true);
    this.isOutgoing = from.getUint8(record + PACKET_TYPE_AT) === PACKET_OUTGOING;
    const step = from.getUint32(record + NEXT_AT, true);
    this.left = step === 0 ? 0 : this.left - 1;
    this.at = record + step;
    return true;
  }
}

/** Moves the two addresses four octets down, into the room that the ring leaves there, and writes the tag behind them. */
function restoreTag(view: DataView, record: number, end: number): void {
  const status = view.getUint32(record + STATUS_AT, true);
  view.setUint32(record + STATUS_AT, status & ~TP_STATUS_VLAN_VALID, true);
  const from = view.getUint16(record + FRAME_AT, true);
  const kept = view.getUint32(record + KEPT_AT, true);
  if (kept < MAC_OCTETS || from < HEADER_OCTETS || record + from + MAC_OCTETS > end) return;
  const to = from - TAG_OCTETS;
  const { buffer, byteOffset } = view;
  new Uint8Array(buffer, byteOffset + record, from + MAC_OCTETS).copyWithin(to, from, from + MAC_OCTETS);
  const hasTpid = (status & TP_STATUS_VLAN_TPID_VALID) !== 0;
  view.setUint16(record + to + MAC_OCTETS, hasTpid ? view.getUint16(record + VLAN_TPID_AT, true) : TPID_8021Q);
  view.setUint16(record + to + MAC_OCTETS + 2, view.getUint32(record + VLAN_TCI_AT, true));
  view.setUint16(record + FRAME_AT, to, true);
  view.setUint32(record + KEPT_AT, kept + TAG_OCTETS, true);
  view.setUint32(record + WIRE_AT, view.getUint32(record + WIRE_AT, true) + TAG_OCTETS, true);
}

/** A frame that is to be put into a block. */
export interface BlockFrame {
  readonly bytes: Uint8Array;
  readonly seconds: number;
  readonly nanoseconds: number;
  /** `bytes.length` where it is left out. */
  readonly wireLength?: number;
  readonly isOutgoing?: boolean;
}

/** Octets that a frame of so many octets takes in a block. */
export function recordOctets(length: number): number {
  return Math.ceil((OWN_FRAME_AT + length) / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
}

/**
 * Writes a frame as a record of the kernel's layout, for readers other than the ring.
 * @param at Has room for `recordOctets` of it.
 * @returns Behind the record.
 */
export function putRecord(into: Buffer, at: number, frame: BlockFrame): number {
  const { bytes } = frame;
  const octets = recordOctets(bytes.length);
  into.fill(0, at, at + OWN_FRAME_AT);
  into.writeUInt32LE(octets, at + NEXT_AT);
  into.writeUInt32LE(frame.seconds, at + SECONDS_AT);
  into.writeUInt32LE(frame.nanoseconds, at + NANOSECONDS_AT);
  into.writeUInt32LE(bytes.length, at + KEPT_AT);
  into.writeUInt32LE(frame.wireLength ?? bytes.length, at + WIRE_AT);
  into.writeUInt16LE(OWN_FRAME_AT, at + FRAME_AT);
  if (frame.isOutgoing) into.writeUInt8(PACKET_OUTGOING, at + PACKET_TYPE_AT);
  into.set(bytes, at + OWN_FRAME_AT);
  return at + octets;
}

/** A block of these frames in memory of its own: for frames that come from elsewhere than an interface. */
export function encodeFrameBlock(frames: readonly BlockFrame[]): FrameBlock {
  const bytes = Buffer.alloc(frames.reduce((sum, frame) => sum + recordOctets(frame.bytes.length), 0));
  let end = 0;
  for (const frame of frames) end = putRecord(bytes, end, frame);
  return { bytes, offset: 0, end, frames: frames.length };
}
