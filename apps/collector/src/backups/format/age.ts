import { ReadableStream } from "node:stream/web";
import { CollectorError } from "../../errors.ts";
import type { AgeIdentities, AgeRecipients } from "./age-keys.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Files that only the holder of a key can read, in the format of `age`. The library is loaded where a file is sealed or opened, which the
 * daemon itself never does: it costs 17 MB and 0.2 s.
 * @see https://age-encryption.org/v1
 */

/** A head of ours has some hundred bytes for each recipient; more is nobody's. */
const MAX_HEAD_BYTES = 65_536;

type Bytes = AsyncIterable<Uint8Array>;

/** What opens a file: keys or a passphrase, or the file's own key where it is known. */
export type Opener = { readonly identities: AgeIdentities } | { readonly fileKey: Uint8Array };

/** Seals one file. */
export interface Seal {
  /** @returns The file, in pieces of about 64 KiB. */
  encrypt(plain: Bytes): AsyncGenerator<Uint8Array>;
  /** What opens the file without a private key, once it was encrypted. */
  opener(): Opener;
}

/** @param recipients For whom the file is sealed; without any, nobody can open it but `opener`. */
export function createSeal(recipients: AgeRecipients): Seal {
  let fileKey: Uint8Array | undefined;
  return {
    async *encrypt(plain) {
      const { Encrypter } = await import("age-encryption");
      const encrypter = new Encrypter();
      if ("passphrase" in recipients) encrypter.setPassphrase(recipients.passphrase);
      else {
        for (const recipient of recipients) encrypter.addRecipient(recipient);
        // Adds nothing to the file, and notes its key: a backup is read back where no private key is.
        encrypter.addRecipient({
          wrapFileKey(key) {
            fileKey = Uint8Array.from(key);
            return [];
          },
        });
      }
      yield* await encrypter.encrypt(ReadableStream.from(plain));
    },
    opener() {
      if ("passphrase" in recipients) return { identities: recipients };
      if (fileKey === undefined) throw new Error("nothing was encrypted yet");
      return { fileKey };
    },
  };
}

/**
 * What was encrypted, piece by piece as it is checked: that nothing is missing is only known when it has ended without a throw.
 * @throws CollectorError `backup-unreadable` for what was changed, moved or cut off; `backup-key-unusable` for another's file.
 */
export async function* decryptAge(sealed: Bytes, opener: Opener): AsyncGenerator<Uint8Array> {
  const decrypter = await createDecrypter(opener);
  const source = { fault: undefined as unknown };
  try {
    yield* await decrypter.decrypt(ReadableStream.from(boundHead(noteFault(sealed, source))));
  } catch (error) {
    if (error instanceof CollectorError || error === source.fault) throw error;
    throw unreadable("it is not an age file, or it was changed or truncated", error);
  }
}

async function createDecrypter(opener: Opener) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  if ("fileKey" in opener) decrypter.addIdentity({ unwrapFileKey: () => opener.fileKey });
  else if ("passphrase" in opener.identities) decrypter.addPassphrase(opener.identities.passphrase);
  else for (const identity of opener.identities) decrypter.addIdentity(identity);
  // The library asks one after the other: who asks this one has found no key that fits.
  decrypter.addIdentity({
    unwrapFileKey() {
      throw new CollectorError("backup-key-unusable", "the backup is encrypted to another key");
    },
  });
  return decrypter;
}

/** Hands a file on once its head has ended: the library would read a head of any length. */
async function* boundHead(sealed: Bytes): AsyncGenerator<Uint8Array> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of sealed) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const macAt = head.indexOf("\n---");
    const end = macAt === -1 ? -1 : head.indexOf("\n", macAt + 1);
    if (end > MAX_HEAD_BYTES || (end === -1 && head.length > MAX_HEAD_BYTES)) throw unreadable("its header is too long");
    if (end === -1) continue;
    yield head;
    head = null;
  }
  if (head !== null) yield head;
}

/** Keeps what reading a file has thrown apart from what the library says of its content. */
async function* noteFault(bytes: Bytes, source: { fault: unknown }): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    source.fault = error;
    throw error;
  }
}
