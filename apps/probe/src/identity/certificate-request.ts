// The library asks for Reflect metadata before it is loaded.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A new key, PKCS #8 in PEM, and a signing request for it. The name in the request is for people; the collector gives its own. */
export async function createKeyAndRequest(name: string): Promise<{ readonly privateKey: string; readonly certificateRequest: string }> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name.slice(0, 64)] }], keys, signingAlgorithm: ALGORITHM,
  });
  const privateKey = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { privateKey: `${privateKey}\n`, certificateRequest: `${request.toString("pem")}\n` };
}
