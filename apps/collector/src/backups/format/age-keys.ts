import { bech32 } from "@scure/base";
import { CollectorError } from "../../errors.ts";

/**
 * Keys as age spells them: Bech32 of an X25519 key's 32 bytes.
 * @see https://age-encryption.org/v1
 * @see BIP-0173
 */

const RECIPIENT_PREFIX = "age";
const IDENTITY_PREFIX = "age-secret-key-";
const KEY_BYTES = 32;
/** Who has the file tries passphrases as fast as his machines do. Ten random letters and digits take him too long. */
const MIN_PASSPHRASE_LENGTH = 10;

/** Opens what was sealed with it. A file has either one passphrase or public keys. */
export interface Passphrase {
  readonly passphrase: string;
}

/** For whom a file is sealed: public keys, `age1…`, that were checked, or a passphrase. */
export type AgeRecipients = readonly string[] | Passphrase;

/** What opens a file: private keys, `AGE-SECRET-KEY-1…`, that were checked, or a passphrase. */
export type AgeIdentities = readonly string[] | Passphrase;

/** Whether a text is a public key, `age1…`, with its checksum. */
export function isRecipient(text: string): boolean {
  return text === text.toLowerCase() && isKey(text, RECIPIENT_PREFIX);
}

/** @returns The public keys, without blanks around them. @throws CollectorError `backup-key-unusable` that names what is no public key. */
export function parseRecipients(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const key = text.trim();
    if (!isRecipient(key)) throw new CollectorError("backup-key-unusable", `${text} is not a public key (age1…)`);
    return key;
  });
}

/**
 * The private keys in a text as `age-keygen` writes it: one a line, lines that begin with `#` and empty ones do not count.
 * @throws CollectorError `backup-key-unusable` where a line is no key, or there is none.
 */
export function parseIdentities(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length === 0 || lines.some((line) => line !== line.toUpperCase() || !isKey(line, IDENTITY_PREFIX))) {
    throw new CollectorError(
      "backup-key-unusable", "not a private key: expected AGE-SECRET-KEY-1…, from lanthorn-collector backups key or age-keygen",
    );
  }
  return lines;
}

/**
 * @param text A passphrase, with or without a line end behind it.
 * @throws CollectorError `backup-key-unusable` for one that is shorter than 10 characters or has more than one line.
 */
export function parsePassphrase(text: string): Passphrase {
  const passphrase = text.replace(/\r?\n$/, "");
  if (passphrase.length >= MIN_PASSPHRASE_LENGTH && !passphrase.includes("\n")) return { passphrase };
  throw new CollectorError("backup-key-unusable", `the passphrase must be one line of at least ${MIN_PASSPHRASE_LENGTH} characters`);
}

/** Makes a pair: the public key for the configuration, the private one for a place away from the collector. */
export async function generateIdentity(): Promise<{ readonly recipient: string; readonly identity: string }> {
  const { generateX25519Identity, identityToRecipient } = await import("age-encryption");
  const identity = await generateX25519Identity();
  return { recipient: await identityToRecipient(identity), identity };
}

function isKey(text: string, prefix: string): boolean {
  const decoded = bech32.decodeUnsafe(text);
  if (decoded?.prefix.toLowerCase() !== prefix) return false;
  return bech32.fromWordsUnsafe(decoded.words)?.length === KEY_BYTES;
}
