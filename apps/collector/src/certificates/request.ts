import { createPublicKey, type KeyObject } from "node:crypto";
import { x509 } from "./x509.ts";

/** One block and nothing around it. "NEW" is what some older tools write. @see RFC 7468 section 7 */
const PEM_REQUEST = /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** P-256 and P-384, as OpenSSL calls them. */
const SOUND_CURVES: ReadonlySet<string> = new Set(["prime256v1", "secp384r1"]);

/** Beyond this, a verification alone takes long enough to be worth an attacker's while. */
const RSA_BITS = { min: 2048, max: 8192 } as const;

/**
 * Reads a PKCS #10 signing request in PEM and checks that whoever made it has the private key (its signature) and that
 * the key is a sound one: EC P-256 or P-384, Ed25519, RSA of 2048 to 8192 bits.
 * @returns The public key; or `ok: false` and what is wrong, in words. Never rejects, whatever the text.
 * @see RFC 2986
 */
export async function parseCertificateRequest(
  pem: string,
): Promise<{ readonly ok: true; readonly publicKey: x509.PublicKey } | { readonly ok: false; readonly message: string }> {
  try {
    const der = PEM_REQUEST.exec(pem)?.[1];
    if (der === undefined) return refuse("it is not one certificate request in PEM");
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(der, "base64"));
    const weakness = weaknessOf(createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: "der", type: "spki" }));
    if (weakness !== null) return refuse(weakness);
    if (!(await request.verify())) return refuse("its signature does not match its key");
    return { ok: true, publicKey: request.publicKey };
  } catch {
    // The library throws of many kinds on bytes that are no request; to the sender they are all one.
    return refuse("it cannot be read");
  }
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

function weaknessOf(key: KeyObject): string | null {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === "ed25519") return null;
  if (key.asymmetricKeyType === "ec") return SOUND_CURVES.has(details?.namedCurve ?? "") ? null : "its curve must be P-256 or P-384";
  if (key.asymmetricKeyType !== "rsa") return "its key must be EC P-256, EC P-384, Ed25519 or RSA";
  const bits = details?.modulusLength ?? 0;
  if (bits < RSA_BITS.min || bits > RSA_BITS.max) return `its RSA key must have ${RSA_BITS.min} to ${RSA_BITS.max} bits`;
  return (details?.publicExponent ?? 0n) < 65_537n ? "its RSA exponent is too small" : null;
}
