import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { Id } from "@lanthorn/contract";

/** What a verified client certificate says. */
export interface PeerIdentity {
  readonly probeId: string;
  /** Of the certificate, as `publicKeyOf` has it. */
  readonly publicKey: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * The probe at the other end of a TLS connection.
 * @returns Null without a client certificate, with one that our authority did not sign (`authorized`), or whose name is no
 * identity of ours. An identity with `+`, `#` or `/` in it could reach into other probes' topics and is therefore none.
 */
export function peerIdentity(socket: TLSSocket): PeerIdentity | null {
  if (!socket.authorized) return null;
  const certificate = socket.getPeerCertificate();
  // Several common names arrive as a list, and no certificate as an empty object.
  const name: unknown = (certificate as { subject?: { CN?: unknown } }).subject?.CN;
  const id = Id.safeParse(name);
  const x509 = socket.getPeerX509Certificate();
  return id.success && x509 ? { probeId: id.data, publicKey: spkiOf(x509), expiresAt: Date.parse(certificate.valid_to) } : null;
}

/** @param pem A certificate, with or without others after it. @returns Its key, SubjectPublicKeyInfo in Base64. */
export function publicKeyOf(pem: string): string {
  return spkiOf(new X509Certificate(pem));
}

function spkiOf({ publicKey }: X509Certificate): string {
  return publicKey.export({ format: "der", type: "spki" }).toString("base64");
}
