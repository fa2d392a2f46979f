import { createHash, randomBytes } from "node:crypto";
import { CollectorError } from "../../../errors.ts";
import { ownerOfCapture } from "../../../sealing/sealed-columns.ts";
import type { Sealing } from "../../../sealing/sealing.ts";
import type { CaptureStore, Draft } from "./capture-store.ts";
import { type ByteRange, type Content, CONTENT_KEY_BYTES, openContent, sealContent, sealedSize } from "./sealed-content.ts";

/** The contents of captures, encrypted: each under a key of its own, which the sealing key seals. */
export interface SealedFiles {
  /**
   * Writes a draft, which is to be kept with the row that has its key: under another key it is lost.
   * @returns The content's key, sealed, and the SHA-256 of the plain content.
   * @throws CollectorError `capture-damaged` for another size.
   */
  put(content: Content, plain: AsyncIterable<Uint8Array>): Promise<{ readonly keySealed: string; readonly sha256: string; readonly draft: Draft }>;
  /**
   * A range, decrypted while it is read; null where the file is gone or not whole.
   * @throws CollectorError `secret-unreadable` where its key was sealed with another sealing key; `capture-damaged` from the iteration.
   */
  open(content: Content, keySealed: string, range: ByteRange): Promise<AsyncGenerator<Uint8Array> | null>;
}

/** @param deps.store Gets what is encrypted. */
export function createSealedFiles({ store, sealing }: { readonly store: CaptureStore; readonly sealing: Sealing }): SealedFiles {
  return {
    async put(content, plain) {
      const key = randomBytes(CONTENT_KEY_BYTES);
      const hash = createHash("sha256");
      const draft = await store.put(content.id, sealContent(key, content, hashed(plain, hash)));
      return { keySealed: sealing.seal(key.toString("base64"), ownerOfCapture(content.id)), sha256: hash.digest("hex"), draft };
    },
    async open(content, keySealed, range) {
      const key = Buffer.from(sealing.open(keySealed, ownerOfCapture(content.id)), "base64");
      if ((await store.size(content.id)) !== sealedSize(content.size)) return null;
      return readSealed(store, key, content, range);
    },
  };
}

async function* hashed(plain: AsyncIterable<Uint8Array>, hash: { update(bytes: Uint8Array): unknown }): AsyncGenerator<Uint8Array> {
  for await (const piece of plain) {
    hash.update(piece);
    yield piece;
  }
}

/** Opens the file with the first piece that is asked for: who never begins to read leaves nothing open. */
async function* readSealed(store: CaptureStore, key: Uint8Array, content: Content, range: ByteRange): AsyncGenerator<Uint8Array> {
  const file = await store.open(content.id);
  if (!file) throw new CollectorError("capture-damaged", `the file of the capture ${content.id} is gone`);
  try {
    yield* openContent(key, content, (position, length) => file.read(position, length), range);
  } finally {
    await file.close();
  }
}
