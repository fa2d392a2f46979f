import { createCipheriv, randomBytes } from "node:crypto";
import { isUnreadable, type Sealing } from "../../sealing/sealing.ts";

/** Bytes at the beginning of a file: what it is, and the sealed key of what follows. */
export const HEADER_BYTES = 128;
const MARK = "LANTHORN1 ";
const KEY_BYTES = 32;
const BLOCK_BYTES = 16;

/** Encrypts or decrypts bytes of a file that begin at `offset`. */
export type Crypt = (offset: number, bytes: Uint8Array) => Buffer;

/** @returns The header of a new file and what encrypts it, under a key of its own. @param owner What the header belongs to. */
export function newHeader(sealing: Sealing, owner: string): { readonly header: Buffer; readonly crypt: Crypt } {
  const key = randomBytes(KEY_BYTES);
  return { header: headerOf(sealing.seal(key.toString("base64"), owner)), crypt: cryptWith(key) };
}

/** Whether a file begins as `newHeader` begins it; those of older versions do not, and are plain. */
export function hasHeader(header: Uint8Array): boolean {
  return header.length === HEADER_BYTES && Buffer.from(header).toString("latin1").startsWith(MARK);
}

/** @returns What decrypts the file; null where its key is sealed with a key that is not here any more. */
export function openHeader(sealing: Sealing, owner: string, header: Uint8Array): Crypt | null {
  try {
    return cryptWith(Buffer.from(sealing.open(sealedOf(header), owner), "base64"));
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

/** @returns The header sealed with the key that seals now; null where it is already, or cannot be opened. */
export function resealHeader(sealing: Sealing, owner: string, header: Uint8Array): Buffer | null {
  const sealed = sealedOf(header);
  if (sealing.isCurrent(sealed, owner)) return null;
  try {
    return headerOf(sealing.seal(sealing.open(sealed, owner), owner));
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

function headerOf(sealed: string): Buffer {
  return Buffer.from(`${MARK}${sealed}`.padEnd(HEADER_BYTES - 1).concat("\n"), "latin1");
}

function sealedOf(header: Uint8Array): string {
  return Buffer.from(header).toString("latin1").slice(MARK.length).trim();
}

/**
 * AES-256-CTR with the file's own key, so that a piece can be written wherever the last one ended. What is written in the place of a piece that
 * was not kept is the same piece again. That a byte was changed on the disk is found by the file's SHA-256.
 * @see NIST SP 800-38A section 6.5
 */
function cryptWith(key: Uint8Array): Crypt {
  return (offset, bytes) => {
    const counter = Buffer.alloc(BLOCK_BYTES);
    counter.writeBigUInt64BE(BigInt(Math.floor(offset / BLOCK_BYTES)), 8);
    const cipher = createCipheriv("aes-256-ctr", key, counter);
    cipher.update(Buffer.alloc(offset % BLOCK_BYTES));
    return cipher.update(bytes);
  };
}
