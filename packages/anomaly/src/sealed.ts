/** What is saved: bytes of their own for each thing, with version and checksum, so that one that is damaged costs no other. */
import { hashBytes } from "./fnv.ts";

/** One thing that is saved: a device, a group, a pair of hosts. */
export interface SavedEntry {
  readonly kind: string;
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Goes up whenever the bytes or the meaning of a number change: state of another version is learned anew. */
const VERSION = 2;
const HEADER_BYTES = 8;

type Table = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** Bytes of tables, one behind the other, with version and checksum. */
export function seal(tables: readonly Table[]): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + tables.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = HEADER_BYTES;
  for (const { buffer, byteOffset, byteLength } of tables) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  const view = new DataView(bytes.buffer);
  view.setUint32(0, VERSION, true);
  view.setUint32(4, hashBytes(bytes.subarray(HEADER_BYTES)), true);
  return bytes;
}

/** Reads what was sealed. */
export interface SealedReader {
  /** A copy of the next `length` numbers; `null` where there are fewer. */
  readonly take: <T extends Table>(kind: new (buffer: ArrayBuffer) => T, length: number) => T | null;
  readonly isAtEnd: () => boolean;
}

/** Whether bytes are whole, and were sealed by another version of ours. */
export function isOfOtherVersion(bytes: Uint8Array): boolean {
  const version = versionOf(bytes);
  return version !== null && version !== VERSION;
}

/** @returns `null` for bytes that are damaged. */
function versionOf(bytes: Uint8Array): number | null {
  if (bytes.length < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(4, true) === hashBytes(bytes.subarray(HEADER_BYTES)) ? view.getUint32(0, true) : null;
}

/** @returns `null` for bytes that are damaged or of another version. */
export function openSealed(bytes: Uint8Array): SealedReader | null {
  if (versionOf(bytes) !== VERSION) return null;
  let offset = HEADER_BYTES;
  return {
    take(kind, length) {
      const end = offset + length * (kind as unknown as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
      if (!Number.isInteger(length) || length < 0 || end > bytes.length) return null;
      const part = new kind(Uint8Array.from(bytes.subarray(offset, end)).buffer);
      offset = end;
      return part;
    },
    isAtEnd: () => offset === bytes.length,
  };
}
