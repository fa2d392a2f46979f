import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { join } from "node:path";
import { readTextFile, writeSecretFile } from "../certificates/key-file.ts";
import { CollectorError } from "../errors.ts";

/** Keeps secrets unreadable for whoever has the database and not the key. */
export interface Sealing {
  /** @param owner What the secret belongs to: it opens only under the same text, so that no row's secret serves another. */
  seal(secret: string, owner: string): string;
  /** @throws CollectorError `secret-unreadable` for what was changed, belongs to another, or was sealed with another key. */
  open(sealed: string, owner: string): string;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM, each secret with a nonce of its own.
 * @param key 32 bytes.
 * @see NIST SP 800-38D section 8.2.2: random 96-bit nonces are safe for far more secrets than there will be.
 */
export function createSealing(key: Uint8Array): Sealing {
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `v1.${sealed.toString("base64url")}`;
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed.replace(/^v1\./, ""), "base64url");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(owner));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new CollectorError(
          "secret-unreadable", `cannot open the secret of ${owner}: the sealing key is not the one it was sealed with`, { cause },
        );
      }
    },
  };
}

/**
 * The key that the configuration gives, else the one in `<dataDir>/sealing-key`, made at the first start. Collectors that share
 * a database must share the key.
 * @param given 32 bytes in Base64.
 * @throws CollectorError `config-invalid` for a key of another length.
 */
export function sealingKey(dataDir: string, given: string | undefined): Uint8Array {
  const path = join(dataDir, "sealing-key");
  if (given === undefined) writeSecretFile(path, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { replace: false });
  const key = Buffer.from((given ?? readTextFile(path) ?? "").trim(), "base64");
  if (key.length === KEY_BYTES) return key;
  throw new CollectorError("config-invalid", `${given === undefined ? path : "sealing_key"} must be ${KEY_BYTES} bytes in Base64`);
}
