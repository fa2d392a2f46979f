/** Writes frames as enhanced packet blocks into memory that there is. @see draft-ietf-opsawg-pcapng 4.3 */
import type { ByteOrder } from "./capture-file-order.ts";
import { ENHANCED_PACKET_BLOCK } from "./pcapng-blocks.ts";
import type { CaptureTime } from "./pcapng-time.ts";
import { countOption, encodeOptions, OPTION_COMMENT, type PcapngOption, textOption } from "./pcapng-options.ts";

/** A frame that lies in a longer stretch of memory; `FrameCursor` of @lanthorn/packet-io is one. */
export interface PlacedFrame {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly length: number;
  readonly wireLength: number;
  readonly seconds: number;
  readonly nanoseconds: number;
  /** Left out: not known, and not written. */
  readonly isOutgoing?: boolean;
}

/** What is written of a frame beside itself. Where many frames are written, all properties are better there: to look for one that is not costs V8 a search. */
export interface PacketFacts {
  /** 0 unless given. */
  readonly interfaceId?: number;
  readonly comment?: string | undefined;
  /** Frames that are missing between the one before on this interface and this one. */
  readonly missing?: number | undefined;
}

const HEAD_OCTETS = 28;
const OPTION_FLAGS = 2;
const OPTION_DROP_COUNT = 4;
const FLAGS_OCTETS = 8;
const END_OCTETS = 4;
const TRAILER_OCTETS = 4;
const INBOUND = 1;
const OUTBOUND = 2;
/** Longer ones are copied by the engine: within one stretch of memory, or by a view of the frame, which costs as much as two hundred octets. */
const SHORT_OCTETS = { within: 96, between: 192 } as const;
const TWO_TO_16 = 0x1_0000;
const TWO_TO_32 = 0x1_0000_0000;

const NO_FACTS: PacketFacts = { interfaceId: 0, comment: undefined, missing: undefined };

/** Writes enhanced packet blocks, one after the other. A class, whose methods are the same functions for each file: V8 compiles them into who calls them. */
export class PacketBlockWriter {
  private readonly order: ByteOrder;
  private readonly snapLengths: readonly number[];
  private readonly time = new TimeStampWriter();
  private memory: Uint8Array | null = null;
  private source: Uint8Array | null = null;
  private view = new DataView(new ArrayBuffer(0)) as DataView;
  private sourceView = this.view;
  /** What both lie in, where they do. */
  private whole: Uint8Array | null = null;

  /** @param snapLengths Of the interfaces, in the order of their ids: frames are cut to them. */
  constructor(order: ByteOrder, snapLengths: readonly number[]) {
    this.order = order;
    this.snapLengths = snapLengths;
  }

  /** Octets that the block of a frame takes of which `length` octets are kept. */
  octets(length: number, facts: PacketFacts = NO_FACTS): number {
    return blockOctets(length, FLAGS_OCTETS + (this.encoded(facts).length || END_OCTETS));
  }

  /** @returns Behind the block, or -1 where it does not fit; nothing was written then. */
  write(into: Uint8Array, at: number, frame: PlacedFrame, facts: PacketFacts = NO_FACTS): number {
    const { interfaceId = 0 } = facts;
    const little = this.order === "little";
    const kept = Math.min(frame.length, this.snapLengths[interfaceId] ?? frame.length);
    const hasFlags = frame.isOutgoing !== undefined;
    const extra = facts.comment === undefined && facts.missing === undefined ? null : this.encoded(facts);
    const optionOctets = (hasFlags ? FLAGS_OCTETS : 0) + (extra ? extra.length : hasFlags ? END_OCTETS : 0);
    const octets = blockOctets(kept, optionOctets);
    if (at + octets > into.length) return -1;
    // Frames come from few stretches of memory and go to few: a view is made only for another one.
    if (into !== this.memory || frame.bytes !== this.source) this.look(into, frame.bytes);
    // Values that do not change: V8 looks once at what they are, and not at each write.
    const [target, sourceView, whole] = [this.view, this.sourceView, this.whole];
    target.setUint32(at, ENHANCED_PACKET_BLOCK, little);
    target.setUint32(at + 4, octets, little);
    target.setUint32(at + 8, interfaceId, little);
    this.time.put(target, at + 12, frame, little);
    target.setUint32(at + 20, kept, little);
    target.setUint32(at + 24, frame.wireLength, little);
    let end = at + HEAD_OCTETS;
    // The padding first: the last octets of the frame come over it.
    if ((kept & 3) !== 0) target.setUint32(end + (kept & ~3), 0, little);
    if (kept <= (whole ? SHORT_OCTETS.within : SHORT_OCTETS.between)) copyShort(sourceView, frame.offset, target, { at: end, length: kept });
    else if (whole) whole.copyWithin(target.byteOffset + end, sourceView.byteOffset + frame.offset, sourceView.byteOffset + frame.offset + kept);
    else into.set(frame.bytes.subarray(frame.offset, frame.offset + kept), end);
    end += (kept + 3) & ~3;
    if (hasFlags) {
      target.setUint16(end, OPTION_FLAGS, little);
      target.setUint16(end + 2, 4, little);
      target.setUint32(end + 4, frame.isOutgoing ? OUTBOUND : INBOUND, little);
      end += FLAGS_OCTETS;
      if (!extra) target.setUint32(end, 0, little);
    }
    if (extra) into.set(extra, end);
    target.setUint32(at + octets - TRAILER_OCTETS, octets, little);
    return at + octets;
  }

  private encoded(facts: PacketFacts): Uint8Array {
    return encodeOptions(optionsOf(facts, this.order), this.order);
  }

  private look(into: Uint8Array, source: Uint8Array): void {
    this.memory = into;
    this.source = source;
    this.view = new DataView(into.buffer, into.byteOffset, into.length);
    this.sourceView = new DataView(source.buffer, source.byteOffset, source.length);
    this.whole = into.buffer === source.buffer ? new Uint8Array(into.buffer) : null;
  }
}

function blockOctets(kept: number, options: number): number {
  return HEAD_OCTETS + ((kept + 3) & ~3) + options + TRAILER_OCTETS;
}

/** Writes nanoseconds since the epoch as two halves of 32 bits: exact, and without a BigInt. */
export class TimeStampWriter {
  private seconds = -1;
  /** What the second comes to, which is the same for all of its frames: the upper half, and the lower one. */
  private readonly halves = new Float64Array(2);

  put(view: DataView, at: number, time: CaptureTime, little: boolean): void {
    if (time.seconds !== this.seconds) this.begin(time.seconds);
    const low = (this.halves[1] as number) + time.nanoseconds;
    view.setUint32(at, (this.halves[0] as number) + (low >= TWO_TO_32 ? 1 : 0), little);
    view.setUint32(at + 4, low, little);
  }

  private begin(seconds: number): void {
    const front = Math.floor(seconds / TWO_TO_16);
    const high = front * 1e9;
    const highest = Math.floor(high / TWO_TO_16);
    const low = (high - highest * TWO_TO_16) * TWO_TO_16 + (seconds - front * TWO_TO_16) * 1e9;
    this.seconds = seconds;
    this.halves[0] = highest + Math.floor(low / TWO_TO_32);
    this.halves[1] = low % TWO_TO_32;
  }
}

/** Four octets at a time: a view for each short frame would cost more than the copy. */
function copyShort(from: DataView, offset: number, into: DataView, to: { readonly at: number; readonly length: number }): void {
  const words = to.length & ~3;
  for (let index = 0; index < words; index += 4) into.setUint32(to.at + index, from.getUint32(offset + index));
  for (let index = words; index < to.length; index += 1) into.setUint8(to.at + index, from.getUint8(offset + index));
}

function optionsOf({ comment, missing }: PacketFacts, order: ByteOrder): readonly PcapngOption[] {
  const options: PcapngOption[] = [];
  if (comment !== undefined) options.push(textOption(OPTION_COMMENT, comment));
  if (missing !== undefined) options.push(countOption(OPTION_DROP_COUNT, missing, order));
  return options;
}
