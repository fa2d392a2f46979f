import { createPublicKey, type KeyObject } from "node:crypto";
import type { DeliveredCredentials } from "@lanthorn/contract";
import { GeneralEncrypt } from "jose";

/**
 * How a content key is wrapped for a probe's key. Probes make P-256 keys; those enrolled with a request of somebody's own may
 * have others. Ed25519 only signs, and nothing can be sealed to it.
 * @see RFC 7518 sections 4.3 and 4.6
 */
function wrapFor(key: KeyObject): "ECDH-ES+A256KW" | "RSA-OAEP-256" | null {
  if (key.asymmetricKeyType === "ec") return "ECDH-ES+A256KW";
  return key.asymmetricKeyType === "rsa" ? "RSA-OAEP-256" : null;
}

/**
 * Seals credentials so that only a holder of one of the probe's keys opens them.
 * @param keys SubjectPublicKeyInfo in Base64.
 * @returns A JWE in general JSON; null where nothing can be sealed to any of the keys.
 * @see RFC 7516 section 7.2.1
 */
export async function sealForProbe(delivered: DeliveredCredentials, keys: readonly string[]): Promise<string | null> {
  const jwe = new GeneralEncrypt(new TextEncoder().encode(JSON.stringify(delivered))).setProtectedHeader({ enc: "A256GCM" });
  let recipients = 0;
  for (const spki of keys) {
    const key = createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });
    const alg = wrapFor(key);
    if (alg === null) continue;
    jwe.addRecipient(key).setUnprotectedHeader({ alg });
    recipients += 1;
  }
  return recipients === 0 ? null : JSON.stringify(await jwe.encrypt());
}
