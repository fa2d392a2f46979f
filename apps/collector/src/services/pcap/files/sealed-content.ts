import { createCipheriv, createDecipheriv } from "node:crypto";
import { CollectorError } from "../../../errors.ts";

/** Whose content it is, and how long: both are bound to every chunk. */
export interface Content {
  readonly id: string;
  /** Bytes of the plain content. */
  readonly size: number;
}

/** Bytes of the plain content from `from` on, before `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Reads encrypted bytes from a position on; fewer at the end. */
export type ReadAt = (position: number, length: number) => Promise<Uint8Array>;

/** Of plain content in each chunk but the last. */
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;

/** Bytes of a key. */
export const CONTENT_KEY_BYTES = 32;

/** How long content of this size is when it is encrypted. */
export function sealedSize(size: number): number {
  return size + Math.ceil(size / CHUNK_BYTES) * TAG_BYTES;
}

/**
 * Encrypts content with AES-256-GCM in chunks of 64 KiB. A chunk's number is its nonce; the id, the size and the number are authenticated
 * with it. So a range can be read by itself, and a chunk that was changed, swapped, taken from another file or cut off does not open.
 * @param key 32 bytes, made for this one content: a second one under it would repeat nonces.
 * @throws CollectorError `capture-damaged` where the content has another size than was said.
 * @see NIST SP 800-38D section 8.2.1
 */
export async function* sealContent(key: Uint8Array, content: Content, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Buffer = Buffer.alloc(0);
  let [index, taken] = [0, 0];
  const seal = (chunk: Uint8Array) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(index)).setAAD(boundTo(content, index));
    index += 1;
    taken += chunk.length;
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  };
  for await (const piece of plain) {
    waiting = waiting.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : Buffer.concat([waiting, piece]);
    let at = 0;
    for (; waiting.length - at >= CHUNK_BYTES; at += CHUNK_BYTES) yield seal(waiting.subarray(at, at + CHUNK_BYTES));
    // What is left is copied: the piece's memory is whoever gave it.
    waiting = Buffer.from(waiting.subarray(at));
  }
  if (waiting.length > 0) yield seal(waiting);
  if (taken !== content.size) throw damaged(content, `it has ${taken} bytes, not ${content.size}`);
}

/**
 * Decrypts a range, chunk by chunk.
 * @param range Within the content.
 * @throws CollectorError `capture-damaged` at the first chunk that is not as it was written.
 */
export async function* openContent(key: Uint8Array, content: Content, readAt: ReadAt, { from, to }: ByteRange): AsyncGenerator<Buffer> {
  for (let index = Math.floor(from / CHUNK_BYTES); index * CHUNK_BYTES < to; index += 1) {
    const begin = index * CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, content.size - begin);
    const sealed = await readAt(index * (CHUNK_BYTES + TAG_BYTES), length + TAG_BYTES);
    if (sealed.length !== length + TAG_BYTES) throw damaged(content, `chunk ${index} is cut`);
    const chunk = openChunk(key, content, index, sealed);
    yield chunk.subarray(Math.max(0, from - begin), Math.min(length, to - begin));
  }
}

function openChunk(key: Uint8Array, content: Content, index: number, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(index)).setAAD(boundTo(content, index));
  try {
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw damaged(content, `chunk ${index} is not as it was written`, cause);
  }
}

function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(index), 4);
  return nonce;
}

function boundTo({ id, size }: Content, index: number): Buffer {
  return Buffer.from(`lanthorn capture 1 ${id} ${size} ${index}`);
}

function damaged({ id }: Content, what: string, cause?: unknown): CollectorError {
  return new CollectorError("capture-damaged", `the file of the capture ${id} is damaged: ${what}`, cause === undefined ? {} : { cause });
}
