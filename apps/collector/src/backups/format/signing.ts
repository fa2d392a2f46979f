import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readTextFile } from "@lanthorn/runtime";
import { CollectorError } from "../../errors.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Who made a backup: an Ed25519 signature over its manifest, which holds the digest of every other part. Encryption alone says nothing of
 * that: whoever has the public key of the recipient can make a file that opens.
 * @see RFC 8032
 */

/** Behind the manifest, in the archive. */
export const SIGNATURE_NAME = "manifest.sig";
/** The private key, in the data directory or, of several collectors, in the database. */
export const SIGNING_KEY_NAME = "backup-signing.pem";
/** The public key, in the data directory, for a restore on this machine. */
export const SIGNER_FILE = "backup-signer.pub";

const SIGNER_PREFIX = "ed25519:";
const RAW_KEY_BYTES = 32;
/** Nothing else that this key might ever sign begins so. */
const CONTEXT = Buffer.from("lanthorn backup manifest 2\n");

/** The largest signature file that is read. */
export const MAX_SIGNATURE_BYTES = 1024;
const Signature = z.object({ signer: z.string(), signature: z.base64() });

/** What signs the backups of a deployment. */
export interface BackupSigner {
  /** `ed25519:` and the public key in Base64url. */
  readonly publicKey: string;
  /** The content of `manifest.sig`. */
  sign(manifest: Uint8Array): Uint8Array;
}

/** Which backups are taken. */
export type Trust =
  /** Those that the holder of this key has signed; null refuses all. */
  | { readonly signer: string | null }
  /** All of them: the operator knows where the file comes from. */
  | "unsigned";

/** A new private key, PKCS #8 in PEM. */
export function generateSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

/** @param pem An Ed25519 private key. @throws CollectorError `backup-key-unusable` for what is none. */
export function createSigner(pem: string): BackupSigner {
  const key = readPrivateKey(pem);
  const publicKey = `${SIGNER_PREFIX}${createPublicKey(key).export({ format: "jwk" }).x ?? ""}`;
  return {
    publicKey,
    sign: (manifest) => Buffer.from(`${JSON.stringify({
      signer: publicKey, signature: sign(null, Buffer.concat([CONTEXT, manifest]), key).toString("base64"),
    })}\n`),
  };
}

/** Whether a text is a signer's public key, as `backups signer` shows it. */
export function isSigner(text: string): boolean {
  return text.startsWith(SIGNER_PREFIX) && Buffer.from(text.slice(SIGNER_PREFIX.length), "base64url").length === RAW_KEY_BYTES;
}

/**
 * Checks who signed a manifest, before anything else of the backup is looked at.
 * @param signature The content of `manifest.sig`; null where the backup has none.
 * @throws CollectorError `backup-untrusted` without a signature, and for another's; `backup-unreadable` for what was changed after it was
 * signed.
 */
export function checkSignature(manifest: Uint8Array, signature: Uint8Array | null, trust: Trust): void {
  if (trust === "unsigned") return;
  if (signature === null) {
    throw untrusted("it is not signed, like those of older versions. Use --unsigned only if you know where it comes from");
  }
  const { signer, bytes } = parseSignature(signature);
  if (trust.signer === null) {
    throw untrusted("no trusted signer is known: give --signer with the key that `backups signer` showed");
  }
  if (signer !== trust.signer) {
    throw untrusted(`it was signed by ${signer.slice(0, 100)}, not by ${trust.signer}: give --signer only with a key that you trust`);
  }
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: signer.slice(SIGNER_PREFIX.length) }, format: "jwk" });
  if (!verify(null, Buffer.concat([CONTEXT, manifest]), key, bytes)) throw unreadable("its manifest was changed after it was signed");
}

/** Leaves the public key in the data directory, for commands beside the daemon. */
export function publishSigner(dataDir: string, { publicKey }: Pick<BackupSigner, "publicKey">): void {
  if (readSigner(dataDir) !== publicKey) writeFileSync(join(dataDir, SIGNER_FILE), `${publicKey}\n`, { mode: 0o644 });
}

/** This deployment's own public key; null before the first start. */
export function readSigner(dataDir: string): string | null {
  return existsSync(dataDir) ? (readTextFile(join(dataDir, SIGNER_FILE))?.trim() ?? null) : null;
}

function parseSignature(content: Uint8Array): { readonly signer: string; readonly bytes: Uint8Array } {
  try {
    const { signer, signature } = Signature.parse(JSON.parse(Buffer.from(content).toString("utf8")));
    if (!isSigner(signer)) throw new Error("its signer is not a public key");
    return { signer, bytes: Buffer.from(signature, "base64") };
  } catch (error) {
    throw unreadable("its signature is not valid", error);
  }
}

function readPrivateKey(pem: string) {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (cause) {
    throw new CollectorError("backup-key-unusable", `${SIGNING_KEY_NAME} is not a private key`, { cause });
  }
  throw new CollectorError("backup-key-unusable", `${SIGNING_KEY_NAME} is not an Ed25519 key`);
}

function untrusted(reason: string): CollectorError {
  return new CollectorError("backup-untrusted", `the backup is refused: ${reason}`);
}
