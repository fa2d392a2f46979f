/** One IP datagram that comes in fragments. */

/** Why a datagram is given up. */
export type FragmentFault = "overlap" | "too-long" | "inconsistent" | "too-many-pieces";

/** The longest payload of a datagram in fragments. @see RFC 791 section 3.1, RFC 8200 section 4.5 */
const MAX_PAYLOAD_BYTES = 0xffff;
/** A datagram of the largest size in fragments of 512 bytes. Smaller ones are an attempt to keep a reassembler busy. */
const MAX_PIECES = 128;
/** What a piece costs beside its bytes. */
const PIECE_COST = 128;

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** What has come of one datagram. */
export class Datagram {
  readonly isIpv4: boolean;
  /** When its first fragment came, in microseconds. */
  readonly startedAt: number;
  /** The header of the fragment with offset 0, which the whole gets. */
  header: Uint8Array | null = null;
  /** Behind the header; of the fragment with offset 0. */
  protocol = 0;
  /** Frames and their bytes on the wire. */
  frames = 0;
  wireBytes = 0;
  /** What it costs. */
  heldBytes = 0;
  /** It has been given up: what still comes of it is dropped. */
  fault: FragmentFault | null = null;
  /** In the order of their places, without overlaps. */
  private pieces: Piece[] = [];
  private covered = 0;
  private total = -1;

  constructor(isIpv4: boolean, startedAt: number) {
    this.isIpv4 = isIpv4;
    this.startedAt = startedAt;
  }

  /** Whether all has come. */
  get isWhole(): boolean {
    return this.header !== null && this.covered === this.total;
  }

  /**
   * Takes one fragment; its bytes are copied. Where two IPv4 fragments overlap, the bytes that came first stay. IPv6 fragments must not:
   * the datagram is given up, unless one is but repeated.
   * @returns Whether it overlapped another one.
   * @see RFC 5722
   */
  add(start: number, bytes: Uint8Array, isLast: boolean): boolean {
    const end = start + bytes.length;
    if (end > MAX_PAYLOAD_BYTES) return this.giveUp("too-long");
    const farthest = this.pieces.at(-1)?.end ?? 0;
    if (isLast && ((this.total >= 0 && this.total !== end) || farthest > end)) return this.giveUp("inconsistent");
    if (isLast) this.total = end;
    else if (this.total >= 0 && end > this.total) return this.giveUp("inconsistent");
    if (this.pieces.length >= MAX_PIECES) return this.giveUp("too-many-pieces");
    const [isOverlap, isRepeated] = this.insert(start, end, bytes);
    if (isOverlap && !this.isIpv4 && !isRepeated) this.giveUp("overlap");
    return isOverlap && !isRepeated;
  }

  /** The payload of the whole. */
  join(into: Uint8Array): void {
    for (const { start, bytes } of this.pieces) into.set(bytes, start);
  }

  /** Of the payload of the whole. */
  get length(): number {
    return this.total;
  }

  private giveUp(fault: FragmentFault): false {
    this.fault = fault;
    this.pieces = [];
    this.header = null;
    this.heldBytes = 0;
    return false;
  }

  /** Puts in what no piece has yet. @returns Whether some was there, and whether the very same piece was. */
  private insert(start: number, end: number, bytes: Uint8Array): readonly [boolean, boolean] {
    const kept: Piece[] = [];
    let [at, isOverlap, isRepeated] = [start, false, false];
    const take = (from: number, to: number) => {
      if (to <= from) return;
      kept.push({ start: from, end: to, bytes: bytes.slice(from - start, to - start) });
      this.covered += to - from;
      this.heldBytes += to - from + PIECE_COST;
    };
    for (const piece of this.pieces) {
      if (piece.end > at && piece.start < end) {
        isOverlap = true;
        if (piece.start === start && piece.end === end) isRepeated = piece.bytes.every((byte, index) => byte === bytes[index]);
        take(at, piece.start);
        at = Math.max(at, piece.end);
      } else if (piece.start >= end) {
        take(at, end);
        at = Math.max(at, end);
      }
      kept.push(piece);
    }
    take(at, end);
    this.pieces = kept;
    return [isOverlap, isRepeated];
  }
}
