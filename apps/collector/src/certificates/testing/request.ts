import { webcrypto } from "node:crypto";
import { x509 } from "../x509.ts";

/** Keys that a test's probe may have. */
const KEY_KINDS = {
  "P-256": { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  "P-384": { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  "P-521": { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  Ed25519: { name: "Ed25519" },
  "RSA-2048": { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
  "RSA-1024": { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
} as const;

/** A new key (PKCS #8 PEM) and a signing request for it (PEM), as a probe makes them. For tests. */
export async function createRequest(
  options: { readonly kind?: keyof typeof KEY_KINDS; readonly name?: string } = {},
): Promise<{ readonly key: string; readonly request: string }> {
  const algorithm = KEY_KINDS[options.kind ?? "P-256"];
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [options.name ?? "somebody else"] }],
    keys,
    signingAlgorithm: algorithm,
  });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { key: `${key}\n`, request: request.toString("pem") };
}
