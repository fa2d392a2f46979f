import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { FILE_KEY_BYTES, LONGEST_HEAD, openHead, writeHead } from "./age-header.ts";
import type { AgeKey } from "./age-keys.ts";
import { createByteSource } from "./byte-source.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Files that only the holder of a private key can read, as `age` writes them: ChaCha20-Poly1305 over pieces of 64 KiB, each
 * with its number and whether it is the last, so that none can be changed, moved, left out or cut off unnoticed.
 * @see https://age-encryption.org/v1
 */

const PIECE_BYTES = 65_536;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;

type Bytes = AsyncIterable<Uint8Array>;

/** A file's key, before there is a file. */
export function createFileKey(): Uint8Array {
  return randomBytes(FILE_KEY_BYTES);
}

/** @param fileKey Of this file only. @returns The file, in pieces of about 64 KiB. */
export async function* encryptAge(plain: Bytes, fileKey: Uint8Array, recipients: readonly AgeKey[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writeHead(fileKey, recipients));
  const nonce = randomBytes(NONCE_BYTES);
  yield nonce;
  const key = payloadKey(fileKey, nonce);
  const source = createByteSource(plain);
  let piece = await source.upTo(PIECE_BYTES);
  for (let number = 0; ; number += 1) {
    const next = await source.upTo(PIECE_BYTES);
    const isLast = next.length === 0;
    const cipher = createCipheriv("chacha20-poly1305", key, pieceNonce(number, isLast), { authTagLength: TAG_BYTES });
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    if (isLast) return;
    piece = next;
  }
}

/**
 * What was encrypted, piece by piece as it is checked: that nothing is missing is only known when it has ended without a throw.
 * @param opener Private keys, or the file's own key where it is known.
 * @throws CollectorError `backup-unreadable` for what was changed, moved or cut off; `backup-key-unusable` for another's file.
 */
export async function* decryptAge(
  sealed: Bytes, opener: { readonly identities: readonly AgeKey[] } | { readonly fileKey: Uint8Array },
): AsyncGenerator<Uint8Array> {
  const source = createByteSource(sealed);
  const head = await readHead(source);
  const fileKey = "fileKey" in opener ? opener.fileKey : openHead(head, opener.identities);
  const key = payloadKey(fileKey, await source.exactly(NONCE_BYTES));
  let piece = await source.upTo(PIECE_BYTES + TAG_BYTES);
  for (let number = 0; ; number += 1) {
    const next = await source.upTo(PIECE_BYTES + TAG_BYTES);
    const isLast = next.length === 0;
    const plain = open(piece, key, pieceNonce(number, isLast));
    // An empty last piece says nothing, and so would be a second spelling of the same file.
    if (plain === null || (plain.length === 0 && number > 0)) throw unreadable(`it was changed or cut off at piece ${number}`);
    yield plain;
    if (isLast) return;
    piece = next;
  }
}

async function readHead(source: ReturnType<typeof createByteSource>): Promise<string> {
  const lines: string[] = [];
  for (let length = 0; length <= LONGEST_HEAD; ) {
    const line = await source.line(LONGEST_HEAD);
    if (line === null) break;
    lines.push(line);
    length += line.length + 1;
    if (line.startsWith("---")) return `${lines.join("\n")}\n`;
  }
  throw unreadable("its head is not whole");
}

/** @returns Null for what was changed. */
function open(piece: Uint8Array, key: Uint8Array, nonce: Uint8Array): Uint8Array | null {
  if (piece.length < TAG_BYTES) return null;
  const decipher = createDecipheriv("chacha20-poly1305", key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(piece.subarray(piece.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(piece.subarray(0, piece.length - TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Uint8Array {
  return Buffer.from(hkdfSync("sha256", fileKey, nonce, "payload", 32));
}

/** Eleven bytes of the piece's number, and one that says whether it is the last. */
function pieceNonce(number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
