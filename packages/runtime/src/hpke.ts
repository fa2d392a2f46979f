/**
 * Hybrid public key encryption of single messages, in base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. Who has the public key alone can
 * seal, and open nothing, not even what it sealed itself.
 * @see RFC 9180 sections 4, 5.1 and 6.1
 */
import { createCipheriv, createDecipheriv, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";

const [KEY_BYTES, TAG_BYTES, AES_KEY_BYTES, NONCE_BYTES] = [32, 16, 16, 12];
/** X25519 keys in DER, up to their own bytes. @see RFC 8410 section 7 */
const [PRIVATE_DER, PUBLIC_DER] = [Buffer.from("302e020100300506032b656e04220420", "hex"), Buffer.from("302a300506032b656e032100", "hex")];
/** @see RFC 9180 sections 7.1, 7.2 and 7.3 */
const KEM_ID = 0x0020;
const KEM_SUITE = Buffer.concat([Buffer.from("KEM"), twoBytes(KEM_ID)]);
const SUITE = Buffer.concat([Buffer.from("HPKE"), twoBytes(KEM_ID), twoBytes(0x0001), twoBytes(0x0001)]);
const MODE_BASE = Buffer.from([0]);
const NONE = Buffer.alloc(0);

/** What both sides must name: what is sealed for (`info`), and what it belongs to (`aad`). */
export interface HpkeContext {
  readonly info: string;
  readonly aad: string;
}

/** @param privateKey 32 bytes, any. @returns Its public key, 32 bytes. */
export function hpkePublicKey(privateKey: Uint8Array): Buffer {
  return rawPublicKey(createPublicKey(toPrivate(privateKey)));
}

/**
 * @param publicKey Of the recipient, 32 bytes. @param ephemeral A private key that is used once; another for each message, if left out.
 * @returns The encapsulated key, the ciphertext and its tag; null where the public key is none.
 */
export function hpkeSeal(publicKey: Uint8Array, message: Uint8Array, { info, aad }: HpkeContext, ephemeral?: Uint8Array): Buffer | null {
  const own = ephemeral === undefined ? generateKeyPairSync("x25519").privateKey : toPrivate(ephemeral);
  const encapsulated = rawPublicKey(createPublicKey(own));
  const secret = agree(own, publicKey, encapsulated, publicKey);
  if (secret === null) return null;
  const [key, nonce] = schedule(secret, info);
  const cipher = createCipheriv("aes-128-gcm", key, nonce).setAAD(Buffer.from(aad));
  return Buffer.concat([encapsulated, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

/** @returns The message; null for what was sealed for another key or context, or is not whole. */
export function hpkeOpen(privateKey: Uint8Array, sealed: Uint8Array, { info, aad }: HpkeContext): Buffer | null {
  if (sealed.length < KEY_BYTES + TAG_BYTES) return null;
  const encapsulated = sealed.subarray(0, KEY_BYTES);
  const secret = agree(toPrivate(privateKey), encapsulated, encapsulated, hpkePublicKey(privateKey));
  if (secret === null) return null;
  const [key, nonce] = schedule(secret, info);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(aad)).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(KEY_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

/** Encap and Decap. @returns Null where there is nothing to agree on with the key. @see RFC 9180 sections 4.1 and 7.1.4 */
function agree(own: KeyObject, other: Uint8Array, encapsulated: Uint8Array, recipient: Uint8Array): Buffer | null {
  if (other.length !== KEY_BYTES) return null;
  try {
    const shared = diffieHellman({ privateKey: own, publicKey: createPublicKey({ key: Buffer.concat([PUBLIC_DER, other]), format: "der", type: "spki" }) });
    const prk = labeledExtract(KEM_SUITE, NONE, "eae_prk", shared);
    return labeledExpand(KEM_SUITE, prk, "shared_secret", Buffer.concat([encapsulated, recipient]), KEY_BYTES);
  } catch {
    return null;
  }
}

/** The key and the nonce of the first message, which is the only one. @see RFC 9180 section 5.1 */
function schedule(secret: Buffer, info: string): readonly [Buffer, Buffer] {
  const context = Buffer.concat([MODE_BASE, labeledExtract(SUITE, NONE, "psk_id_hash", NONE), labeledExtract(SUITE, NONE, "info_hash", Buffer.from(info))]);
  const prk = labeledExtract(SUITE, secret, "secret", NONE);
  return [labeledExpand(SUITE, prk, "key", context, AES_KEY_BYTES), labeledExpand(SUITE, prk, "base_nonce", context, NONCE_BYTES)];
}

function labeledExtract(suite: Buffer, salt: Buffer, label: string, keyMaterial: Buffer): Buffer {
  return createHmac("sha256", salt).update("HPKE-v1").update(suite).update(label).update(keyMaterial).digest();
}

/** Of at most one block, which is all that is needed here. */
function labeledExpand(suite: Buffer, prk: Buffer, label: string, info: Buffer, length: number): Buffer {
  return createHmac("sha256", prk).update(twoBytes(length)).update("HPKE-v1").update(suite).update(label).update(info).update(Buffer.from([1])).digest().subarray(0, length);
}

function twoBytes(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function toPrivate(key: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_DER, key]), format: "der", type: "pkcs8" });
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
}
