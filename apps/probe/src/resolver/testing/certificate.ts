import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { ExtendedKeyUsage, ExtendedKeyUsageExtension, PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509";

const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate of its own authority, for a name and 127.0.0.1. */
export async function makeCertificate(name: string): Promise<{ readonly certificate: string; readonly key: string }> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: "01", name: `CN=${name}`, keys, signingAlgorithm: EC, notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + 86_400_000),
    extensions: [
      new SubjectAlternativeNameExtension([{ type: "dns", value: name }, { type: "ip", value: "127.0.0.1" }]),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    ],
  });
  return { certificate: made.toString("pem"), key: PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY") };
}
