/** How the interfaces of a pcapng file count time. @see draft-ietf-opsawg-pcapng 4.2 */
import { type ByteOrder, readU16, readU32 } from "./capture-file-order.ts";
import { Reader } from "../reader.ts";

/** The interface option that says how fine its time stamps are: if_tsresol. */
export const OPTION_TIME_RESOLUTION = 9;
/** if_tsoffset: seconds to be added to each time stamp. */
const OPTION_TIME_OFFSET = 14;
const DEFAULT_TIME_RESOLUTION = 6;

/** Seconds since the epoch, and nanoseconds to be added: see `CaptureRecord`. */
export interface CaptureTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** Turns the two halves of a pcapng time stamp into a time. */
export type TimeStampReader = (high: number, low: number) => CaptureTime;

/**
 * Reads the options of an interface description block that concern time.
 * @param reader Stands at the first option, and ends where the options end.
 * @returns How the interface counts time, or null where an option runs past the block.
 * @see draft-ietf-opsawg-pcapng 4.2
 */
export function readTimeOptions(reader: Reader, order: ByteOrder): TimeStampReader | null {
  let resolution = DEFAULT_TIME_RESOLUTION;
  let offsetSeconds = 0n;
  while (reader.remaining >= 4) {
    const code = readU16(reader, order);
    const length = readU16(reader, order);
    if (code === 0) break;
    const value = new Reader(reader.take(length));
    reader.skip(Math.min(-length & 3, reader.remaining));
    if (reader.failed) return null;
    if (code === OPTION_TIME_RESOLUTION && length === 1) resolution = value.u8();
    if (code === OPTION_TIME_OFFSET && length === 8) {
      const halves = [BigInt(readU32(value, order)), BigInt(readU32(value, order))] as const;
      offsetSeconds = BigInt.asIntN(64, order === "big" ? (halves[0] << 32n) | halves[1] : (halves[1] << 32n) | halves[0]);
    }
  }
  return timeStampReader(resolution, offsetSeconds);
}

const HALF = 0x1_0000;

/**
 * @param resolution The if_tsresol option: ticks of 10^-n s, or 2^-n s with the top bit set; 6 where there is none.
 * @param offsetSeconds The if_tsoffset option, to be added.
 * @returns Times rounded down to nanoseconds.
 * @see draft-ietf-opsawg-pcapng 4.2 (if_tsresol, if_tsoffset)
 */
function timeStampReader(resolution: number, offsetSeconds: bigint): TimeStampReader {
  const exponent = resolution & 0x7f;
  const isPowerOfTwo = (resolution & 0x80) !== 0;
  if (!isPowerOfTwo && exponent <= 9) return decimalReader(10 ** exponent, Number(offsetSeconds));
  const ticksPerSecond = (isPowerOfTwo ? 2n : 10n) ** BigInt(exponent);
  return (high, low) => {
    const ticks = (BigInt(high) << 32n) | BigInt(low);
    const nanoseconds = ((ticks % ticksPerSecond) * 1_000_000_000n) / ticksPerSecond;
    return { seconds: Number(ticks / ticksPerSecond + offsetSeconds), nanoseconds: Number(nanoseconds) };
  };
}

/** Long division in steps of 16 bits: with a divisor of at most 10^9 each stays below 2^53, and no BigInt is made for a frame. */
function decimalReader(ticksPerSecond: number, offsetSeconds: number): TimeStampReader {
  const nanosecondsPerTick = 1e9 / ticksPerSecond;
  return (high, low) => {
    const middle = (high % ticksPerSecond) * HALF + (low >>> 16);
    const last = (middle % ticksPerSecond) * HALF + (low & 0xffff);
    const seconds =
      Math.floor(high / ticksPerSecond) * HALF * HALF + Math.floor(middle / ticksPerSecond) * HALF + Math.floor(last / ticksPerSecond);
    return { seconds: seconds + offsetSeconds, nanoseconds: (last % ticksPerSecond) * nanosecondsPerTick };
  };
}
