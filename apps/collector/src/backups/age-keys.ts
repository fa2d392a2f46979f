import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { CollectorError } from "../errors.ts";
import { decodeBech32, encodeBech32 } from "./bech32.ts";

const RECIPIENT_PREFIX = "age";
const IDENTITY_PREFIX = "age-secret-key-";

/** What stands before the 32 bytes of an X25519 private key in DER. @see RFC 8410 section 7 */
const PKCS8_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");

/** One half of an X25519 key pair, ready for use, and its public half as bytes. */
export interface AgeKey {
  readonly key: KeyObject;
  readonly publicBytes: Uint8Array;
}

/** A public key, `age1…`. @returns Null for what is none. */
export function parseRecipient(text: string): AgeKey | null {
  const publicBytes = decodeBech32(RECIPIENT_PREFIX, text.trim());
  return publicBytes?.length === 32 ? { key: publicKey(publicBytes), publicBytes } : null;
}

/** @throws CollectorError `backup-key-unusable` naming what is no public key. */
export function parseRecipients(texts: readonly string[]): readonly AgeKey[] {
  return texts.map((text) => {
    const key = parseRecipient(text);
    if (!key) throw new CollectorError("backup-key-unusable", `${text} is no public key: age1…`);
    return key;
  });
}

/** A private key, `AGE-SECRET-KEY-1…`. @returns Null for what is none. */
function parseIdentity(text: string): AgeKey | null {
  const bytes = decodeBech32(IDENTITY_PREFIX, text.trim());
  if (bytes?.length !== 32) return null;
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: "der", type: "pkcs8" });
  return { key, publicBytes: rawPublic(key) };
}

/**
 * The private keys in a text as `age-keygen` writes it: one a line, lines that begin with `#` and empty ones do not count.
 * @throws CollectorError `backup-key-unusable` where a line is no key, or there is none.
 */
export function parseIdentities(text: string): readonly AgeKey[] {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  const keys = lines.map(parseIdentity);
  if (keys.length === 0 || keys.includes(null)) {
    throw new CollectorError(
      "backup-key-unusable", "the key is none: AGE-SECRET-KEY-1…, as lanthorn-collector backups key or age-keygen makes it",
    );
  }
  return keys.filter((key) => key !== null);
}

/** A new pair: the public key for the configuration, the private one for a place away from the collector. */
export function generateIdentity(): { readonly recipient: string; readonly identity: string } {
  const { privateKey } = generateKeyPairSync("x25519");
  const bytes = Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url");
  return {
    recipient: encodeBech32(RECIPIENT_PREFIX, rawPublic(privateKey)), identity: encodeBech32(IDENTITY_PREFIX, bytes).toUpperCase(),
  };
}

export function publicKey(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x: Buffer.from(bytes).toString("base64url") }, format: "jwk" });
}

export function rawPublic(key: KeyObject): Uint8Array {
  const { x } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url");
}
