import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type HpkeContext, hpkeOpen, hpkePublicKey } from "@lanthorn/runtime";
import { CollectorError } from "../errors.ts";
import type { Keyring } from "./keyring.ts";

/** Keeps secrets unreadable for whoever has the database and not the key. */
export interface Sealing {
  /** @param owner What the secret belongs to: it opens only under the same text, so that no row's secret serves another. */
  seal(secret: string, owner: string): string;
  /** @throws CollectorError `secret-unreadable` for what was changed, belongs to another, or was sealed with another key. */
  open(sealed: string, owner: string): string;
  /** Whether it opens with the key that seals now, so that it need not be sealed anew after a rotation. */
  isCurrent(sealed: string, owner: string): boolean;
  /** For whom others seal what only this deployment is to open: an X25519 key in Base64, another after a rotation. */
  publicKey(): string;
  /** Opens what was sealed by HPKE for `publicKey`, the one before a rotation too. @param sealed In Base64. @returns Null for what is not. */
  openSent(sealed: string, context: HpkeContext): string | null;
}

/** Whether an error of `open` says that the key is not here, or that what was sealed is not whole. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof CollectorError && error.code === "secret-unreadable";
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The private key for what others seal: of each sealing key its own. @see RFC 7748 section 5: any 32 bytes are one. */
function privateKeyOf(key: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", "lanthorn x25519", 32));
}

/**
 * AES-256-GCM, each secret with a nonce of its own.
 * @param keyring Read at each call, so that a rotated key counts at once: the first key seals, and every one opens.
 * @see NIST SP 800-38D section 8.2.2: random 96-bit nonces are safe for far more secrets than there will be.
 */
export function createSealing(keyring: Keyring): Sealing {
  const openWith = (key: Uint8Array, sealed: string, owner: string): string => {
    const bytes = Buffer.from(sealed.replace(/^v1\./, ""), "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(owner));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
  };
  return {
    seal(secret, owner) {
      const [key] = keyring();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `v1.${sealed.toString("base64url")}`;
    },
    open(sealed, owner) {
      let cause: unknown;
      for (const key of keyring()) {
        try {
          return openWith(key, sealed, owner);
        } catch (error) {
          cause = error;
        }
      }
      throw new CollectorError(
        "secret-unreadable", `cannot decrypt the secret of ${owner}: it was encrypted with another sealing key`, { cause },
      );
    },
    isCurrent(sealed, owner) {
      try {
        openWith(keyring()[0], sealed, owner);
        return true;
      } catch {
        return false;
      }
    },
    publicKey: () => hpkePublicKey(privateKeyOf(keyring()[0])).toString("base64"),
    openSent(sealed, context) {
      const bytes = Buffer.from(sealed, "base64");
      for (const key of keyring()) {
        const opened = hpkeOpen(privateKeyOf(key), bytes, context);
        if (opened) return opened.toString("utf8");
      }
      return null;
    },
  };
}
