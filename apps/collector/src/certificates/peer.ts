import type { TLSSocket } from "node:tls";
import { Id } from "@lanthorn/contract";

/** What a verified client certificate says. */
export interface PeerIdentity {
  readonly probeId: string;
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
  return id.success ? { probeId: id.data, expiresAt: Date.parse(certificate.valid_to) } : null;
}
