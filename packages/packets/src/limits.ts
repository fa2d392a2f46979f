import { type Malformed, truncated } from "./decoded.ts";
import { PacketsError } from "./errors.ts";
import type { Reader } from "./reader.ts";

/**
 * Lets `reader` see the next `length` bytes only. When fewer are there it is malformed, unless something is known to have cut
 * them (the capture's snap length, fragmentation): then all that is left counts.
 */
export function limitTo(reader: Reader, length: number, layer: string, mayBeCut: boolean): Malformed | null {
  if (length <= reader.remaining) {
    reader.limit(length);
    return null;
  }
  return mayBeCut ? null : truncated(layer, reader.end);
}

/** @throws PacketsError unless `value` is an integer from `least` to `most`. */
export function requireRange(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new PacketsError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
}

/** @throws PacketsError unless `bytes` has exactly `length` bytes. */
export function requireLength(name: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) throw new PacketsError(`${name} must have ${length} bytes, not ${bytes.length}`);
}
