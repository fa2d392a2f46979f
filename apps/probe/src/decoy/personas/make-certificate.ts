import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";

/** PEM. */
export interface DecoyCertificate {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
/** A device that signs for itself does it when it is set up, for ten years. */
const YEARS = 10;
const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };

/** @returns One that signs for itself, set up some weeks or months before `nowMs`, each on a day of its own. */
export async function makeCertificate(hostname: string, nowMs: number): Promise<DecoyCertificate> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const sinceMs = nowMs - (20 + (randomBytes(1)[0] ?? 0)) * DAY_MS;
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(8).toString("hex")}`, name: `CN=${hostname}`, keys, signingAlgorithm: ALGORITHM, notBefore: new Date(sinceMs), notAfter: new Date(sinceMs + YEARS * 365 * DAY_MS),
  });
  return { certificate: made.toString("pem"), key: PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY") };
}
