import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../atomic-file.ts";

/** PEM. */
export interface DecoyCertificate {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
/** A device that signs for itself does it when it is set up, for ten years. */
const YEARS = 10;

/** The decoy's own certificate, made at its first start and the same ever since: what changes at each start is no device. */
export async function decoyCertificate(dataDir: string, hostname: string, nowMs: number): Promise<DecoyCertificate> {
  const file = join(dataDir, `certificate-${hostname.toLowerCase()}.pem`);
  if (!existsSync(file)) {
    const { certificate, key } = await makeCertificate(hostname, nowMs);
    writeFileAtomically(file, `${key}\n${certificate}\n`, { mode: 0o600, durable: true });
  }
  const text = readFileSync(file, "utf8");
  return { certificate: text, key: text };
}

/** Loaded only where one has to be made: it would cost 15 MB otherwise. */
async function makeCertificate(hostname: string, nowMs: number): Promise<DecoyCertificate> {
  await import("reflect-metadata");
  const [{ PemConverter, X509CertificateGenerator }, { randomBytes, webcrypto }] = await Promise.all([import("@peculiar/x509"), import("node:crypto")]);
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  // Set up some weeks ago, each decoy on a day of its own.
  const sinceMs = nowMs - (20 + (randomBytes(1)[0] ?? 0)) * DAY_MS;
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(8).toString("hex")}`, name: `CN=${hostname}`, keys, signingAlgorithm: algorithm, notBefore: new Date(sinceMs), notAfter: new Date(sinceMs + YEARS * 365 * DAY_MS),
  });
  return { certificate: made.toString("pem"), key: PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY") };
}
